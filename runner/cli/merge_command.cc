#include <fmt/format.h>

#include <cstdio>

#include "base/secrets.h"
#include "runner/cli/command.h"
#include "runner/cli/exit_code.h"
#include "runner/cli/parse.h"
#include "runner/cli/report_flags.h"
#include "runner/fleet/merge.h"
#include "runner/run/ci_links.h"
#include "runner/run/run_folder.h"

namespace assay::runner {

const std::string_view kMergeHelp =
    R"(usage: assay merge DIR... [flags]

Makes one record, one verdict and one report of the cells that several `assay run` measured, as if one run had
measured them all: their speeds are corrected together. Exits as that run would have. No server is started, no
store is read.

  DIR            folders of runs, or folders that hold such folders, at any depth
  --expect FILE  the cells that must be there, one a line (assay ci emit --to cells): one that is not there counts
                 as infrastructure (75)
  --out DIR      where to write (default: out/<run id>); a folder that holds no runs, which may lie in DIR
  --lang en|zh   language of the reports (default: en)

Of several attempts at one cell the newest decides; the report names the others. A folder that is damaged, or
whose job was killed (`started` without `exit_code` beside the record), counts as infrastructure.

example
  assay ci emit --to cells configs/cpu --suite smoke > cells.tsv
  assay merge assay-out --expect cells.tsv --out assay-out/report
)";

namespace {

Result<int> Merge(MergeOptions options, reports::Language language) {
  ASSIGN_OR_RETURN(const MergedRun merged, MergeRuns(options));
  ASSIGN_OR_RETURN(const Path folder, ClaimRunFolder(options.out, merged.record.id));
  RETURN_IF_ERROR(SaveRunRecord(merged.record, folder / kRecordFile));
  const record::Verdict verdict = gate::Conclude(merged.record, merged.cells);
  reports::ReportInput input{merged.record, verdict};
  if (!merged.base_name.empty()) input.base_name = merged.base_name;
  if (IsPullRequest()) input.head_name = "PR";
  input.links = DetectLinks(folder);
  input.language = language;
  RETURN_IF_ERROR(Publish(input, folder));
  return verdict.exit_code;
}

}  // namespace

int MergeCommand(int argc, char** argv) {
  MergeOptions options;
  reports::Language language = reports::Language::kEnglish;
  options.command.assign(argv, argv + argc);
  options.command.insert(options.command.begin(), "assay");
  options.command = HideSecrets(options.command);
  CLI::App app;
  app.set_help_flag();
  app.add_option("dir", options.folders)->required();
  app.add_option("--expect", options.expect);
  app.add_option("--out", options.out);
  AddLanguageFlag(app, language);
  if (const auto exit_code = ParseArguments(app, argc, argv)) return *exit_code;

  const Result<int> exit_code = Merge(std::move(options), language);
  if (exit_code) return *exit_code;
  fmt::print(stderr, "assay merge: {}\n", exit_code.error().message);
  return ExitCodeOf(exit_code.error().kind);
}

}  // namespace assay::runner
