#!/usr/bin/env bash
# The archive for other distributions: which versions of glibc and of the C++ library it asks for, and a run on a clean Debian
# without the libraries of semicrf.
#
#     tests/package/portable.sh build/portable/semicrf-0.2.0-linux-x86_64.tar.xz
#
# Needs objdump; the run needs root and debootstrap, and is left out, with a line that says so, where they are missing.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
archive=$(realpath "${1:?give the archive}")
work=$(mktemp -d /tmp/semicrf-portable-XXXXXX)
trap 'rm -rf "$work"' EXIT
tar -C "$work" -xf "$archive"
folder=$(echo "$work"/semicrf-*)
[ -x "$folder/bin/semicrf" ] || { echo "the archive has no folder semicrf-*"; exit 1; }

# Those of Rocky Linux 9: glibc 2.34, and the C++ library of GCC 11.
declare -A newest=([GLIBC]=2.34 [GLIBCXX]=3.4.29 [CXXABI]=1.3.13)
failed=0
for kind in GLIBC GLIBCXX CXXABI; do
  asked=$(for file in "$folder"/bin/semicrf "$folder"/lib/*; do
            objdump -T "$file" | awk '/\*UND\*/' | grep -oP "(?<=\(|\s)${kind}_\K[0-9.]+" || true
          done | sort -Vu | tail -n 1)
  echo "$kind: up to ${asked:-none} is asked for; ${newest[$kind]} is what the oldest system has"
  [ "$(printf '%s\n' "${asked:-0}" "${newest[$kind]}" | sort -V | tail -n 1)" = "${newest[$kind]}" ] || failed=1
done
[ $failed -eq 0 ] || { echo "too new"; exit 1; }

# Every library is in lib/, or one of those that all systems have.
for file in "$folder"/bin/semicrf "$folder"/lib/*; do
  for library in $(objdump -p "$file" | awk '$1 == "NEEDED" {print $2}'); do
    case $library in
      libc.so.6 | libm.so.6 | libstdc++.so.6 | libgcc_s.so.1 | ld-linux-*) ;;
      *) [ -e "$folder/lib/$library" ] || { echo "$file needs $library, which is not in lib/"; exit 1; } ;;
    esac
  done
done

# shellcheck source=tests/package/chroot.sh
source "$here/chroot.sh"
(need_chroot_tools) || { echo "not run in a chroot"; exit 77; }
need_chroot_tools
root=$work/root
trap 'remove_chroot "$root"; rm -rf "$work"' EXIT
make_chroot "$root"
mkdir "$root/cluster"
cp -r "$folder" "$root/cluster/semicrf"
in_chroot "$root" sh -ec 'cd /cluster
  ls /usr/lib/*/libhts* /usr/lib/*/libhwy* 2>/dev/null && exit 1
  examples=/cluster/semicrf/share/doc/semicrf/examples
  semicrf/bin/semicrf --version
  semicrf/bin/semicrf decode -q -p $examples/demo.params.json -o segments.bed.gz --write-index --posterior boundaries.bedgraph.gz $examples/codon_*.bw
  semicrf/bin/semicrf train -q -b 3 --max-iterations 5 --labels $examples/genes.bed -o model.json $examples/codon_*.bw
  zcat segments.bed.gz | grep "CDS+0" | head -n 1
  cat /etc/debian_version'
echo "1 passed, 0 failed"
