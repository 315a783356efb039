#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "runner/fleet/pipeline.h"

// A child pipeline in two stages. Stages order it, not `needs`, of which a job may have 50; the report job is
// handed the artifacts of every job before it. JSON is YAML, and is read as it is.
// https://docs.gitlab.com/ci/yaml/
namespace assay::runner {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> MachineTags(const FleetCell& cell) {
  std::vector<std::string> tags = {cell.hardware};
  if (cell.gpus > 0) tags.push_back(fmt::format("gpus-{}", cell.gpus));
  return tags;
}

// What all cells share; a job names only its cell, so that files of thousands stay below the limit of 1 MB.
Json CellTemplate(const Pipeline& pipeline) {
  std::vector<std::string> lines = {fmt::format("rm -rf {}", kResultsFolder)};
  lines.insert(lines.end(), pipeline.setup.begin(), pipeline.setup.end());
  for (std::string& line : MeasureLines(pipeline, "\"$ASSAY_CELL\"", "attempt-$CI_JOB_ID", kResultsFolder))
    lines.push_back(std::move(line));
  lines.emplace_back("exit \"$code\"");
  return {{"stage", "measure"},
          {"script", {JoinLines(lines)}},
          {"timeout", fmt::format("{} minutes", pipeline.timeout_minutes)},
          // What was measured is judged once more with all other cells, so here it turns nothing red.
          {"allow_failure", {{"exit_codes", {1, 3, 4}}}},
          {"retry", {{"max", 1}, {"when", {"runner_system_failure"}}, {"exit_codes", {75}}}},
          {"artifacts",
           {{"when", "always"}, {"paths", {fmt::format("{}/", kResultsFolder)}}, {"expire_in", "30 days"}}}};
}

Json CellJob(const Pipeline& pipeline, const FleetCell& cell) {
  return {{"extends", ".cell"},
          {"tags", RunnerOf(pipeline, cell.hardware, MachineTags(cell))},
          {"variables", {{"ASSAY_CELL", cell.key}}}};
}

Json ReportJob(const Pipeline& pipeline) {
  std::vector<std::string> lines = pipeline.setup;
  for (std::string& line : ReportLines(pipeline)) lines.push_back(std::move(line));
  lines.emplace_back("exit \"$code\"");
  Json job = {{"stage", "report"}, {"when", "always"}, {"script", {JoinLines(lines)}}};
  if (const auto tags = RunnerOf(pipeline, "report", {}); !tags.empty()) job["tags"] = tags;
  job["timeout"] = "30 minutes";
  job["artifacts"] = {{"when", "always"},
                      {"paths", {fmt::format("{}/report/", kResultsFolder)}},
                      {"expire_in", "30 days"},
                      {"reports", {{"junit", fmt::format("{}/report/junit.xml", kResultsFolder)}}}};
  return job;
}

}  // namespace

std::vector<EmittedFile> EmitGitlab(const Pipeline& pipeline) {
  Json file = {{"stages", {"measure", "report"}}, {".cell", CellTemplate(pipeline)}};
  for (const FleetCell& cell : pipeline.cells) file[cell.key] = CellJob(pipeline, cell);
  file[pipeline.name + "-report"] = ReportJob(pipeline);
  return {{"assay.gitlab-ci.yml", file.dump(2) + "\n"}};
}

}  // namespace assay::runner
