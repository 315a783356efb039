#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "runner/cli/command.h"
#include "runner/cli/exit_code.h"
#include "runner/cli/parse.h"
#include "runner/import/import.h"

namespace assay::runner {

const std::string_view kImportHelp =
    R"(usage: assay import FILE... --out RECORD [flags]

Makes a record of results that other tools left behind, so that `assay compare` can judge them. What a file
does not say stays open: the checks that would need it are listed as not possible, never passed.

  --out RECORD       the record.json to write
  --format FORMAT    of all files; told by their content when not given:
                     vllm-bench   result JSON of `vllm bench serve`, plain or detailed
                     lm-eval      results JSON of lm-evaluation-harness
                     gpt-oss      result JSON of gpt_oss.evals or simple-evals
                     csv          summary figures: a column `cell`, then gpqa_score and samples, or serving
                                  (a name) and metrics such as output_throughput_tok_s, ttft_mean_ms
  --cell KEY         of the results, the same on both sides of a comparison (default: imported)
  --serving NAME     of a vLLM benchmark (default: serving)
  --samples N        behind a gpt-oss score, whose file does not say
  --metric NAME      of an lm-eval result with several, such as exact_match,strict-match

example
  assay import main.csv --out main.json && assay import pr.csv --out pr.json && assay compare main.json pr.json
)";

int ImportCommand(int argc, char** argv) {
  std::vector<std::string> files;
  std::string out;
  ImportOptions options;
  CLI::App app;
  app.set_help_flag();
  app.add_option("files", files)->required();
  app.add_option("--out", out)->required();
  app.add_option("--format", options.format);
  app.add_option("--cell", options.cell);
  app.add_option("--serving", options.serving);
  app.add_option("--samples", options.samples)->check(CLI::Range(int64_t{1}, int64_t{1} << 40));
  app.add_option("--metric", options.metric);
  if (const auto exit_code = ParseArguments(app, argc, argv)) return *exit_code;

  const Result<record::RunRecord> record = Import({files.begin(), files.end()}, options);
  const Status saved = record ? record::SaveRunRecord(*record, out) : Status(tl::unexpected(record.error()));
  if (!saved) {
    fmt::print(stderr, "assay import: {}\n", saved.error().message);
    return ExitCodeOf(saved.error().kind);
  }
  for (const record::CellRecord& cell : record->cells) {
    if (cell.accuracy) {
      const record::AccuracyCounts counts = Count(*cell.accuracy);
      fmt::print("{}: {} of {} samples, {}\n", cell.key,
                 cell.accuracy->stated ? cell.accuracy->stated->score : "score", counts.samples,
                 cell.accuracy->source);
    }
    for (const record::ServingRecord& serving : cell.serving) {
      fmt::print("{}: benchmark {}, {} figures, {} requests, {}\n", cell.key, serving.name,
                 serving.metrics.size(), serving.requests.size(), serving.source);
    }
  }
  fmt::print("record  {}\n", out);
  return kExitPass;
}

}  // namespace assay::runner
