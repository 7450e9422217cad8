#!/bin/sh
# Installs Consul for the tests that need a real one, where the system is Debian; elsewhere tells how to get it.
#
# Debian packaged Consul up to bullseye. The script adds that suite, from wherever this machine gets Debian, with a
# priority (100) at which nothing else is ever taken from it. It may be run again at any time.
# Exit codes: 0 Consul is there; 1 the installation failed; 3 it has to be installed by hand.
set -eu

SUITE=bullseye
LIST=/etc/apt/sources.list.d/weir-$SUITE.list
PREFERENCES=/etc/apt/preferences.d/weir-$SUITE

by_hand() {
  echo "install-consul: $1" >&2
  echo 'install-consul: get Consul (1.8 or later) from HashiCorp and put its program on the PATH' >&2
  exit 3
}

# Prints the options and the URI of the machine's own Debian archive: of a deb822 stanza or of a classic line, of its
# own release and with its main component.
debian_archive() {
  for file in /etc/apt/sources.list.d/*.sources; do
    [ -f "$file" ] || continue
    awk -v release="$1" '
      function finish() {
        if (types ~ /(^| )deb( |$)/ && !disabled && (" " suites " ") ~ (" " release " ") &&
            (" " components " ") ~ / main / && uri != "" && !found) {
          print (key == "" ? "" : "[signed-by=" key "] ") uri
          found = 1
        }
        types = suites = components = uri = key = ""; disabled = 0
      }
      /^#/ { next }
      /^[ \t]*$/ { finish(); next }
      { name = tolower($1); value = $0; sub(/^[^:]*:[ \t]*/, "", value) }
      name == "types:" { types = value }
      name == "uris:" { uri = $2 }
      name == "suites:" { suites = value }
      name == "components:" { components = value }
      name == "signed-by:" { key = $2 }
      name == "enabled:" && tolower($2) == "no" { disabled = 1 }
      END { finish() }' "$file"
  done
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ -f "$file" ] && [ "$file" != "$LIST" ] || continue
    sed -n 's/#.*//; s/^[[:space:]]*deb[[:space:]][[:space:]]*//p' "$file" | awk -v release="$1" '
      {
        options = ""
        if ($1 ~ /^\[/) { options = $0; sub(/\].*/, "] ", options); sub(/^\[[^]]*\][ \t]*/, "") }
        if ($2 == release && (" " $0 " ") ~ / main /) print options $1
      }'
  done
}

if command -v consul >/dev/null 2>&1; then
  exit 0
fi

[ -r /etc/os-release ] || by_hand 'this is not Debian'
# shellcheck source=/dev/null
. /etc/os-release
[ "${ID:-}" = debian ] || by_hand "this is ${ID:-an unknown system}, not Debian"
command -v apt-get >/dev/null 2>&1 || by_hand 'there is no apt-get'
[ "$(id -u)" = 0 ] || by_hand 'only root can install packages'

archive=$(debian_archive "${VERSION_CODENAME:-}" | head -n 1)
[ -n "$archive" ] || by_hand 'no Debian archive is set up in /etc/apt'

if [ "${VERSION_CODENAME:-}" != "$SUITE" ]; then
  echo "deb $archive $SUITE main" >"$LIST"
  printf 'Package: *\nPin: release n=%s\nPin-Priority: 100\n' "$SUITE" >"$PREFERENCES"
fi

if ! { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends consul; }; then
  rm -f "$LIST" "$PREFERENCES"
  echo 'install-consul: apt-get could not install Consul; its source was taken out again' >&2
  exit 1
fi
