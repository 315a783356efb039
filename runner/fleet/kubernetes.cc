#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "runner/fleet/pipeline.h"

// Indexed jobs, one a kind of machine: pod i measures line i of the cells.tsv that its ConfigMap brings.
// Results go to a volume that all of them share. A cluster has no job that runs after others, so submit.sh
// waits. https://kubernetes.io/docs/concepts/workloads/controllers/job/ (backoffLimitPerIndex: 1.29 and
// later)
namespace assay::runner {
namespace {

using Json = nlohmann::ordered_json;

// An object has at most 1 MiB. A line of cells.tsv has a key of 64 characters and a path.
constexpr size_t kBytesATable = 900'000;
constexpr size_t kCellsAJob = 1000;
constexpr int kReportMinutes = 30;
constexpr char kRun[] = "run-unnamed";  // submit.sh puts the name of its run there

std::string GpuResource(const std::string& hardware) {
  return StartsWith(hardware, "gfx") ? "amd.com/gpu" : "nvidia.com/gpu";
}

Json Metadata(const Pipeline& pipeline, const std::string& name) {
  return {{"name", fmt::format("{}-{}-{}", pipeline.name, name, kRun)},
          {"namespace", pipeline.kubernetes.name_space},
          {"labels", {{"app.kubernetes.io/name", pipeline.name}, {"assay/run", kRun}}}};
}

Json NodeSelector(const std::vector<std::string>& labels) {
  Json selector = Json::object();
  for (const std::string& label : labels) {
    const size_t equals = label.find('=');
    selector[label.substr(0, equals)] = equals == std::string::npos ? "" : label.substr(equals + 1);
  }
  return selector;
}

std::string MeasureScript(const Pipeline& pipeline) {
  std::vector<std::string> lines = {
      "set -e", "key=$(sed -n \"$((JOB_COMPLETION_INDEX + 1))p\" /assay/cells.tsv | cut -f 1)",
      "[ -n \"$key\" ] || { echo \"cells.tsv has no line $((JOB_COMPLETION_INDEX + 1))\" >&2; exit 2; }"};
  lines.insert(lines.end(), pipeline.setup.begin(), pipeline.setup.end());
  for (std::string& line : MeasureLines(pipeline, "\"$key\"", "\"$POD_NAME\"", "\"/results/$ASSAY_RUN\""))
    lines.push_back(std::move(line));
  lines.emplace_back("# What was measured is judged with all other cells; 75 alone is tried once more.");
  lines.emplace_back("case \"$code\" in 0 | 1 | 3 | 4) exit 0 ;; *) exit \"$code\" ;; esac");
  return JoinLines(lines);
}

std::string ReportScript(const Pipeline& pipeline) {
  std::vector<std::string> lines = {"set -e"};
  lines.insert(lines.end(), pipeline.setup.begin(), pipeline.setup.end());
  for (std::string& line : ReportLines(pipeline, "\"/results/$ASSAY_RUN\"")) lines.push_back(std::move(line));
  lines.emplace_back("exit \"$code\"");
  return JoinLines(lines);
}

Json ConfigMap(const Pipeline& pipeline, const std::string& name, Json data) {
  return {
      {"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", Metadata(pipeline, name)}, {"data", data}};
}

// A pod that runs `script` of its ConfigMap, with the results' volume.
Json Pod(const Pipeline& pipeline, const std::string& name, const std::string& script,
         const std::string& hardware, int gpus, int minutes) {
  Json container = {
      {"name", "assay"},
      {"image", pipeline.kubernetes.image},
      {"command", {"/bin/bash", "/assay/" + script}},
      {"env",
       {{{"name", "ASSAY_RUN"}, {"value", kRun}},
        {{"name", "POD_NAME"}, {"valueFrom", {{"fieldRef", {{"fieldPath", "metadata.name"}}}}}}}},
      {"volumeMounts",
       {{{"name", "fleet"}, {"mountPath", "/assay"}},
        {{"name", "results"}, {"mountPath", "/results"}},
        {{"name", "shm"}, {"mountPath", "/dev/shm"}}}}};
  if (gpus > 0) container["resources"] = {{"limits", {{GpuResource(hardware), gpus}}}};
  Json spec = {
      {"restartPolicy", "Never"},
      {"activeDeadlineSeconds", minutes * 60},
      {"containers", Json::array({container})},
      {"volumes",
       {{{"name", "fleet"}, {"configMap", {{"name", fmt::format("{}-{}-{}", pipeline.name, name, kRun)}}}},
        {{"name", "results"}, {"persistentVolumeClaim", {{"claimName", pipeline.kubernetes.claim}}}},
        {{"name", "shm"}, {"emptyDir", {{"medium", "Memory"}}}}}}};
  // A GPU resource names the vendor and not the chip.
  std::vector<std::string> chip;
  if (gpus > 0) chip.push_back("assay/hardware=" + hardware);
  if (const Json nodes = NodeSelector(RunnerOf(pipeline, hardware, chip)); !nodes.empty())
    spec["nodeSelector"] = nodes;
  return {{"metadata", {{"labels", {{"app.kubernetes.io/name", pipeline.name}}}}}, {"spec", spec}};
}

// One rule is tried after the other. A pod that was evicted is replaced; any other end of a pod but 75 is the
// end of its cell.
Json FailurePolicy() {
  return {{"rules",
           {{{"action", "Ignore"}, {"onPodConditions", {{{"type", "DisruptionTarget"}}}}},
            {{"action", "FailIndex"},
             {"onExitCodes", {{"containerName", "assay"}, {"operator", "NotIn"}, {"values", {75}}}}}}}};
}

std::string ListOf(std::vector<Json> items) {
  return Json{{"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}}.dump(2) + "\n";
}

std::string MeasureObjects(const Pipeline& pipeline, const CellGroup& group) {
  const Json data = {{"cells.tsv", CellsTable(group.cells)}, {"measure.sh", MeasureScript(pipeline)}};
  const Json job = {{"apiVersion", "batch/v1"},
                    {"kind", "Job"},
                    {"metadata", Metadata(pipeline, group.name)},
                    {"spec",
                     {{"completionMode", "Indexed"},
                      {"completions", group.cells.size()},
                      {"parallelism", group.cells.size()},
                      {"backoffLimitPerIndex", 1},
                      {"podFailurePolicy", FailurePolicy()},
                      {"template", Pod(pipeline, group.name, "measure.sh", group.hardware, group.gpus,
                                       pipeline.timeout_minutes)}}}};
  return ListOf({ConfigMap(pipeline, group.name, data), job});
}

std::string ReportObjects(const Pipeline& pipeline) {
  const Json data = {{"report.sh", ReportScript(pipeline)}};
  const Json job = {{"apiVersion", "batch/v1"},
                    {"kind", "Job"},
                    {"metadata", Metadata(pipeline, "report")},
                    {"spec",
                     {{"backoffLimit", 0},
                      {"template", Pod(pipeline, "report", "report.sh", "report", 0, kReportMinutes)}}}};
  return ListOf({ConfigMap(pipeline, "report", data), job});
}

// Job names are host names of pods, with an index behind them: 63 characters, and 4 for "-999".
size_t LongestRun(const Pipeline& pipeline, const std::vector<std::string>& groups) {
  size_t longest = std::string_view("report").size();
  for (const std::string& group : groups) longest = std::max(longest, group.size());
  const size_t taken = pipeline.name.size() + longest + 2 + 4;
  return taken < 63 ? 63 - taken : 0;
}

// kubectl's own failures are infrastructure (75), whatever it exits with: 1 and 2 are verdicts here.
constexpr char kSubmit[] = R"bash(#!/bin/bash
# usage: bash submit.sh [RUN]
# Creates the jobs, waits for them however they end, then the report; exits with the fleet's exit code. 75 where
# kubectl or the cluster fails, 2 where there is such a run already: it would not be measured again.
# RUN names the run and its folder on the volume: up to @longest of a-z, 0-9 and -.
set -uo pipefail
fleet=$(cd "$(dirname "$0")" && pwd)
run=${1:-run-$(date -u +%Y%m%d-%H%M%S)}
groups=(@groups)
say() { echo "submit.sh: $1" >&2; }
cluster() { kubectl -n @ns --request-timeout=60s "$@"; }
end_it="kubectl -n @ns delete jobs,configmaps -l assay/run=$run"
case $run in
  '' | -* | *- | *[!a-z0-9-]*) say "RUN $run: must be of a-z, 0-9 and -, and neither begin nor end with -"; exit 2 ;;
esac
[ ${#run} -le @longest ] || { say "RUN $run: has ${#run} characters, and @longest fit into the jobs' names"; exit 2; }

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
  if said=$(sed "s/@run/$run/g" "$fleet/$1.json" | cluster create -f - 2>&1); then
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
for group in "${groups[@]}"; do wait_for "@name-$group-$run" @minutes 10 || true; done
create report
report=@name-report-$run
wait_for "$report" @report_minutes 2 || { say "there is no report"; exit 75; }
cluster logs "job/$report" || { say "the report's log cannot be read"; exit 75; }
code=$(cluster get pods -l "job-name=$report" -o 'jsonpath={.items[0].status.containerStatuses[0].state.terminated.exitCode}')
case $code in
  0 | 1 | 2 | 3 | 4 | 75 | 130) exit "$code" ;;
  *) say "the report's pod has no exit code of assay: ${code:-none}"; exit 75 ;;
esac
)bash";

// A pod's time limit begins when it has a machine; so long again may it wait for one, or for its image.
int Patience(int minutes) {
  return 2 * minutes + 10;
}

std::string SubmitScript(const Pipeline& pipeline, const std::vector<CellGroup>& groups) {
  std::vector<std::string> names;
  for (const CellGroup& group : groups) names.push_back(group.name);
  std::string text = kSubmit;
  const std::pair<const char*, std::string> words[] = {
      {"@groups", ShellJoin(names)},
      {"@run", kRun},
      {"@name", pipeline.name},
      {"@ns", pipeline.kubernetes.name_space},
      {"@longest", std::to_string(LongestRun(pipeline, names))},
      {"@minutes", std::to_string(Patience(pipeline.timeout_minutes))},
      {"@report_minutes", std::to_string(Patience(kReportMinutes))}};
  for (const auto& [word, value] : words) text = ReplaceAll(std::move(text), word, value);
  return text;
}

// Few enough cells that their table fits into an object beside the script.
size_t CellsAJob(const std::vector<FleetCell>& cells) {
  size_t longest = 1;
  for (const FleetCell& cell : cells) longest = std::max(longest, CellsTable({cell}).size());
  return std::max<size_t>(1, std::min(kCellsAJob, kBytesATable / longest));
}

}  // namespace

std::vector<EmittedFile> EmitKubernetes(const Pipeline& pipeline) {
  const std::vector<CellGroup> groups = GroupByMachine(pipeline.cells, CellsAJob(pipeline.cells));
  std::vector<EmittedFile> files;
  for (const CellGroup& group : groups)
    files.push_back({group.name + ".json", MeasureObjects(pipeline, group)});
  files.push_back({"report.json", ReportObjects(pipeline)});
  files.push_back({"submit.sh", SubmitScript(pipeline, groups)});
  return files;
}

}  // namespace assay::runner
