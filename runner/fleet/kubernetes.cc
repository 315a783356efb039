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
  const Json job = {
      {"apiVersion", "batch/v1"},
      {"kind", "Job"},
      {"metadata", Metadata(pipeline, "report")},
      {"spec", {{"backoffLimit", 0}, {"template", Pod(pipeline, "report", "report.sh", "report", 0, 30)}}}};
  return ListOf({ConfigMap(pipeline, "report", data), job});
}

std::string SubmitScript(const Pipeline& pipeline, const std::vector<CellGroup>& groups) {
  std::vector<std::string> names;
  for (const CellGroup& group : groups) names.push_back(group.name);
  return fmt::format(
      "#!/bin/bash\n"
      "# usage: bash submit.sh [RUN]\n"
      "# Creates the jobs, waits for them however they end, then the report; exits with the fleet's exit "
      "code.\n"
      "# RUN names the run and its folder on the volume: letters, digits and dashes.\n"
      "set -euo pipefail\n"
      "fleet=$(cd \"$(dirname \"$0\")\" && pwd)\n"
      "run=${{1:-run-$(date -u +%Y%m%d-%H%M%S)}}\n"
      "groups=({groups})\n"
      "apply() {{ sed \"s/{run}/$run/g\" \"$fleet/$1.json\" | kubectl apply -f - >&2; }}\n"
      "ended() {{\n"
      "  kubectl -n {ns} get job \"$1\" -o 'jsonpath={{.status.conditions[*].type}}' | grep -qwE "
      "'Complete|Failed'\n"
      "}}\n"
      "for group in \"${{groups[@]}}\"; do apply \"$group\"; done\n"
      "for group in \"${{groups[@]}}\"; do\n"
      "  until ended \"{name}-$group-$run\"; do sleep 10; done\n"
      "done\n"
      "apply report\n"
      "until ended \"{name}-report-$run\"; do sleep 2; done\n"
      "kubectl -n {ns} logs \"job/{name}-report-$run\"\n"
      "exit \"$(kubectl -n {ns} get pods -l \"job-name={name}-report-$run\" -o "
      "'jsonpath={{.items[0].status.containerStatuses[0].state.terminated.exitCode}}')\"\n",
      fmt::arg("groups", ShellJoin(names)), fmt::arg("run", kRun), fmt::arg("name", pipeline.name),
      fmt::arg("ns", pipeline.kubernetes.name_space));
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
