#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "reports/accuracy_text.h"
#include "reports/check_names.h"
#include "reports/display_width.h"
#include "reports/numbers.h"
#include "reports/report.h"
#include "reports/text_line.h"
#include "reports/view.h"

namespace assay::reports {
namespace {

using record::Check;
using record::Outcome;

constexpr char kReset[] = "\x1b[0m";

const char* Colour(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPass:
      return "\x1b[32m";
    case Outcome::kFail:
      return "\x1b[1;31m";
    case Outcome::kInconclusive:
      return "\x1b[33m";
    default:
      return "\x1b[35m";
  }
}

std::string Painted(const std::string& text, Outcome outcome, bool colour) {
  return colour ? Colour(outcome) + text + kReset : text;
}

bool InTable(const Check& check) {
  if (check.rule == "not_judged") return true;
  if (!check.acknowledged.empty()) return true;
  if (!check.primary) return false;
  return check.rule == "performance" || check.rule == "paired" || check.rule == "unpaired" ||
         check.rule == "threshold" || check.rule == "broken_line" || check.group == "reproducibility";
}

struct Line {
  std::vector<std::string> cells;  // the last one is the verdict
  Outcome outcome = Outcome::kPass;
};

std::string Padded(const std::string& text, size_t width) {
  return text + std::string(width - std::min(width, DisplayWidth(text)), ' ');
}

std::string Table(const std::vector<Line>& lines, bool colour) {
  std::vector<size_t> widths;
  for (const Line& line : lines) {
    widths.resize(std::max(widths.size(), line.cells.size()));
    for (size_t i = 0; i < line.cells.size(); ++i)
      widths[i] = std::max(widths[i], DisplayWidth(line.cells[i]));
  }
  std::string text;
  for (const Line& line : lines) {
    text += " ";
    for (size_t i = 0; i + 1 < line.cells.size(); ++i) text += " " + Padded(line.cells[i], widths[i]) + " ";
    const bool head = &line == &lines.front();
    text += " " + (head ? line.cells.back() : Painted(line.cells.back(), line.outcome, colour)) + "\n";
  }
  return text;
}

std::string CellTable(const View& view, const std::string& cell, bool colour) {
  const Say& say = view.say;
  std::vector<Line> lines = {{{say("check"), say.Word(view.base_name), say.Word(view.head_name),
                               say("change"), say("95 %"), say("margin"), say("verdict")}}};
  for (const Check* check : view.ChecksOf(cell)) {
    if (!InTable(*check)) continue;
    lines.push_back(
        {{CheckName(say, *check), BaselineText(say, *check), ValueText(say, *check), ChangeText(say, *check),
          IntervalText(say, *check), MarginText(say, *check), VerdictText(say, *check)},
         check->outcome});
  }
  return lines.size() == 1 ? "" : Table(lines, colour);
}

std::string AccuracyText(const Say& say, const record::CellRecord& cell) {
  std::string text;
  if (!cell.accuracy) return text;
  for (const std::string& line : AccuracyLines(say, *cell.accuracy))
    text += fmt::format("  {}: {}\n", cell.accuracy->eval, Printable(line));
  return text;
}

std::string ValidityLine(const View& view, const std::string& cell) {
  int64_t all = 0, hold = 0, open = 0;
  for (const Check* check : view.ChecksOf(cell)) {
    if (check->group != "validity") continue;
    open += StartsWith(check->reason, "not possible: ");
    if (!check->primary) continue;
    ++all;
    hold += check->outcome == Outcome::kPass;
  }
  if (all + open == 0) return "";
  const std::string text = view.say("{} of {} validity checks hold", hold, all);
  return "  " + text + (open > 0 ? view.say(", {} not possible", open) : "") + "\n";
}

// What the table cannot say: why, for everything that is not a pass.
std::string Reasons(const View& view, const std::string& cell, bool colour) {
  std::string text;
  for (const Check* check : view.ChecksOf(cell)) {
    if (!check->primary || check->outcome == Outcome::kPass) continue;
    text += fmt::format("  {} {}: {}\n", Painted(record::Name(check->outcome), check->outcome, colour),
                        CheckName(view.say, *check), Printable(view.say.Verdict(check->reason)));
    for (const std::string& detail : check->details)
      text += "      " + Printable(AtMost(view.say.Verdict(detail), 600)) + "\n";
  }
  for (const record::VerdictNote& note : view.input.verdict.notes) {
    if (note.cell == cell) text += "  " + view.say("note: {}", Printable(view.say.Verdict(note.text))) + "\n";
  }
  return text;
}

}  // namespace

std::string RenderTerminal(const ReportInput& input, bool colour) {
  const View view(input);
  std::string text;
  for (const record::CellRecord* cell : view.cells) {
    text += Printable(cell->key) + "\n" + CellTable(view, cell->key, colour) + AccuracyText(view.say, *cell) +
            ValidityLine(view, cell->key) + Reasons(view, cell->key, colour);
  }
  for (const record::CellRecord& cell : input.record.cells) {
    const bool shown = std::any_of(view.cells.begin(), view.cells.end(),
                                   [&](const record::CellRecord* other) { return other->key == cell.key; });
    const std::string reasons = shown ? "" : Reasons(view, cell.key, colour);
    if (!reasons.empty()) text += Printable(cell.key) + "\n" + reasons;
  }
  text += Reasons(view, "", colour);  // of the run as a whole
  return text + Painted(Printable(view.say.Verdict(input.verdict.headline)), input.verdict.outcome, colour);
}

}  // namespace assay::reports
