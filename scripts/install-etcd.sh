#!/bin/sh
# Installs etcd for the tests that need a real one, where the system is Debian; elsewhere tells how to get it.
#
# Tests start servers of their own on ports of their own; one that the package may start is not used. The script may be
# run again at any time.
# Exit codes: 0 etcd is there; 1 the installation failed; 3 it has to be installed by hand.
set -eu

by_hand() {
  echo "install-etcd: $1" >&2
  echo 'install-etcd: get etcd (3.4 or later) from its releases and put its program on the PATH' >&2
  exit 3
}

if command -v etcd >/dev/null 2>&1; then
  exit 0
fi

[ -r /etc/os-release ] || by_hand 'this is not Debian'
# shellcheck source=/dev/null
. /etc/os-release
[ "${ID:-}" = debian ] || by_hand "this is ${ID:-an unknown system}, not Debian"
command -v apt-get >/dev/null 2>&1 || by_hand 'there is no apt-get'
[ "$(id -u)" = 0 ] || by_hand 'only root can install packages'

if ! { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends etcd-server; }; then
  echo 'install-etcd: apt-get could not install etcd-server' >&2
  exit 1
fi
