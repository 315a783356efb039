#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "reports/accuracy_text.h"
#include "reports/check_names.h"
#include "reports/numbers.h"
#include "reports/place.h"
#include "reports/sections.h"

namespace assay::reports {
namespace {

using record::CellRecord;
using record::Check;
using record::Outcome;

// The checks of one score of one cell: all are about the same answers, so they share a row.
struct ScoreRow {
  std::string metric;
  const Check* paired = nullptr;  // against the baseline
  const Check* threshold = nullptr;
  const Check* chance = nullptr;
};

std::vector<ScoreRow> RowsOf(const Page& page, const std::string& cell) {
  std::vector<ScoreRow> rows;
  for (const Check* check : page.ChecksOf(cell)) {
    if (check->group != "accuracy" || check->rule == "baseline") continue;
    auto row =
        std::find_if(rows.begin(), rows.end(), [&](const ScoreRow& r) { return r.metric == check->metric; });
    if (row == rows.end()) row = rows.insert(rows.end(), ScoreRow{check->metric});
    (check->rule == "threshold"     ? row->threshold
     : check->rule == "broken_line" ? row->chance
                                    : row->paired) = check;
  }
  return rows;
}

bool IsQuiet(const ScoreRow& row) {
  const auto quiet = [](const Check* check) {
    return check == nullptr || check->outcome == Outcome::kPass ||
           (!check->primary && check->acknowledged.empty());
  };
  return quiet(row.paired) && quiet(row.threshold) && quiet(row.chance);
}

std::string LimitCell(const Page& page, const ScoreRow& row) {
  if (row.chance && row.chance->outcome == Outcome::kFail)
    return page.say("near chance") + " " + page.markup.Outcome(Outcome::kFail, record::Name(Outcome::kFail));
  if (!row.threshold) return "";
  return BaselineText(page.say, *row.threshold) + page.say(": {}", LoudVerdict(page, *row.threshold));
}

std::vector<std::string> Columns(const Page& page, const ScoreRow& row) {
  const Say& say = page.say;
  const Check* any = row.paired ? row.paired : row.threshold ? row.threshold : row.chance;
  if (!row.paired) return {"", ValueText(say, *any), "", "", "", "", "", LimitCell(page, row)};
  const Check& paired = *row.paired;
  return {BaselineText(say, paired), ValueText(say, paired),  ChangeText(say, paired),
          IntervalText(say, paired), MarginText(say, paired), FindsText(say, paired),
          LoudVerdict(page, paired), LimitCell(page, row)};
}

std::string RowName(const Page& page, const CellRecord& cell, const ScoreRow& row, size_t rows) {
  if (!page.ManyCells()) return row.metric;
  return rows == 1 ? cell.key : cell.key + " " + row.metric;
}

std::string CountLines(const Page& page, const CellRecord& cell) {
  std::string text;
  for (const std::string& line : AccuracyLines(page.say, *cell.accuracy))
    text += page.markup.Item(CellPrefix(page, cell.key) + page.markup.Text(line));
  return text;
}

}  // namespace

std::string AccuracySection(const Page& page) {
  if (page.Leaves(Cut::kTables)) return "";
  const Say& say = page.say;
  std::string rows, counts;
  for (const CellRecord* cell : page.cells) {
    bool loud = false;
    const auto all = RowsOf(page, cell->key);
    for (const ScoreRow& row : all) {
      loud |= !IsQuiet(row);
      if (IsQuiet(row) && page.Leaves(Cut::kPassRows)) {
        ++page.omitted.pass_rows;
        continue;
      }
      rows += page.markup.Row(
          Prepend({page.markup.Code(RowName(page, *cell, row, all.size()))}, Columns(page, row)));
    }
    if (cell->accuracy && (loud || !page.Leaves(Cut::kHeldChecks))) counts += CountLines(page, *cell);
  }
  if (rows.empty() && counts.empty()) return "";
  const std::vector<std::string> head = {page.ManyCells() ? say("variant") : say("score"),
                                         page.BaseName(),
                                         page.HeadName(),
                                         say("change"),
                                         say("95 % interval"),
                                         say("margin"),
                                         say("finds from"),
                                         say("verdict"),
                                         say("limit")};
  const std::string table = rows.empty() ? "" : page.markup.Table(head, rows);
  const std::string list = page.markup.List(counts);
  const bool fold = page.cells.size() > 3 && !list.empty();
  return page.markup.Section(
      say("Accuracy"), table + (fold ? page.markup.Folded(say("samples, graders and domains"), list) : list));
}

}  // namespace assay::reports
