#!/bin/bash
# usage: bash submit.sh [RUN]
# Creates the jobs, waits for them however they end, then the report; exits with the fleet's exit code.
# RUN names the run and its folder on the volume: letters, digits and dashes.
set -euo pipefail
fleet=$(cd "$(dirname "$0")" && pwd)
run=${1:-run-$(date -u +%Y%m%d-%H%M%S)}
groups=(cpu gfx950-8 h200-1)
apply() { sed "s/run-unnamed/$run/g" "$fleet/$1.json" | kubectl apply -f - >&2; }
ended() {
  kubectl -n default get job "$1" -o 'jsonpath={.status.conditions[*].type}' | grep -qwE 'Complete|Failed'
}
for group in "${groups[@]}"; do apply "$group"; done
for group in "${groups[@]}"; do
  until ended "assay-$group-$run"; do sleep 10; done
done
apply report
until ended "assay-report-$run"; do sleep 2; done
kubectl -n default logs "job/assay-report-$run"
exit "$(kubectl -n default get pods -l "job-name=assay-report-$run" -o 'jsonpath={.items[0].status.containerStatuses[0].state.terminated.exitCode}')"
