#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "runner/fleet/pipeline.h"

// A workflow that asks for its cells when it runs, so that a config that was added needs no new workflow, and
// the matrix that it is answered with.
// https://docs.github.com/actions/reference/workflow-syntax-for-github-actions
namespace assay::runner {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kJobsAMatrix = 256;

std::vector<std::string> MachineLabels(const FleetCell& cell) {
  std::vector<std::string> labels = {"self-hosted", "linux", cell.hardware};
  if (cell.gpus > 0) labels.push_back(fmt::format("gpus-{}", cell.gpus));
  return labels;
}

// One line: it becomes the output of a job.
std::string Matrix(const Pipeline& pipeline, const std::vector<FleetCell>& cells) {
  Json rows = Json::array();
  for (const FleetCell& cell : cells) {
    rows.push_back({{"cell", cell.key},
                    {"runs_on", RunnerOf(pipeline, cell.hardware, MachineLabels(cell))},
                    {"timeout", pipeline.timeout_minutes}});
  }
  return rows.dump() + "\n";
}

constexpr char kCheckout[] = "      - uses: actions/checkout@v4\n";

// Shell lines as a block of a step. The 2 says how far it is indented; without it the first line would, whose
// own blanks are its own.
std::string Run(const std::vector<std::string>& lines) {
  return "        run: |2\n" + JoinLines(lines, "          ");
}

// Every step has a shell of its own, so setup is in front of each that calls assay: PATH would be forgotten.
std::vector<std::string> AfterSetup(const Pipeline& pipeline, const std::vector<std::string>& lines) {
  std::vector<std::string> all = pipeline.setup;
  all.insert(all.end(), lines.begin(), lines.end());
  return all;
}

std::string RunsOn(const std::vector<std::string>& labels) {
  return fmt::format("    runs-on: {}\n", Json(labels).dump());
}

std::string PlanJob(const Pipeline& pipeline, size_t matrices) {
  std::string text = "  plan:\n" + RunsOn(RunnerOf(pipeline, "report", {"self-hosted", "linux"}));
  text += "    timeout-minutes: 30\n    outputs:\n";
  for (size_t i = 1; i <= matrices; ++i)
    text += fmt::format("      cells_{0}: ${{{{ steps.cells.outputs.cells_{0} }}}}\n", i);
  text += fmt::format("    steps:\n{}      - id: cells\n", kCheckout);
  std::vector<std::string> lines = {
      fmt::format("{} --out \"$RUNNER_TEMP/fleet\"", ShellJoin(pipeline.emit_words)),
      fmt::format("if [ -e \"$RUNNER_TEMP/fleet/cells-{}.json\" ]; then", matrices + 1),
      "  echo '::error::there are more cells than this workflow has matrices for: emit it again'", "  exit 2",
      "fi"};
  for (size_t i = 1; i <= matrices; ++i) {
    lines.push_back(fmt::format(
        "echo \"cells_{0}=$(cat \"$RUNNER_TEMP/fleet/cells-{0}.json\" || echo '[]')\" >> \"$GITHUB_OUTPUT\"",
        i));
  }
  return text + Run(AfterSetup(pipeline, lines));
}

std::string Upload(const std::string& artifact, const std::string& folder) {
  return fmt::format(
      "      - uses: actions/upload-artifact@v4\n"
      "        if: ${{{{ always() }}}}\n"
      "        with:\n"
      "          name: {}\n"
      "          path: {}/\n"
      "          overwrite: true\n",
      artifact, folder);
}

// Results of a second attempt lie beside those of the first, and the newest counts.
std::string MatrixJob(const Pipeline& pipeline, size_t i) {
  std::string text = fmt::format(
      "  cells-{0}:\n"
      "    needs: plan\n"
      "    if: ${{{{ needs.plan.outputs.cells_{0} != '[]' }}}}\n"
      "    strategy:\n"
      "      fail-fast: false\n"
      "      matrix:\n"
      "        include: ${{{{ fromJSON(needs.plan.outputs.cells_{0}) }}}}\n"
      "    name: ${{{{ matrix.cell }}}}\n"
      "    runs-on: ${{{{ matrix.runs_on }}}}\n"
      "    timeout-minutes: ${{{{ matrix.timeout }}}}\n"
      "    env:\n"
      "      ASSAY_CELL: ${{{{ matrix.cell }}}}\n"
      "    steps:\n",
      i);
  text += fmt::format("{}      - name: measure\n", kCheckout);
  std::vector<std::string> lines = {fmt::format("rm -rf {}", kResultsFolder),
                                    "# Only exit code 75 (infrastructure) is worth a second attempt.",
                                    "for attempt in 1 2; do"};
  for (const std::string& line : MeasureLines(
           pipeline, "\"$ASSAY_CELL\"", "\"run-${GITHUB_RUN_ATTEMPT:-1}-attempt-$attempt\"", kResultsFolder))
    lines.push_back("  " + line);
  lines.insert(lines.end(),
               {"  [ \"$code\" -eq 75 ] || break", "done", "case \"$code\" in", "  0) ;;",
                "  1 | 3 | 4) echo \"::warning title=$ASSAY_CELL::exit code $code; the report decides\" ;;",
                "  *) exit \"$code\" ;;", "esac"});
  text += Run(AfterSetup(pipeline, lines));
  return text + Upload(pipeline.name + "-${{ matrix.cell }}", kResultsFolder);
}

std::string ReportJob(const Pipeline& pipeline, size_t matrices) {
  std::string needs = "plan";
  for (size_t i = 1; i <= matrices; ++i) needs += fmt::format(", cells-{}", i);
  std::string text = fmt::format("  report:\n    needs: [{}]\n    if: ${{{{ always() }}}}\n", needs);
  text += RunsOn(RunnerOf(pipeline, "report", {"self-hosted", "linux"}));
  text += fmt::format("    timeout-minutes: 30\n    steps:\n{}", kCheckout);
  text += fmt::format(
      "      - run: rm -rf {0}\n"
      "      - uses: actions/download-artifact@v4\n"
      "        continue-on-error: true\n"
      "        with:\n"
      "          pattern: {1}-*\n"
      "          path: {0}\n"
      "          merge-multiple: true\n"
      "      - name: merge\n",
      kResultsFolder, pipeline.name);
  std::vector<std::string> lines = ReportLines(pipeline);
  lines.push_back(
      fmt::format("[ ! -f {0}/report/github.md ] || cat {0}/report/github.md >> \"$GITHUB_STEP_SUMMARY\"",
                  kResultsFolder));
  lines.push_back(
      fmt::format("[ ! -f {0}/report/annotations.txt ] || cat {0}/report/annotations.txt", kResultsFolder));
  lines.emplace_back("exit \"$code\"");
  text += Run(AfterSetup(pipeline, lines));
  return text + Upload("report-" + pipeline.name, std::string(kResultsFolder) + "/report");
}

std::string Workflow(const Pipeline& pipeline, size_t matrices) {
  std::string text = fmt::format(
      "# Made by: {}\n"
      "# The job `report` says how the fleet ended: require that one.\n"
      "name: {}\n"
      "on:\n"
      "  workflow_dispatch:\n"
      "  pull_request:\n"
      "permissions:\n"
      "  contents: read\n"
      "jobs:\n",
      ShellJoin(pipeline.emit_words), Json(pipeline.name).dump());
  text += PlanJob(pipeline, matrices);
  for (size_t i = 1; i <= matrices; ++i) text += MatrixJob(pipeline, i);
  return text + ReportJob(pipeline, matrices);
}

}  // namespace

std::vector<EmittedFile> EmitGithub(const Pipeline& pipeline) {
  const auto matrices = Chunks(pipeline.cells, kJobsAMatrix);
  std::vector<EmittedFile> files = {{"assay.yml", Workflow(pipeline, matrices.size())}};
  for (size_t i = 0; i < matrices.size(); ++i)
    files.push_back({fmt::format("cells-{}.json", i + 1), Matrix(pipeline, matrices[i])});
  return files;
}

}  // namespace assay::runner
