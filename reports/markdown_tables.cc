#include <fmt/format.h>

#include <algorithm>

#include "reports/accuracy_text.h"
#include "reports/check_names.h"
#include "reports/markdown_place.h"
#include "reports/markdown_sections.h"
#include "reports/markdown_text.h"
#include "reports/numbers.h"

namespace assay::reports {
namespace {

using record::CellRecord;
using record::Check;
using record::Outcome;
using record::RunRecord;
using record::Verdict;

std::string VerdictCell(const Check& check) {
  const std::string text = VerdictText(check);
  const bool loud = check.primary && check.outcome != Outcome::kPass;
  return loud ? "**" + text + "**" : text;
}

std::vector<std::string> Columns(const Check& check) {
  return {BaselineText(check), ValueText(check),  ChangeText(check),
          IntervalText(check), MarginText(check), VerdictCell(check)};
}

const std::vector<std::string> kColumns = {"baseline",      "this run", "change",
                                           "95 % interval", "margin",   "verdict"};

std::string AnswerCounts(const RunRecord& record, const CellRecord& cell) {
  std::string text;
  for (const std::string& line : AccuracyLines(*cell.accuracy))
    text += "- " + CellPrefix(record, cell.key) + Inline(line) + "\n";
  return text;
}

// What an imported result says of its load; what it leaves open is left out.
std::string StatedLoad(const record::ServingRecord& serving) {
  std::string load = fmt::format("figures of {}", Inline(serving.source));
  if (serving.stated && serving.stated->completed > 0) {
    load += fmt::format(", {} requests completed and {} failed", serving.stated->completed,
                        serving.stated->failed);
  }
  if (serving.stated && serving.stated->mean_output_tokens > 0) {
    load += fmt::format(", {:.1f} tokens an answer", serving.stated->mean_output_tokens);
  }
  if (serving.mean_in_flight > 0) load += fmt::format(", {:.1f} requests in flight", serving.mean_in_flight);
  return load;
}

std::string LoadText(const record::ServingRecord& serving) {
  if (!serving.source.empty()) return StatedLoad(serving);
  std::string load =
      serving.request_rate > 0 ? fmt::format("{:g} requests/s", serving.request_rate) : "all at once";
  if (serving.max_concurrency)
    load = fmt::format("{}{} in flight", serving.request_rate > 0 ? load + ", at most " : "",
                       *serving.max_concurrency);
  return fmt::format(
      "{} requests of {} in / {} out tokens, {}, {} warm-up, {:.1f} s, client at {:.0f} % of a core",
      serving.num_prompts, serving.input_len, serving.output_len, load, serving.warmups, serving.duration_s,
      serving.client_cpu_share * 100);
}

// Each reason once, where primary metrics of the benchmark were not judged.
std::string WhyNotJudged(const Verdict& verdict, const std::string& cell, const std::string& benchmark) {
  std::string reason;
  for (const Check& check : verdict.checks) {
    if (check.cell == cell && Benchmark(check) == benchmark && check.rule == "not_judged")
      reason = check.reason;
  }
  return reason.empty() ? "" : "; **" + Inline(reason) + "**";
}

}  // namespace

std::string AccuracySection(const RunRecord& record, const Verdict& verdict) {
  std::string rows, counts;
  for (const Check& check : verdict.checks) {
    if (check.group != "accuracy" || check.rule == "baseline") continue;
    rows += TableRow(WithCell(record, check.cell, Prepend({Code(CheckName(check))}, Columns(check))));
  }
  for (const CellRecord& cell : record.cells) {
    if (cell.accuracy) counts += AnswerCounts(record, cell);
  }
  if (rows.empty() && counts.empty()) return "";
  const std::string table =
      rows.empty() ? "" : TableHead(WithCellName(record, Prepend({"check"}, kColumns))) + rows + "\n";
  return "### Accuracy\n\n" + table + counts + "\n";
}

// Metrics that decide, or would, stand in the open; observations are folded below them.
std::string ServingSection(const RunRecord& record, const Verdict& verdict) {
  const auto rows = [&](bool open) {
    std::string text;
    for (const Check& check : verdict.checks) {
      if (Benchmark(check).empty() || (check.primary || check.rule == "not_judged") != open) continue;
      text += TableRow(WithCell(record, check.cell,
                                Prepend({Inline(Benchmark(check)), Code(check.metric)}, Columns(check))));
    }
    return text.empty()
               ? ""
               : TableHead(WithCellName(record, Prepend({"shape", "metric"}, kColumns))) + text + "\n";
  };
  std::string loads;
  for (const CellRecord& cell : record.cells) {
    for (const record::ServingRecord& serving : cell.serving) {
      loads += fmt::format("- {}{}: {}{}\n", CellPrefix(record, cell.key), Inline(serving.name),
                           LoadText(serving), WhyNotJudged(verdict, cell.key, serving.name));
    }
  }
  if (loads.empty()) return "";
  const std::string observations = rows(false);
  return "### Serving\n\n" + rows(true) + loads + "\n" +
         (observations.empty() ? "" : Folded("observations (they decide nothing)", observations));
}

}  // namespace assay::reports
