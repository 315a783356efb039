#include "runner/fleet/pipeline.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace assay::runner {
namespace {

// max_yaml_size_bytes of an instance that was not told otherwise; newer ones take twice as much.
constexpr size_t kGitlabFileBytes = 1'000'000;

std::string MachineName(const FleetCell& cell) {
  return cell.gpus > 0 ? fmt::format("{}-{}", cell.hardware, cell.gpus) : cell.hardware;
}

}  // namespace

const std::vector<CiTarget>& CiTargets() {
  static const std::vector<CiTarget> table = {
      {"buildkite", "steps for buildkite-agent pipeline upload", EmitBuildkite},
      {"github", "a GitHub workflow and the cells of its matrix", EmitGithub},
      {"gitlab", "a child pipeline for GitLab", EmitGitlab, kGitlabFileBytes},
      {"slurm", "array jobs, a report job and submit.sh", EmitSlurm},
      {"kubernetes", "indexed jobs and a report job", EmitKubernetes},
      {"cells", "the cells alone, one a line, as assay merge --expect reads them", EmitCells},
  };
  return table;
}

std::vector<std::vector<FleetCell>> Chunks(const std::vector<FleetCell>& cells, size_t limit) {
  std::vector<std::vector<FleetCell>> chunks;
  for (size_t begin = 0; begin < cells.size(); begin += limit) {
    const size_t end = std::min(begin + limit, cells.size());
    chunks.emplace_back(cells.begin() + static_cast<long>(begin), cells.begin() + static_cast<long>(end));
  }
  return chunks;
}

std::vector<CellGroup> GroupByMachine(const std::vector<FleetCell>& cells, size_t limit) {
  std::vector<CellGroup> machines;
  for (const FleetCell& cell : cells) {
    auto group = std::find_if(machines.begin(), machines.end(), [&](const CellGroup& known) {
      return known.hardware == cell.hardware && known.gpus == cell.gpus;
    });
    if (group == machines.end())
      group = machines.insert(machines.end(), {cell.hardware, cell.gpus, MachineName(cell), {}});
    group->cells.push_back(cell);
  }
  std::vector<CellGroup> groups;
  for (const CellGroup& machine : machines) {
    const auto chunks = Chunks(machine.cells, limit);
    for (size_t i = 0; i < chunks.size(); ++i) {
      const std::string part = chunks.size() > 1 ? fmt::format("-part-{}", i + 1) : "";
      groups.push_back({machine.hardware, machine.gpus, machine.name + part, chunks[i]});
    }
  }
  return groups;
}

std::vector<std::string> MeasureLines(const Pipeline& pipeline, const std::string& key,
                                      const std::string& attempt, const std::string& out) {
  return {
      fmt::format("folder={}/{}/{}", out, key, attempt),
      "mkdir -p \"$folder\"",
      "date -u +%Y-%m-%dT%H:%M:%SZ > \"$folder/started\"",
      "code=0",
      fmt::format("{} --cell {} --out \"$folder\" || code=$?", ShellJoin(pipeline.run_words), key),
      "echo \"$code\" > \"$folder/exit_code\"",
  };
}

std::vector<std::string> ReportLines(const Pipeline& pipeline, const std::string& out) {
  return {
      fmt::format("mkdir -p {}", out),
      fmt::format("rm -rf {}/report", out),  // of a report job that is tried again
      fmt::format("{} > {}/cells.tsv", ShellJoin(pipeline.cells_words), out),
      "code=0",
      fmt::format("{0} {1} --expect {1}/cells.tsv --out {1}/report || code=$?",
                  ShellJoin(pipeline.merge_words), out),
  };
}

std::string JoinLines(const std::vector<std::string>& lines, std::string_view indent) {
  std::string text;
  for (const std::string& line : lines) text += line.empty() ? "\n" : fmt::format("{}{}\n", indent, line);
  return text;
}

std::vector<std::string> RunnerOf(const Pipeline& pipeline, const std::string& hardware,
                                  std::vector<std::string> fallback) {
  const auto found = pipeline.runners.find(hardware);
  return found == pipeline.runners.end() ? std::move(fallback) : found->second;
}

}  // namespace assay::runner
