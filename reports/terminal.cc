#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "reports/accuracy_text.h"
#include "reports/check_names.h"
#include "reports/numbers.h"
#include "reports/report.h"

namespace assay::reports {
namespace {

using record::Check;
using record::Outcome;
using record::RunRecord;
using record::Verdict;

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
  if (!check.primary) return false;
  return check.rule == "performance" || check.rule == "paired" || check.rule == "unpaired" ||
         check.rule == "threshold" || check.rule == "broken_line";
}

struct Line {
  std::vector<std::string> cells;  // the last one is the verdict
  Outcome outcome = Outcome::kPass;
};

std::string Table(const std::vector<Line>& lines, bool colour) {
  std::vector<size_t> widths;
  for (const Line& line : lines) {
    widths.resize(std::max(widths.size(), line.cells.size()));
    for (size_t i = 0; i < line.cells.size(); ++i) widths[i] = std::max(widths[i], line.cells[i].size());
  }
  std::string text;
  for (const Line& line : lines) {
    text += " ";
    for (size_t i = 0; i + 1 < line.cells.size(); ++i)
      text += fmt::format(" {:<{}} ", line.cells[i], widths[i]);
    const bool head = &line == &lines.front();
    text += " " + (head ? line.cells.back() : Painted(line.cells.back(), line.outcome, colour)) + "\n";
  }
  return text;
}

std::string CellTable(const Verdict& verdict, const std::string& cell, bool colour) {
  std::vector<Line> lines = {{{"check", "baseline", "this run", "change", "95 %", "margin", "verdict"}}};
  for (const Check& check : verdict.checks) {
    if (check.cell != cell || !InTable(check)) continue;
    lines.push_back({{CheckName(check), BaselineText(check), ValueText(check), ChangeText(check),
                      IntervalText(check), MarginText(check), VerdictText(check)},
                     check.outcome});
  }
  return lines.size() == 1 ? "" : Table(lines, colour);
}

std::string AccuracyText(const record::CellRecord& cell) {
  std::string text;
  if (!cell.accuracy) return text;
  for (const std::string& line : AccuracyLines(*cell.accuracy))
    text += fmt::format("  {}: {}\n", cell.accuracy->eval, Printable(line));
  return text;
}

std::string ValidityLine(const Verdict& verdict, const std::string& cell) {
  int64_t all = 0, hold = 0, open = 0;
  for (const Check& check : verdict.checks) {
    if (check.cell != cell || check.group != "validity") continue;
    open += StartsWith(check.reason, "not possible: ");
    if (!check.primary) continue;
    ++all;
    hold += check.outcome == Outcome::kPass;
  }
  if (all + open == 0) return "";
  return fmt::format("  {} of {} validity checks hold{}\n", hold, all,
                     open > 0 ? fmt::format(", {} not possible", open) : "");
}

// What the table cannot say: why, for everything that is not a pass.
std::string Reasons(const Verdict& verdict, const std::string& cell, bool colour) {
  std::string text;
  for (const Check& check : verdict.checks) {
    if (check.cell != cell || !check.primary || check.outcome == Outcome::kPass) continue;
    text += fmt::format("  {} {}: {}\n", Painted(record::Name(check.outcome), check.outcome, colour),
                        CheckName(check), Printable(check.reason));
    for (const std::string& detail : check.details) text += "      " + Printable(detail) + "\n";
  }
  for (const record::VerdictNote& note : verdict.notes) {
    if (note.cell == cell) text += "  note: " + Printable(note.text) + "\n";
  }
  return text;
}

}  // namespace

std::string RenderTerminal(const RunRecord& record, const Verdict& verdict, bool colour) {
  std::string text;
  for (const record::CellRecord& cell : record.cells) {
    text += Printable(cell.key) + "\n" + CellTable(verdict, cell.key, colour) + AccuracyText(cell) +
            ValidityLine(verdict, cell.key) + Reasons(verdict, cell.key, colour);
  }
  text += Reasons(verdict, "", colour);  // of the run as a whole
  return text + Painted(Printable(verdict.headline), verdict.outcome, colour);
}

}  // namespace assay::reports
