#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "gate/judge.h"
#include "runner/cli/command.h"
#include "runner/cli/exit_code.h"
#include "runner/cli/parse.h"
#include "runner/cli/report_flags.h"
#include "runner/run/report_input.h"

namespace assay::runner {

const std::string_view kCompareHelp =
    R"(usage: assay compare BASE... HEAD [flags]

Judges the record HEAD against one or more records BASE (record.json files), oldest first. No server is
started. Cells are matched by key. Speed is only compared between equal machines, flags and models.

  --accuracy-margin X      loss in score that must not pass, as a fraction (default: 0.03)
  --performance-margin X   relative change that must not pass (default: 0.03)
  --declared FIELD         a field of the fingerprint that HEAD means to change (engine_flags, driver ...): a
                           difference in it hinders no comparison; may be given several times
  --strict                 INCONCLUSIVE exits 3
  --format FORMAT          terminal, or one of those that `assay report --help` lists (default: terminal)
  --lang en|zh             language of the report (default: en)

example
  assay compare out/main-1/record.json out/main-2/record.json out/pr/record.json
)";

namespace {

struct CompareOptions {
  std::vector<std::string> records;
  gate::Policy policy;
  ReportFlags report;
};

// The cells of the earlier records with this key, newest (last named) first.
gate::Baseline EarlierCells(const std::vector<record::RunRecord>& bases, const std::string& key) {
  gate::Baseline baseline{fmt::format("{} record{}", bases.size(), bases.size() == 1 ? "" : "s"), {}};
  for (auto base = bases.rbegin(); base != bases.rend(); ++base) {
    for (const record::CellRecord& cell : base->cells) {
      if (cell.key != key) continue;
      baseline.cells.push_back(cell);
      baseline.dated.push_back({base->commit, base->created, cell});
    }
  }
  return baseline;
}

// What BASE measured and HEAD did not cannot be judged, and must not be passed over.
Status CheckNothingIsMissing(const record::RunRecord& base, const record::RunRecord& head) {
  for (const record::CellRecord& cell : base.cells) {
    const auto same = std::find_if(head.cells.begin(), head.cells.end(),
                                   [&](const record::CellRecord& other) { return other.key == cell.key; });
    if (same == head.cells.end()) {
      return Fail(ErrorKind::kInvalid, "HEAD ({}) has no cell {}, which BASE ({}) measured", head.id,
                  cell.key, base.id);
    }
    if (cell.accuracy && !same->accuracy) {
      return Fail(ErrorKind::kInvalid, "HEAD ({}) has no accuracy eval in {}, which BASE ({}) has", head.id,
                  cell.key, base.id);
    }
    if (cell.reproducibility && !same->reproducibility) {
      return Fail(ErrorKind::kInvalid, "HEAD ({}) has no reproducibility eval in {}, which BASE ({}) has",
                  head.id, cell.key, base.id);
    }
    for (const record::ServingRecord& serving : cell.serving) {
      const bool measured =
          std::any_of(same->serving.begin(), same->serving.end(),
                      [&](const record::ServingRecord& s) { return s.name == serving.name; });
      if (!measured) {
        return Fail(ErrorKind::kInvalid, "HEAD ({}) has no serving benchmark {} in {}, which BASE ({}) has",
                    head.id, serving.name, cell.key, base.id);
      }
    }
  }
  return {};
}

// An imported result has the metrics that its tool printed: of throughput, TTFT and TPOT, the median if it is
// there, else the mean.
gate::Policy PolicyFor(const record::CellRecord& cell, gate::Policy policy) {
  const auto imported = std::find_if(cell.serving.begin(), cell.serving.end(),
                                     [](const record::ServingRecord& s) { return !s.source.empty(); });
  if (imported == cell.serving.end()) return policy;
  policy.performance.primary.clear();
  for (const auto& [median, mean] :
       {std::pair{"output_throughput_tok_s", "request_throughput_req_s"},
        std::pair{"ttft_p50_ms", "ttft_mean_ms"}, std::pair{"tpot_p50_ms", "tpot_mean_ms"}}) {
    const auto all_have = [&](const char* name) {
      return std::all_of(cell.serving.begin(), cell.serving.end(),
                         [&](const record::ServingRecord& s) { return Find(s.metrics, name) != nullptr; });
    };
    if (all_have(median)) {
      policy.performance.primary.emplace_back(median);
    } else if (all_have(mean)) {
      policy.performance.primary.emplace_back(mean);
    }
  }
  return policy;
}

Result<int> Compare(const CompareOptions& options) {
  if (options.records.size() < 2)
    return Fail(ErrorKind::kUsage, "at least two records are needed: BASE HEAD");
  std::vector<record::RunRecord> bases;
  for (const std::string& file : options.records) {
    ASSIGN_OR_RETURN(record::RunRecord record, record::LoadRunRecord(file));
    bases.push_back(std::move(record));
  }
  const record::RunRecord head = std::move(bases.back());
  bases.pop_back();
  RETURN_IF_ERROR(CheckNothingIsMissing(bases.back(), head));

  std::vector<gate::CellPolicy> policies;
  for (const record::CellRecord& cell : head.cells) {
    policies.push_back({cell.key, PolicyFor(cell, options.policy), EarlierCells(bases, cell.key)});
  }
  const record::Verdict verdict = gate::Judge(head, policies);
  reports::ReportInput input = MakeReportInput(head, verdict, policies, "");
  input.language = options.report.language;
  RETURN_IF_ERROR(PrintReport(input, options.report.format));
  return verdict.exit_code;
}

}  // namespace

int CompareCommand(int argc, char** argv) {
  CompareOptions options;
  CLI::App app;
  app.set_help_flag();
  app.add_option("records", options.records)->required();
  app.add_option("--accuracy-margin", options.policy.accuracy.margin)->check(CLI::Range(0.0, 1.0));
  app.add_option("--performance-margin", options.policy.performance.margin)->check(CLI::Range(0.0, 10.0));
  app.add_option("--declared", options.policy.declared_differences)
      ->allow_extra_args(false)
      ->check(CLI::IsMember(record::BreakingFields()));
  app.add_flag("--strict", options.policy.strict);
  options.report.Add(app);
  if (const auto exit_code = ParseArguments(app, argc, argv)) return *exit_code;

  const double margins[] = {options.policy.accuracy.margin, options.policy.performance.margin};
  if (std::isnan(margins[0]) || std::isnan(margins[1])) {
    fmt::print(stderr, "assay compare: a margin must be a number\n");
    return kExitUsage;
  }
  const Result<int> exit_code = Compare(options);
  if (exit_code) return *exit_code;
  fmt::print(stderr, "assay compare: {}\n", exit_code.error().message);
  return ExitCodeOf(exit_code.error().kind);
}

}  // namespace assay::runner
