#!/usr/bin/env bash
# cmake --install to a folder of its own: everything is there, the program runs from there, and no file names the folder it was
# built in.
#
#     tests/package/install_prefix.sh build/release
set -euo pipefail
build=$(realpath "${1:?give the build folder}")
source_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
[ -e "$build/manual/done" ] || { echo "skipped: manual pages are not built (target manual)"; exit 77; }
work=$(mktemp -d /tmp/semicrf-install-XXXXXX)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/usr" --strip >"$work/log"
cd "$work/usr"
for file in bin/semicrf share/man/man1/semicrf.1 share/man/man1/semicrf-decode.1 share/bash-completion/completions/semicrf \
            share/zsh/site-functions/_semicrf share/fish/vendor_completions.d/semicrf.fish share/semicrf/params.schema.json \
            share/doc/semicrf/LICENSE share/doc/semicrf/README.md share/doc/semicrf/docs/users/formats.md share/doc/semicrf/examples/codon_fwd0.bw; do
  [ -s "$file" ] || { echo "FAIL: no $file"; exit 1; }
done
version=$(sed -n 's/^project(semicrf VERSION \([0-9.]*\).*/\1/p' "$source_root/CMakeLists.txt")
[ "$(bin/semicrf --version | head -n 1)" = "semicrf $version" ] || { echo "FAIL: the version is not $version"; exit 1; }
grep -q "semicrf $version" share/man/man1/semicrf.1
examples=share/doc/semicrf/examples
bin/semicrf decode -q -p $examples/demo.params.json -o "$work/segments.bed" $examples/codon_*.bw
grep -q 'CDS+0' "$work/segments.bed"
for page in share/man/man1/*; do
  command=$(basename "$page" .1)
  grep -q "^\.TH ${command^^}" <(sed 's/\\-/-/g' "$page") || { echo "FAIL: $page"; exit 1; }
done
# A program with debugging information or sanitizers names its sources; a released one does not.
if ! nm -D bin/semicrf | grep -q __asan && grep -rlF -e "$source_root" .; then
  echo "FAIL: these files name the folder of the sources"
  exit 1
fi
# The links of the pages lead to files that are installed beside them.
find share/doc/semicrf -name '*.md' | while read -r page; do
  { grep -o '](\([^)#:]*\)[)#]' "$page" || true; } | tr -d '](#)' | while read -r target; do
    [ -z "$target" ] || [ -e "$(dirname "$page")/$target" ] || echo "FAIL: $page links $target"
  done
done >"$work/dead"
if [ -s "$work/dead" ]; then
  cat "$work/dead"
  exit 1
fi
echo "1 passed, 0 failed"
