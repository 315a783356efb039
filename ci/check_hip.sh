#!/usr/bin/env bash
# Compiles every GPU kernel for AMD with Debian's hipcc, which needs no GPU, and looks at what came out: matrix
# instructions where products are, and no registers spilled to memory. Nothing of it is run.
#   ci/check_hip.sh [ARCHITECTURE...]    default: gfx90a
set -euo pipefail
cd "$(dirname "$0")/.."
command -v hipcc >/dev/null || { echo "hipcc is not there: apt install hipcc" >&2; exit 2; }
architectures=("${@:-gfx90a}")
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
# hipcc asks the driver for the machine's own GPU although one is named; there may be none.
hip() { hipcc -x hip -std=c++20 -O3 -Wall -Wextra -Werror -Wno-unused-command-line-argument -DASSAY_GPU_HIP=1 -I. "$@" 2> >(grep -v -E 'rocm_agent_enumerator|File "/|^ +[a-z]|Traceback|FileNotFoundError|\^' >&2); }
failed=0
for architecture in "${architectures[@]}"; do
  for source in $(git ls-files 'kernels/*.hip'); do
    name=$(basename "$source" .hip)
    hip --offload-arch="$architecture" --cuda-device-only -S "$source" -o "$out/$name.s"
    mfma=$(grep -c 'v_mfma' "$out/$name.s" || true)
    spilled=$(awk '/[sv]gpr_spill_count:/ {n += $2} END {print n + 0}' "$out/$name.s")
    printf '%-28s %s: %4d matrix instructions, %d spilled registers\n' "$name" "$architecture" "$mfma" "$spilled"
    case $name in
      dense_matmul_gpu | expert_matmul_gpu) [ "$mfma" -gt 0 ] || { echo "$name: a product without matrix instructions" >&2; failed=1; } ;;
    esac
    [ "$spilled" -eq 0 ] || { echo "$name: registers are spilled" >&2; failed=1; }
  done
done
exit $failed
