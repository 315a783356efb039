#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "runner/fleet/pipeline.h"

// Steps for `buildkite-agent pipeline upload`, one group a kind of machine. JSON is YAML, and is read as it
// is. https://buildkite.com/docs/pipelines/configure/step-types/command-step
namespace assay::runner {
namespace {

using Json = nlohmann::ordered_json;

// An upload takes 500 jobs; one of them may be the report.
constexpr size_t kCellsAnUpload = 499;

// `pipeline upload` fills in $NAME and ${NAME}; $$ is a dollar that it leaves.
std::string Literal(const std::string& text) {
  return ReplaceAll(text, "$", "$$");
}

// "queue=mi355_8" words as a map. Without any, the queue is called as the machine.
Json Agents(const std::vector<std::string>& tags) {
  Json agents = Json::object();
  for (const std::string& tag : tags) {
    const size_t equals = tag.find('=');
    agents[tag.substr(0, equals)] = Literal(equals == std::string::npos ? "" : tag.substr(equals + 1));
  }
  return agents;
}

std::string MachineQueue(const CellGroup& group) {
  return group.gpus > 0 ? fmt::format("queue={}-{}", group.hardware, group.gpus) : "queue=" + group.hardware;
}

// Artifacts are the build's, and a build may have several fleets.
std::string ResultsOf(const Pipeline& pipeline) {
  return fmt::format("{}/{}", kResultsFolder, pipeline.name);
}

Json CellStep(const Pipeline& pipeline, const CellGroup& group, const FleetCell& cell) {
  std::vector<std::string> lines = {fmt::format("rm -rf {}", kResultsFolder)};
  lines.insert(lines.end(), pipeline.setup.begin(), pipeline.setup.end());
  for (std::string& line :
       MeasureLines(pipeline, cell.key, "attempt-${BUILDKITE_RETRY_COUNT:-0}", ResultsOf(pipeline)))
    lines.push_back(std::move(line));
  lines.emplace_back("exit \"$code\"");
  // What was measured is judged once more with all other cells, so here it turns nothing red.
  const Json judged_later = {{{"exit_status", 1}}, {{"exit_status", 3}}, {{"exit_status", 4}}};
  return {{"label", cell.key},
          {"command", Literal(JoinLines(lines))},
          {"agents", Agents(RunnerOf(pipeline, cell.hardware, {MachineQueue(group)}))},
          {"timeout_in_minutes", pipeline.timeout_minutes},
          {"artifact_paths", {fmt::format("{}/**/*", ResultsOf(pipeline))}},
          {"soft_fail", judged_later},
          {"retry", {{"automatic", {{{"exit_status", 75}, {"limit", 1}}}}}}};
}

Json ReportStep(const Pipeline& pipeline, const std::vector<CellGroup>& groups) {
  std::vector<std::string> lines = {
      fmt::format("rm -rf {}", kResultsFolder),
      fmt::format("buildkite-agent artifact download '{}/**/*' . || echo 'no cell left an artifact'",
                  ResultsOf(pipeline))};
  lines.insert(lines.end(), pipeline.setup.begin(), pipeline.setup.end());
  for (std::string& line : ReportLines(pipeline, ResultsOf(pipeline))) lines.push_back(std::move(line));
  lines.emplace_back("case \"$code\" in 0) style=success ;; 3) style=warning ;; *) style=error ;; esac");
  lines.push_back(
      fmt::format("[ ! -f {0}/report/buildkite.md ] || buildkite-agent annotate --context {1} --style "
                  "\"$style\" < {0}/report/buildkite.md",
                  ResultsOf(pipeline), pipeline.name));
  lines.emplace_back("exit \"$code\"");
  Json after = Json::array();
  for (const CellGroup& group : groups)
    after.push_back({{"step", fmt::format("{}-{}", pipeline.name, group.name)}, {"allow_failure", true}});
  Json step = {{"label", pipeline.name + " report"},
               {"key", pipeline.name + "-report"},
               {"depends_on", after},
               {"command", Literal(JoinLines(lines))}};
  if (const Json agents = Agents(RunnerOf(pipeline, "report", {})); !agents.empty()) step["agents"] = agents;
  step["timeout_in_minutes"] = 30;
  step["artifact_paths"] = {fmt::format("{}/report/**/*", ResultsOf(pipeline))};
  return step;
}

Json GroupStep(const Pipeline& pipeline, const CellGroup& group) {
  Json steps = Json::array();
  for (const FleetCell& cell : group.cells) steps.push_back(CellStep(pipeline, group, cell));
  return {{"group", fmt::format("{} {}", pipeline.name, group.name)},
          {"key", fmt::format("{}-{}", pipeline.name, group.name)},
          {"steps", steps}};
}

}  // namespace

std::vector<EmittedFile> EmitBuildkite(const Pipeline& pipeline) {
  const std::vector<CellGroup> groups = GroupByMachine(pipeline.cells, kCellsAnUpload);
  std::vector<Json> uploads = {Json::array()};
  size_t jobs = 0;
  for (const CellGroup& group : groups) {
    if (jobs + group.cells.size() > kCellsAnUpload) {
      uploads.push_back(Json::array());
      jobs = 0;
    }
    uploads.back().push_back(GroupStep(pipeline, group));
    jobs += group.cells.size();
  }
  uploads.back().push_back(ReportStep(pipeline, groups));
  std::vector<EmittedFile> files;
  for (size_t i = 0; i < uploads.size(); ++i) {
    const std::string part = uploads.size() > 1 ? fmt::format("-{}", i + 1) : "";
    files.push_back({fmt::format("pipeline{}.json", part), Json{{"steps", uploads[i]}}.dump(2) + "\n"});
  }
  return files;
}

}  // namespace assay::runner
