#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "base/clock.h"
#include "base/text.h"
#include "gate/history.h"
#include "runner/cli/command.h"
#include "runner/cli/exit_code.h"
#include "runner/cli/parse.h"
#include "runner/store/baseline_store.h"
#include "runner/store/history.h"
#include "runner/store/history_page.h"

namespace assay::runner {

const std::string_view kHistoryHelp =
    R"(usage: assay history [flags]

How each metric of each cell went over the stored runs of a branch, and where it changed its level (E-divisive,
p of 1 in 1000 by permutation, at least five runs on either side). Speed is followed for each machine apart, and
a series begins anew where the driver, the flags, the model or what was measured changed.

  --branch NAME        whose runs (default: main)
  --cell KEY           one cell only
  --metric NAME        one metric only, for example gpqa_score or 128x32.tpot_p50_ms
  --all                every metric; default: the score, output throughput, and the medians of TTFT and TPOT
  --margin X           a smaller change of a speed is none, as a fraction (default: 0.03)
  --score-margin X     a smaller change of a score is none (default: 0.01)
  --format FORMAT      terminal, json, or html: a page of plots, on stdout (default: terminal)
  --html               short for --format html
  --store PLACE        history of runs (default: $ASSAY_STORE, else ~/.local/share/assay/store.db)

example
  assay history --cell cpu.tiny-moe.smoke
)";

namespace {

struct Arguments {
  std::string place = DefaultStore();
  HistoryQuery query;
  bool all = false;
  double margin = 0.03, score_margin = 0.01;
  std::string format = "terminal";
};

bool IsShownByDefault(const std::string& metric) {
  for (const char* end : {"_score", "output_throughput_tok_s", "ttft_p50_ms", "tpot_p50_ms"}) {
    if (metric.ends_with(end)) return true;
  }
  return false;
}

// The last points as bars of eight heights, lowest to highest.
std::string Sparkline(const gate::Trend& trend) {
  constexpr size_t kShown = 40;
  static const char* const kBars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const size_t begin = trend.points.size() > kShown ? trend.points.size() - kShown : 0;
  double low = trend.points[begin].value, high = low;
  for (size_t i = begin; i < trend.points.size(); ++i) {
    low = std::min(low, trend.points[i].value);
    high = std::max(high, trend.points[i].value);
  }
  std::string text;
  for (size_t i = begin; i < trend.points.size(); ++i) {
    const double share = high > low ? (trend.points[i].value - low) / (high - low) : 0;
    text += kBars[static_cast<size_t>(share * 7.999)];
  }
  return text;
}

std::string ChangeText(const gate::Trend& trend, const gate::TrendChange& change) {
  const bool score = trend.metric.ends_with("_score");
  const gate::TrendPoint& point = trend.points[change.at.index];
  return fmt::format(
      "    {} at run {} of {}{}: {} to {} ({}), p {:.4f}{}\n", change.worse ? "WORSE" : "better",
      point.run_id, point.created.substr(0, 10),
      point.commit.empty() ? "" : ", commit " + point.commit.substr(0, 12),
      fmt::format("{:.4g}", change.at.before), fmt::format("{:.4g} {}", change.at.after, trend.unit),
      score ? fmt::format("{:+.2f} points", change.at.change * 100)
            : fmt::format("{:+.1f} %", change.at.change * 100),
      change.at.p_value, change.acknowledged.empty() ? "" : "; accepted by " + change.acknowledged);
}

void PrintTrend(const gate::Trend& trend, const gate::HistoryOptions& options) {
  fmt::print("  {:<36} {:>10.4g} {:<6} {:>4} runs  {}\n", trend.metric, trend.points.back().value, trend.unit,
             trend.points.size(), Sparkline(trend));
  for (const gate::TrendChange& change : trend.changes) fmt::print("{}", ChangeText(trend, change));
  for (const gate::TrendReset& reset : trend.resets) {
    const gate::TrendPoint& point = trend.points[reset.index];
    fmt::print("    begins anew at run {} of {}: {}\n", point.run_id, point.created.substr(0, 10),
               Printable(Join(reset.reasons, "; ")));
  }
  if (trend.points_since_reset < 2 * options.rule.min_points) {
    fmt::print("    too few runs to find a change: {} since the series began, {} are needed\n",
               trend.points_since_reset, 2 * options.rule.min_points);
  }
}

void PrintTerminal(const std::vector<gate::Trend>& trends, const gate::HistoryOptions& options) {
  std::string heading;
  for (const gate::Trend& trend : trends) {
    const std::string now = trend.machine == "any" ? trend.cell : trend.cell + " on " + trend.machine;
    if (now != heading) fmt::print("{}\n", now);
    heading = now;
    PrintTrend(trend, options);
  }
}

nlohmann::ordered_json ToJson(const gate::Trend& trend) {
  nlohmann::ordered_json json = {{"cell", trend.cell},
                                 {"metric", trend.metric},
                                 {"unit", trend.unit},
                                 {"machine", trend.machine},
                                 {"points", nlohmann::ordered_json::array()},
                                 {"resets", nlohmann::ordered_json::array()},
                                 {"changes", nlohmann::ordered_json::array()}};
  for (const gate::TrendPoint& point : trend.points) {
    json["points"].push_back({{"run", point.run_id},
                              {"created", point.created},
                              {"commit", point.commit},
                              {"value", point.value}});
  }
  for (const gate::TrendReset& reset : trend.resets)
    json["resets"].push_back({{"index", reset.index}, {"reasons", reset.reasons}});
  for (const gate::TrendChange& change : trend.changes) {
    json["changes"].push_back({{"index", change.at.index},
                               {"run", trend.points[change.at.index].run_id},
                               {"worse", change.worse},
                               {"before", change.at.before},
                               {"after", change.at.after},
                               {"change", change.at.change},
                               {"q", change.at.q},
                               {"p_value", change.at.p_value},
                               {"acknowledged", change.acknowledged}});
  }
  return json;
}

Status Show(const Arguments& arguments) {
  ASSIGN_OR_RETURN(const auto store, BaselineStore::Open(arguments.place));
  ASSIGN_OR_RETURN(const std::vector<gate::HistoryRun> runs, ReadHistory(*store, arguments.query));
  if (runs.empty()) {
    return Fail(ErrorKind::kUsage, "{}: has no complete run of branch {}{}", store->Place(),
                arguments.query.branch,
                arguments.query.cell.empty() ? "" : " with a cell " + arguments.query.cell);
  }
  gate::HistoryOptions options;
  options.rule.min_change = arguments.margin;
  options.score_margin = arguments.score_margin;
  options.today = UtcNow().substr(0, 10);
  ASSIGN_OR_RETURN(options.acknowledgements, store->Acknowledgements());
  const std::vector<gate::Trend> trends = gate::BuildHistory(runs, options);
  if (arguments.format == "terminal") {
    PrintTerminal(trends, options);
    return {};
  }
  if (arguments.format == "html") {
    fmt::print("{}",
               HistoryPage("History of " + arguments.query.branch, trends, reports::Language::kEnglish));
    return {};
  }
  nlohmann::ordered_json json = {{"schema", "assay/history/1"}, {"trends", nlohmann::ordered_json::array()}};
  for (const gate::Trend& trend : trends) json["trends"].push_back(ToJson(trend));
  fmt::print("{}\n", json.dump(1));
  return {};
}

}  // namespace

int HistoryCommand(int argc, char** argv) {
  Arguments arguments;
  CLI::App app;
  app.set_help_flag();
  app.add_option("--store", arguments.place);
  app.add_option("--branch", arguments.query.branch);
  app.add_option("--cell", arguments.query.cell);
  app.add_option("--metric", arguments.query.metric);
  app.add_flag("--all", arguments.all);
  app.add_option("--margin", arguments.margin)->check(NumberWithin(0, 10));
  app.add_option("--score-margin", arguments.score_margin)->check(NumberWithin(0, 1));
  app.add_flag_callback("--html", [&] { arguments.format = "html"; });
  app.add_option("--format", arguments.format)->check(CLI::IsMember({"terminal", "json", "html"}));
  if (const auto exit_code = ParseArguments(app, argc, argv)) return *exit_code;
  if (!arguments.all && arguments.query.metric.empty()) arguments.query.wanted = &IsShownByDefault;
  const Status status = Show(arguments);
  if (status) return kExitPass;
  fmt::print(stderr, "assay history: {}\n", status.error().message);
  return ExitCodeOf(status.error().kind);
}

}  // namespace assay::runner
