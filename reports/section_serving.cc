#include <fmt/format.h>

#include <algorithm>

#include "reports/check_names.h"
#include "reports/lanes.h"
#include "reports/load_text.h"
#include "reports/numbers.h"
#include "reports/place.h"
#include "reports/sections.h"

namespace assay::reports {
namespace {

using record::Check;
using record::Outcome;
using record::ServingRecord;

// More lanes than a page is wide stand below each other instead.
constexpr size_t kLanesBeside = 4;

bool Beside(const LaneGroup& group) {
  return group.lanes.size() > 1 && group.lanes.size() <= kLanesBeside;
}

bool IsOpen(const Check& check) {
  return check.primary || check.rule == "not_judged" || !check.acknowledged.empty();
}

bool IsLoud(const Check& check) {
  return check.outcome != Outcome::kPass && (check.primary || !check.acknowledged.empty());
}

bool IsLoud(const Lane& lane) {
  return std::any_of(lane.checks.begin(), lane.checks.end(),
                     [](const Check* check) { return IsLoud(*check); });
}

std::string Requests(const ServingRecord* serving) {
  if (serving == nullptr) return "";
  if (serving->stated) return fmt::format("{} / {}", serving->stated->completed, serving->stated->failed);
  const auto failed = std::count_if(serving->requests.begin(), serving->requests.end(),
                                    [](const record::RequestTiming& r) { return !r.error.empty(); });
  return fmt::format("{} / {}", static_cast<int64_t>(serving->requests.size()) - failed, failed);
}

// Both arms of each lane beside each other, as figures alone.
std::string FigureTable(const Page& page, const LaneGroup& group) {
  const Say& say = page.say;
  std::vector<std::string> head = {say("metric")};
  for (const std::string& arm : {page.base_name, page.head_name}) {
    for (const Lane& lane : group.lanes)
      head.push_back(page.markup.Text(say.Word(arm)) + " " + page.markup.Text(lane.name));
  }
  std::vector<std::string> requests = {say("requests completed / failed")};
  for (const Lane& lane : group.lanes) requests.push_back(Requests(lane.baseline));
  for (const Lane& lane : group.lanes) requests.push_back(Requests(lane.serving));
  std::string rows = page.markup.Row(requests);
  for (const std::string& metric : MetricsOf(group)) {
    std::vector<std::string> row = {page.markup.Code(metric)};
    for (const auto cell_text : {BaselineText, ValueText}) {
      for (const Lane& lane : group.lanes) {
        const Check* check = CheckOf(lane, metric);
        row.push_back(check == nullptr ? "" : cell_text(say, *check));
      }
    }
    rows += page.markup.Row(row);
  }
  return page.markup.Table(head, rows);
}

std::vector<std::string> Judged(const Page& page, const Check& check) {
  const Say& say = page.say;
  return {ChangeText(say, check), IntervalText(say, check), MarginText(say, check), FindsText(say, check),
          LoudVerdict(page, check)};
}

// What is concluded from each metric of each lane; `open` ones decide, the others are observations.
std::string JudgedRows(const Page& page, const LaneGroup& group, bool open) {
  const Say& say = page.say;
  std::string rows;
  for (const std::string& metric : MetricsOf(group)) {
    for (const Lane& lane : group.lanes) {
      const Check* check = CheckOf(lane, metric);
      if (check == nullptr || IsOpen(*check) != open) continue;
      const bool left_out =
          open ? page.Leaves(Cut::kPassRows) && !IsLoud(*check) : page.Leaves(Cut::kHeldChecks);
      (open ? page.omitted.pass_rows : page.omitted.observations) += left_out;
      if (left_out) continue;
      std::vector<std::string> columns = {page.markup.Text(group.shape), page.markup.Code(metric)};
      if (page.ManyCells()) columns.push_back(page.markup.Text(lane.name));
      if (!Beside(group)) columns = Prepend(columns, {BaselineText(say, *check), ValueText(say, *check)});
      rows += page.markup.Row(Prepend(columns, Judged(page, *check)));
    }
  }
  return rows;
}

std::string JudgedTable(const Page& page, const LaneGroup& group, bool open) {
  const std::string rows = JudgedRows(page, group, open);
  if (rows.empty()) return "";
  const Say& say = page.say;
  std::vector<std::string> head = {say("shape"), say("metric")};
  if (page.ManyCells()) head.push_back(say("variant"));
  if (!Beside(group)) head = Prepend(head, {page.BaseName(), page.HeadName()});
  const std::vector<std::string> tail = {say("change"), say("95 % interval"), say("margin"),
                                         say("finds from"), say("verdict")};
  return page.markup.Table(Prepend(head, tail), rows);
}

// Each reason once, where primary metrics of the benchmark were not judged.
std::string WhyNotJudged(const Page& page, const Lane& lane) {
  std::string reason;
  for (const Check* check : lane.checks) {
    if (check->rule == "not_judged") reason = check->reason;
  }
  return reason.empty() ? ""
                        : page.say("; {}", page.markup.Strong(page.markup.Text(page.say.Verdict(reason))));
}

std::string LoadLines(const Page& page, const LaneGroup& group) {
  std::string items;
  for (const Lane& lane : group.lanes) {
    if (page.Leaves(Cut::kHeldChecks) && !IsLoud(lane)) continue;
    items += page.markup.Item(CellPrefix(page, lane.cell->key) + page.markup.Text(lane.serving->name) +
                              page.say(": {}", page.markup.Text(LoadText(page.say, *lane.serving))) +
                              WhyNotJudged(page, lane));
  }
  return page.markup.List(items);
}

}  // namespace

std::string ServingSection(const Page& page) {
  if (page.Leaves(Cut::kTables)) return "";
  std::string open, observations;
  for (const LaneGroup& group : LanesByShape(page)) {
    if (Beside(group)) {
      const bool loud =
          std::any_of(group.lanes.begin(), group.lanes.end(), [](const Lane& lane) { return IsLoud(lane); });
      open += page.markup.Paragraph(page.markup.Strong(page.markup.Text(group.shape)) + ", " +
                                    page.markup.Text(group.machine));
      if (loud || !page.Leaves(Cut::kPassRows)) open += FigureTable(page, group);
    }
    open += JudgedTable(page, group, true) + LoadLines(page, group);
    observations += JudgedTable(page, group, false);
  }
  if (open.empty() && observations.empty()) return "";
  return page.markup.Section(page.say("Serving"), open) +
         (observations.empty()
              ? ""
              : page.markup.Folded(page.say("observations (they decide nothing)"), observations));
}

}  // namespace assay::reports
