#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "base/text.h"
#include "reports/report.h"
#include "runner/cli/command.h"
#include "runner/cli/exit_code.h"
#include "runner/cli/parse.h"

namespace assay::runner {

const std::string_view kReportHelp =
    R"(usage: assay report RUN [--format FORMAT]

Renders a finished run again, on stdout. RUN is a run's folder or its record.json; the verdict is the
verdict.json beside it.

  --format FORMAT   one of the formats below, or terminal (default: terminal)
                    markdown   for the pull request
                    json       record and verdict in one document

example
  assay report out/20261130-155448-1a2b --format markdown
)";

namespace {

Result<std::string> Render(const Path& run, const std::string& format) {
  const Path record_file = std::filesystem::is_directory(run) ? run / "record.json" : run;
  const Path verdict_file = record_file.parent_path() / "verdict.json";
  ASSIGN_OR_RETURN(const record::RunRecord record, record::LoadRunRecord(record_file));
  ASSIGN_OR_RETURN(const std::string text, ReadFile(verdict_file));
  ASSIGN_OR_RETURN(const record::Verdict verdict, record::ParseVerdict(text, verdict_file.string()));
  if (format == "terminal") return reports::RenderTerminal(record, verdict, false);
  std::vector<std::string> formats = {"terminal"};
  for (const reports::Report& report : reports::ReportTable()) {
    if (report.format == format) return report.render(record, verdict);
    formats.emplace_back(report.format);
  }
  return Fail(ErrorKind::kUsage, "--format {}: unknown; the formats are {}", format, Join(formats, ", "));
}

}  // namespace

int ReportCommand(int argc, char** argv) {
  std::string run, format = "terminal";
  CLI::App app;
  app.set_help_flag();
  app.add_option("run", run)->required();
  app.add_option("--format", format);
  if (const auto exit_code = ParseArguments(app, argc, argv)) return *exit_code;

  const Result<std::string> text = Render(run, format);
  if (!text) {
    fmt::print(stderr, "assay report: {}\n", text.error().message);
    return ExitCodeOf(text.error().kind);
  }
  fmt::print("{}", *text);
  return kExitPass;
}

}  // namespace assay::runner
