#!/usr/bin/env bash
# check_hip.sh [ARCHITECTURE...]: compiles every GPU kernel for AMD, which needs no GPU, with warnings as errors, and looks
# at what came out: matrix instructions where products are, and nothing spilled. Nothing of it is run.
# Default: gfx90a gfx942 gfx950. Exit code 77 when the compiler of one was not to be had and all else is right.
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/hip/compilers.sh
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# Files that multiply matrices. expert_scaled_gpu is only for chips with the instruction that it is named after.
wants_matrix_instructions() {  # file, architecture
  case $1 in
    dense_matmul_gpu | dense_few_gpu | expert_matmul_gpu | expert_few_gpu | expert_fused_gpu | attention_tiles_gpu) true ;;
    expert_scaled_gpu) [ "$2" = gfx950 ] ;;
    *) false ;;
  esac
}

# What is wrong with the code of a file, a line each.
faults_of() {  # file, architecture, assembly, matrix instructions, spills
  [ "$(sed -n 's/.*\.amdgcn_target.*--\(gfx[0-9a-f]*\).*/\1/p' "$3")" = "$2" ] || echo "this is code for another chip"
  if wants_matrix_instructions "$1" "$2"; then
    [ "$4" -gt 0 ] || echo "a product without matrix instructions"
  fi
  [ "$1" != expert_scaled_gpu ] || [ "$4" -eq "$(grep -c 'v_mfma_scale' "$3")" ] || echo "matrix instructions without scales"
  ! grep -q -E 'v_mfma_scale.* s[0-9]' "$3" || echo "a scale in a scalar register, where the instruction reads none"
  [ "$5" -eq 0 ] || echo "registers are spilled"
}

check() {  # architecture, source
  local name assembly mfma spilled parked faults
  name=$(basename "$2" .hip)
  assembly=$out/$1.$name.s
  compile "$1" "$2" "$assembly" || { echo "$name $1: does not compile" >&2; return 1; }
  mfma=$(grep -c 'v_mfma' "$assembly" || true)
  spilled=$(awk '/sgpr_spill_count:/ {n += $2} /private_segment_fixed_size:/ {n += $2} END {print n + 0}' "$assembly")
  # Where no memory is used for it (above), vector registers that were spilled lie in those for accumulation.
  parked=$(awk '/vgpr_spill_count:/ {n += $2} END {print n + 0}' "$assembly")
  printf '%-28s %s: %4d matrix instructions, %d spilled registers' "$name" "$1" "$mfma" "$spilled"
  [ "$parked" -eq 0 ] && echo || echo ", $parked kept in accumulation registers"
  faults=$(faults_of "$name" "$1" "$assembly" "$mfma" "$spilled" | sed "s/^/$name $1: /")
  [ -z "$faults" ] || { echo "$faults" >&2; return 1; }
}

if [ "${1:-}" = --check ]; then  # one file, for the line with xargs below
  check "$2" "$3"
  exit
fi

architectures=("$@")
[ $# -gt 0 ] || architectures=(gfx90a gfx942 gfx950)
failed=0 unchecked=0 checked=0
for architecture in "${architectures[@]}"; do
  if why=$(prepare "$architecture"); then
    checked=$((checked + 1))
    git ls-files 'kernels/*.hip' | xargs -P "${JOBS:-$(nproc)}" -n 1 "$0" --check "$architecture" || failed=1
  else
    echo "not checked: $architecture: $why" >&2
    unchecked=1
  fi
done
[ $failed -eq 0 ] || exit 1
[ $checked -gt 0 ] || { echo "nothing was checked" >&2; exit 1; }
[ $unchecked -eq 0 ] || exit 77
