#!/bin/sh
# Installs Chromium for the tests of the live page, where the system is Debian; elsewhere tells how to get it.
#
# Tests start browsers of their own with empty profiles. The script may be run again at any time.
# Exit codes: 0 Chromium is there; 1 the installation failed; 3 it has to be installed by hand.
set -eu

by_hand() {
  echo "install-chromium: $1" >&2
  echo 'install-chromium: get Chromium or Google Chrome and put its program on the PATH' >&2
  exit 3
}

for name in chromium chromium-browser google-chrome; do
  if command -v "$name" >/dev/null 2>&1; then
    exit 0
  fi
done

[ -r /etc/os-release ] || by_hand 'this is not Debian'
# shellcheck source=/dev/null
. /etc/os-release
[ "${ID:-}" = debian ] || by_hand "this is ${ID:-an unknown system}, not Debian"
command -v apt-get >/dev/null 2>&1 || by_hand 'there is no apt-get'
[ "$(id -u)" = 0 ] || by_hand 'only root can install packages'

if ! { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends chromium; }; then
  echo 'install-chromium: apt-get could not install chromium' >&2
  exit 1
fi
