#!/bin/bash
# usage: bash submit.sh [RESULTS [SBATCH-FLAG...]]
# Submits the arrays and the report that waits for all of them. Run it where assay finds its configs; flags
# are for the report job: with --wait the exit code is the fleet's.
set -euo pipefail
fleet=$(cd "$(dirname "$0")" && pwd)
results=${1:-out/fleet-$(date -u +%Y%m%d-%H%M%S)}
[ $# -eq 0 ] || shift
mkdir -p "$results"
results=$(cd "$results" && pwd)
jobs=
job=$(sbatch --parsable --output="$results/%x-%A_%a.log" "$fleet/cpu.sbatch" "$fleet" "$results")
jobs+=:${job%%;*}
job=$(sbatch --parsable --output="$results/%x-%A_%a.log" "$fleet/gfx950-8.sbatch" "$fleet" "$results")
jobs+=:${job%%;*}
job=$(sbatch --parsable --output="$results/%x-%A_%a.log" "$fleet/h200-1.sbatch" "$fleet" "$results")
jobs+=:${job%%;*}
echo "results $results"
echo "arrays  ${jobs#:}"
# afterany: a cell that failed, or whose node was lost, still gets its line in the report.
sbatch --parsable --dependency="afterany$jobs" --kill-on-invalid-dep=no --output="$results/%x-%j.log" "$@" "$fleet/report.sbatch" "$fleet" "$results"
