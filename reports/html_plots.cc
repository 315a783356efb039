#include "reports/html_plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "record/accuracy_summary.h"
#include "record/statistics.h"
#include "reports/figure.h"
#include "reports/judgement.h"
#include "reports/lanes.h"
#include "reports/plot.h"
#include "reports/plot_data.h"
#include "reports/trend.h"

namespace assay::reports {
namespace {

using record::AccuracyRecord;
using record::CellRecord;
using record::ServingRecord;

constexpr size_t kCellsWithPlots = 12;  // of a large matrix: enough to look at, and a page of a few MB

std::string Key(const char* css, const std::string& text) {
  return fmt::format("<span class=\"key {}\"></span>{}", css, text);
}

std::string ArmKeys(const Page& page, bool both) {
  return (both ? Key("base", page.BaseName()) : "") + Key("head", page.HeadName());
}

// The newest earlier eval whose questions can be laid beside these.
const AccuracyRecord* EarlierAnswers(const Page& page, const CellRecord& cell) {
  const auto found = page.baseline.find(cell.key);
  if (found == page.baseline.end()) return nullptr;
  for (const CellRecord* earlier : found->second) {
    if (earlier->accuracy && !earlier->accuracy->samples.empty() &&
        earlier->accuracy->dataset_hash == cell.accuracy->dataset_hash)
      return &*earlier->accuracy;
  }
  return nullptr;
}

// Right samples of each question.
std::map<std::string, int64_t> RightByQuestion(const AccuracyRecord& accuracy) {
  std::map<std::string, int64_t> right;
  for (const record::QuestionSample& sample : accuracy.samples) right[sample.id] += sample.correct;
  return right;
}

std::string FlipFigure(const Page& page, const AccuracyRecord& ours, const AccuracyRecord* theirs) {
  const Say& say = page.say;
  const std::map<std::string, int64_t> now = RightByQuestion(ours);
  const std::map<std::string, int64_t> before = theirs ? RightByQuestion(*theirs) : now;
  std::vector<const char*> classes;
  std::map<std::string_view, int64_t> counts;
  std::vector<std::string> lost, won;
  for (const auto& [id, right] : now) {
    const auto found = before.find(id);
    if (found == before.end()) continue;
    const char* css = right < found->second   ? "lost"
                      : right > found->second ? "won"
                      : right == 0            ? "wrong"
                                              : "right";
    if (right < found->second) lost.push_back(id);
    if (right > found->second) won.push_back(id);
    classes.push_back(css);
    ++counts[css];
  }
  if (classes.empty()) return "";
  std::string keys =
      Key("right", say("right {}", counts["right"])) + Key("wrong", say("wrong {}", counts["wrong"]));
  if (theirs != nullptr)
    keys += Key("lost", say("lost {}", counts["lost"])) + Key("won", say("won {}", counts["won"]));
  std::string names;
  for (const auto& [label, ids] : {std::pair{say("lost"), lost}, {say("won"), won}}) {
    if (!ids.empty())
      names += page.markup.Folded(say("{}: {} questions", label, ids.size()),
                                  page.markup.Paragraph(page.markup.Text(Join(ids, ", "), 20000)));
  }
  return Figure(theirs ? say("Which questions flipped") : say("Questions"),
                GridSvg(classes) + "<p>" + keys + "</p>" + names, "");
}

IntervalRow::Value DomainValue(Arm arm, const record::DomainScore& domain) {
  const auto right = static_cast<double>(domain.correct), all = static_cast<double>(domain.samples);
  const record::Interval interval = record::WilsonInterval(right, all, 0.95);
  return {arm, right / all, interval.low, interval.high,
          fmt::format("{:.4f} ({}/{}), {:.4f} - {:.4f}", right / all, domain.correct, domain.samples,
                      interval.low, interval.high)};
}

std::string DomainFigure(const Page& page, const AccuracyRecord& ours, const AccuracyRecord* theirs) {
  std::vector<IntervalRow> rows;
  std::map<std::string, record::DomainScore> before;
  if (theirs != nullptr) {
    for (const record::DomainScore& domain : Summarize(*theirs).domains) before[domain.domain] = domain;
  }
  double low = 1;
  for (const record::DomainScore& domain : Summarize(ours).domains) {
    if (domain.samples == 0) continue;
    IntervalRow row{domain.domain.empty() ? page.say("no domain") : domain.domain, {}};
    if (const auto found = before.find(domain.domain); found != before.end() && found->second.samples > 0)
      row.values.push_back(DomainValue(Arm::kBase, found->second));
    row.values.push_back(DomainValue(Arm::kHead, domain));
    for (const IntervalRow::Value& value : row.values) low = std::min(low, value.low);
    rows.push_back(std::move(row));
  }
  if (rows.empty()) return "";
  return Figure(page.say("Accuracy by domain, Wilson 95 %"), IntervalSvg(rows, std::max(0.0, low - 0.05), 1),
                ArmKeys(page, theirs != nullptr));
}

std::string AccuracyFigures(const Page& page, const CellRecord& cell) {
  if (!cell.accuracy || cell.accuracy->samples.empty()) return "";
  const AccuracyRecord* theirs = EarlierAnswers(page, cell);
  return DomainFigure(page, *cell.accuracy, theirs) + FlipFigure(page, *cell.accuracy, theirs);
}

using Values = std::vector<double> (*)(const ServingRecord&);

std::string LatencyFigure(const Page& page, const std::string& caption, Values values,
                          const ServingRecord& ours, const ServingRecord* theirs) {
  CurvePlot plot;
  plot.x_label = "ms";
  plot.y_label = page.say("share of requests");
  double low = 1e300, high = 0;
  const auto add = [&](Arm arm, const std::string& name, const ServingRecord& serving) {
    const std::vector<double> ms = values(serving);
    if (ms.empty()) return;
    low = std::min(low, *std::min_element(ms.begin(), ms.end()));
    high = std::max(high, record::Percentile(ms, 99) * 1.1);
    plot.curves.push_back({arm, name, CumulativeShare(ms), false});
  };
  if (theirs != nullptr) add(Arm::kBase, page.base_name, *theirs);
  add(Arm::kHead, page.head_name, ours);
  if (plot.curves.empty()) return "";
  plot.x_low = low < high / 3 ? 0 : low * 0.95;
  plot.x_high = high;
  return Figure(caption, CurveSvg(plot), ArmKeys(page, plot.curves.size() > 1));
}

std::string RateFigure(const Page& page, const ServingRecord& ours, const ServingRecord* theirs) {
  constexpr int kBins = 40;
  const double duration = std::max(ours.duration_s, theirs ? theirs->duration_s : 0);
  CurvePlot plot;
  plot.x_label = "s";
  plot.y_label = page.say("output tokens per second");
  plot.x_high = duration;
  double high = 0;
  const auto add = [&](Arm arm, const std::string& name, const ServingRecord& serving) {
    auto points = TokenRate(serving, duration, kBins);
    for (const auto& point : points) high = std::max(high, point.second);
    if (!points.empty()) plot.curves.push_back({arm, name, std::move(points), false});
  };
  if (theirs != nullptr) add(Arm::kBase, page.base_name, *theirs);
  add(Arm::kHead, page.head_name, ours);
  if (plot.curves.empty()) return "";
  plot.y_high = high * 1.05;
  return Figure(page.say("Throughput over time"), CurveSvg(plot), ArmKeys(page, plot.curves.size() > 1));
}

std::string ServingFigures(const Page& page, const ServingRecord& ours, const ServingRecord* theirs) {
  const Say& say = page.say;
  return LatencyFigure(page, say("Time to first token (TTFT)"), TtftMs, ours, theirs) +
         LatencyFigure(page, say("Time per output token (TPOT)"), TpotMs, ours, theirs) +
         LatencyFigure(page, say("End-to-end latency (E2EL)"), E2elMs, ours, theirs) +
         RateFigure(page, ours, theirs);
}

std::string CellPlots(const Page& page, const CellRecord& cell) {
  std::string text = FigureGrid(page.say("Answers"), AccuracyFigures(page, cell));
  for (const ServingRecord& serving : cell.serving) {
    text += FigureGrid(page.say("Serving {}", page.markup.Text(serving.name)),
                       ServingFigures(page, serving, BaselineServing(page, cell.key, serving.name)));
  }
  return text + FigureGrid(page.say("Trends"), TrendFigures(page, cell.key));
}

}  // namespace

std::string PlotSection(const Page& page) {
  std::vector<const CellRecord*> cells = page.cells;
  std::stable_partition(cells.begin(), cells.end(), [&](const CellRecord* cell) {
    return CellOutcome(page, cell->key) != record::Outcome::kPass;
  });
  const size_t left_out = cells.size() > kCellsWithPlots ? cells.size() - kCellsWithPlots : 0;
  cells.resize(cells.size() - left_out);
  std::string text;
  for (const CellRecord* cell : cells) {
    const std::string plots = CellPlots(page, *cell);
    if (plots.empty()) continue;
    const std::string name = page.markup.Code(cell->key);
    const bool passes = CellOutcome(page, cell->key) == record::Outcome::kPass;
    text += !page.ManyCells() ? plots
            : passes          ? page.markup.Folded(name, plots)
                              : "<h3>" + name + "</h3>\n" + plots;
  }
  if (left_out > 0)
    text += page.markup.Paragraph(page.say("{} further cells are without plots here.", left_out));
  return page.markup.Section(page.say("Plots"), text);
}

}  // namespace assay::reports
