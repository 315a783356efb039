#!/bin/bash
# usage: bash submit.sh [RUN]
# Creates the jobs, waits for them however they end, then the report; exits with the fleet's exit code. 75 where
# kubectl or the cluster fails, 2 where there is such a run already: it would not be measured again.
# RUN names the run and its folder on the volume: up to 44 of a-z, 0-9 and -.
set -uo pipefail
fleet=$(cd "$(dirname "$0")" && pwd)
run=${1:-run-$(date -u +%Y%m%d-%H%M%S)}
groups=(cpu gfx950-8 h200-1)
say() { echo "submit.sh: $1" >&2; }
cluster() { kubectl -n default --request-timeout=60s "$@"; }
end_it="kubectl -n default delete jobs,configmaps -l assay/run=$run"
case $run in
  '' | -* | *- | *[!a-z0-9-]*) say "RUN $run: must be of a-z, 0-9 and -, and neither begin nor end with -"; exit 2 ;;
esac
[ ${#run} -le 44 ] || { say "RUN $run: has ${#run} characters, and 44 fit into the jobs' names"; exit 2; }

there_already() {
  say "run $run is there already and is not measured again: choose another RUN"
  exit 2
}

# What a job has come to: its conditions/pods that run, are ready, succeeded, failed. "" where it was deleted.
state() {
  cluster get job "$1" --ignore-not-found \
    -o 'jsonpath={.status.conditions[*].type}/{.status.active} {.status.ready} {.status.succeeded} {.status.failed}'
}

create() {
  local said
  if said=$(sed "s/run-unnamed/$run/g" "$fleet/$1.json" | cluster create -f - 2>&1); then
    echo "$said" >&2
    return
  fi
  echo "$said" >&2
  case $said in *AlreadyExists*) there_already ;; esac
  say "kubectl create was refused for $fleet/$1.json; what was created before goes on: $end_it"
  exit 75
}

# Until the job ends, is deleted, or for $2 minutes no pod of it began or ended and no answer came. A pod runs no
# longer than its time limit, so that then its pods wait for a machine that is not there.
wait_for() {
  local before=none now since
  since=$(date +%s)
  while [ $(($(date +%s) - since)) -lt $(($2 * 60)) ]; do
    if now=$(state "$1"); then
      case " ${now%%/*} " in *" Complete "* | *" Failed "*) return 0 ;; esac
      [ -n "$now" ] || { say "job $1 was deleted"; return 1; }
      if [ "$now" != "$before" ]; then
        before=$now
        since=$(date +%s)
      fi
    fi
    sleep "$3"
  done
  say "job $1: nothing happened for $2 minutes (conditions/active ready succeeded failed: $before); it is deleted"
  cluster delete job "$1" --ignore-not-found --wait=false >&2
  return 1
}

there=$(cluster get jobs,configmaps -l "assay/run=$run" -o name) || { say "kubectl does not answer"; exit 75; }
[ -z "$there" ] || there_already
for group in "${groups[@]}"; do create "$group"; done
# What a job that was given up has not measured is missing, which the report says.
for group in "${groups[@]}"; do wait_for "assay-$group-$run" 130 10 || true; done
create report
report=assay-report-$run
wait_for "$report" 70 2 || { say "there is no report"; exit 75; }
cluster logs "job/$report" || { say "the report's log cannot be read"; exit 75; }
code=$(cluster get pods -l "job-name=$report" -o 'jsonpath={.items[0].status.containerStatuses[0].state.terminated.exitCode}')
case $code in
  0 | 1 | 2 | 3 | 4 | 75 | 130) exit "$code" ;;
  *) say "the report's pod has no exit code of assay: ${code:-none}"; exit 75 ;;
esac
