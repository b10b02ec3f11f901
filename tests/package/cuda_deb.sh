#!/usr/bin/env bash
# The Debian package with the CUDA engine: what it asks for, lintian, and its program on a machine without a GPU.
#
#     SEMICRF_CUDA=ON CUDAARCHS=90-virtual make package
#     tests/package/cuda_deb.sh build/release/semicrf_0.2.0-1_amd64.deb
#
# Installs nothing. The last check needs a machine without a GPU and is left out, with a message, on one that has one.
set -euo pipefail
deb=$(realpath "${1:?give the .deb}")
data=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../../data")
work=$(mktemp -d /tmp/semicrf-cuda-deb-XXXXXX)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAIL: $*"; exit 1; }

if command -v lintian >/dev/null; then
  lintian --allow-root --fail-on error "$deb"
  echo "lintian: no error"
else
  echo "lintian is not installed: the package was not checked by it"
fi
depends=$(dpkg-deb -f "$deb" Depends)
echo "Depends: $depends"
[[ $depends == *libhts* ]] || fail "no libraries among the dependencies"
[[ $depends =~ cuda|cudart|nvidia ]] && fail "the package asks for CUDA or the driver"
dpkg-deb -x "$deb" "$work"
program=$work/usr/bin/semicrf
objdump -p "$program" | grep NEEDED | grep -E 'libcuda|libcudart|libnv' && fail "the program is linked to CUDA or the driver"
# The runtime is inside: it is what looks for the driver when the program runs.
grep -q -a 'libcuda\.so' "$program" || fail "the program has no CUDA engine"
"$program" --version
decode=("$program" decode -q -p "$data/demo.params.json")
"${decode[@]}" -o "$work/cpu.bed" "$data"/codon_*.bw
grep -q $'^III\t91314\t92415\tCDS+0\t' "$work/cpu.bed" || fail "the gene of the demonstration is not found"
if compgen -G '/dev/nvidia[0-9]*' >/dev/null; then
  echo "this machine has a GPU: not tried how the program does without one"
else
  status=0
  "${decode[@]}" -x cuda -o "$work/cuda.bed" "$data"/codon_*.bw 2>"$work/said" || status=$?
  cat "$work/said"
  [ $status -eq 7 ] || fail "exit code $status without a GPU, not 7"
  [ ! -e "$work/cuda.bed" ] || fail "an output is left"
fi
echo "1 passed, 0 failed"
