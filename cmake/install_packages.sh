#!/bin/sh
# Makes sure that the Debian packages named in apt-packages.txt, and in further lists that the arguments name, are
# installed; installs only the missing ones.
# Needs root or sudo only when something is missing.
set -eu
root="$(dirname "$0")/.."

missing=""
for package in $(cd "$root" && sed 's/#.*//' apt-packages.txt "$@"); do
  state="$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)"
  [ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null 2>&1; then
  echo "apt-get was not found; install these packages first (names may differ on your system):$missing" >&2
  exit 1
fi
if [ "$(id -u)" -eq 0 ]; then
  as_root=""
elif command -v sudo >/dev/null 2>&1; then
  as_root="sudo"
else
  echo "neither root nor sudo; ask an administrator to run: apt-get install$missing" >&2
  exit 1
fi

echo "installing Debian packages:$missing"
$as_root env DEBIAN_FRONTEND=noninteractive apt-get update -q </dev/null
# shellcheck disable=SC2086  # the list is meant to be split
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing </dev/null
