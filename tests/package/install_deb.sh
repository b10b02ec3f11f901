#!/usr/bin/env bash
# The Debian package on a clean Debian: lintian, installation by apt, seconds from the .deb to the first BED, its autopkgtest.
#
#     tests/package/install_deb.sh build/release/semicrf_0.2.0-1_amd64.deb
#
# Needs root, debootstrap and lintian, and the mirror of Debian that apt uses here; exits with 77 where they are missing.
# autopkgtest, where it is installed, runs the tests of tests/package/autopkgtest; else this script does.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/package/chroot.sh
source "$here/chroot.sh"
deb=$(realpath "${1:?give the .deb}")
need_chroot_tools
limit=60  # seconds

if command -v lintian >/dev/null; then
  lintian --allow-root --fail-on error "$deb"
  echo "lintian: no error"
else
  echo "lintian is not installed: the package was not checked by it"
fi

root=$(mktemp -d /tmp/semicrf-deb-XXXXXX)
trap 'remove_chroot "$root"' EXIT
make_chroot "$root"
cp "$deb" "$root/root/"
name=$(basename "$deb")
in_chroot "$root" apt-get update -q >/dev/null

begin=$(date +%s.%N)
in_chroot "$root" apt-get install -q -y --no-install-recommends "/root/$name" >"$root/root/install.log" 2>&1 \
  || { tail -n 20 "$root/root/install.log"; exit 1; }
in_chroot "$root" sh -ec 'cd /root
  semicrf decode -q -p /usr/share/doc/semicrf/examples/demo.params.json -o segments.bed /usr/share/doc/semicrf/examples/codon_*.bw
  grep -v "^#" segments.bed | head -n 3'
seconds=$(awk -v a="$begin" -v b="$(date +%s.%N)" 'BEGIN {printf "%.1f", b - a}')
echo "from the .deb to the first BED: $seconds s (limit $limit s)"
awk -v s="$seconds" -v l=$limit 'BEGIN {exit !(s < l)}' || { echo "too long"; exit 1; }
in_chroot "$root" semicrf --version
in_chroot "$root" dpkg --verify semicrf
# Nothing but declared dependencies is needed: every library is found, and belongs to a package that semicrf asks for.
in_chroot "$root" sh -c 'ldd /usr/bin/semicrf | grep "not found"' && { echo "a library is missing"; exit 1; }

if command -v autopkgtest >/dev/null; then
  # Exit code 2: passed, and something was skipped.
  autopkgtest -B "$deb" "$here/autopkgtest" -- chroot "$root" || [ $? -eq 2 ]
else
  in_chroot "$root" apt-get install -q -y --no-install-recommends man-db bash-completion >/dev/null 2>&1
  cp -r "$here/autopkgtest/debian/tests" "$root/root/tests"
  for test in decode manual; do
    in_chroot "$root" sh -ec "mkdir -p /tmp/$test; AUTOPKGTEST_TMP=/tmp/$test /root/tests/$test"
    echo "autopkgtest $test: passed"
  done
fi
in_chroot "$root" apt-get purge -q -y semicrf >/dev/null 2>&1
in_chroot "$root" sh -c 'find / -xdev -name "*semicrf*" -not -path "/root/*" -not -path "/tmp/*" -not -path "/proc/*" -not -path "/var/cache/man/*" | grep .' && { echo "left behind"; exit 1; }
echo "1 passed, 0 failed"
