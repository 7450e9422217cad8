#!/bin/sh
# Installs MariaDB for the tests that need a real one, where the system is Debian; elsewhere tells how to get it.
#
# Tests start servers of their own on ports of their own; one that the package may start is not used. The script may be
# run again at any time.
# Exit codes: 0 MariaDB is there; 1 the installation failed; 3 it has to be installed by hand.
set -eu

# Debian keeps servers where only root looks for programs.
PATH=$PATH:/usr/sbin:/usr/local/sbin

by_hand() {
  echo "install-mariadb: $1" >&2
  echo 'install-mariadb: get the MariaDB server (10.6 or later) and put mariadbd and mariadb-install-db on the PATH' >&2
  exit 3
}

if command -v mariadbd >/dev/null 2>&1 && command -v mariadb-install-db >/dev/null 2>&1; then
  exit 0
fi

[ -r /etc/os-release ] || by_hand 'this is not Debian'
# shellcheck source=/dev/null
. /etc/os-release
[ "${ID:-}" = debian ] || by_hand "this is ${ID:-an unknown system}, not Debian"
command -v apt-get >/dev/null 2>&1 || by_hand 'there is no apt-get'
[ "$(id -u)" = 0 ] || by_hand 'only root can install packages'

if ! { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends mariadb-server; }; then
  echo 'install-mariadb: apt-get could not install mariadb-server' >&2
  exit 1
fi
