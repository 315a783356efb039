#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "base/text.h"
#include "record/arms.h"
#include "runner/cli/command.h"
#include "runner/cli/exit_code.h"
#include "runner/cli/parse.h"
#include "runner/cli/report_flags.h"
#include "runner/run/ci_links.h"

namespace assay::runner {

const std::string_view kReportHelp =
    R"(usage: assay report RUN [flags]

Renders a finished run again, on stdout. RUN is a run's folder or its record.json; the verdict is the
verdict.json beside it. Nothing is judged anew.

  --format FORMAT     one of the formats below (default: terminal)
                      terminal     a few lines
                      markdown     md: a comment on the pull request, at most 60,000 characters
                      html         one file with plots, which needs no network
                      junit        xml: for Buildkite, GitLab and Jenkins
                      json         verdict and run without samples; docs/verdict.schema.json describes it
                      github       for $GITHUB_STEP_SUMMARY, at most 1 MB
                      annotations  GitHub's ::error and ::warning lines, to be printed by a step
                      buildkite    for buildkite-agent annotate, at most 1 MB
  --lang en|zh        language of the report (default: en)
  --baseline RECORD   an earlier run's record.json, whose requests and answers the plots show beside this
                      run's; may be repeated, oldest first

Links to the CI job come from the variables of Buildkite, GitHub, GitLab and Jenkins.

examples
  assay report out/20261130-155448-1a2b --format md
  assay report out/pr --format github >> "$GITHUB_STEP_SUMMARY"
  assay report out/pr --format buildkite | buildkite-agent annotate --context assay --style error
)";

namespace {

struct ReportOptions {
  std::string run;
  std::vector<std::string> baseline;
  ReportFlags report;
};

Status Render(const ReportOptions& options) {
  const Path run = options.run;
  const Path record_file = std::filesystem::is_directory(run) ? run / "record.json" : run;
  const Path verdict_file = record_file.parent_path() / "verdict.json";
  ASSIGN_OR_RETURN(record::RunRecord record, record::LoadRunRecord(record_file));
  if (record.ab) record = record::AsTwoCells(record);
  ASSIGN_OR_RETURN(const std::string text, ReadFile(verdict_file));
  ASSIGN_OR_RETURN(const record::Verdict verdict, record::ParseVerdict(text, verdict_file.string()));
  std::vector<record::RunRecord> earlier;
  for (const std::string& file : options.baseline) {
    ASSIGN_OR_RETURN(record::RunRecord base, record::LoadRunRecord(file));
    earlier.push_back(std::move(base));
  }
  reports::ReportInput input{record, verdict};
  for (auto base = earlier.rbegin(); base != earlier.rend(); ++base) {
    for (const record::CellRecord& cell : base->cells) input.baseline[cell.key].push_back(&cell);
  }
  if (IsPullRequest()) input.head_name = "PR";
  input.language = options.report.language;
  input.links = DetectLinks(record_file.parent_path());
  return PrintReport(input, options.report.format);
}

}  // namespace

int ReportCommand(int argc, char** argv) {
  ReportOptions options;
  CLI::App app;
  app.set_help_flag();
  app.add_option("run", options.run)->required();
  app.add_option("--baseline", options.baseline);
  options.report.Add(app);
  if (const auto exit_code = ParseArguments(app, argc, argv)) return *exit_code;

  if (const Status printed = Render(options); !printed) {
    fmt::print(stderr, "assay report: {}\n", printed.error().message);
    return ExitCodeOf(printed.error().kind);
  }
  return kExitPass;
}

}  // namespace assay::runner
