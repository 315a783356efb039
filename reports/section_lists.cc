#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "reports/check_names.h"
#include "reports/judgement.h"
#include "reports/place.h"
#include "reports/sections.h"

namespace assay::reports {
namespace {

using record::CellRecord;
using record::Check;
using record::Outcome;

bool IsFail(const Check& check) {
  return check.outcome == Outcome::kFail;
}
bool IsOtherProblem(const Check& check) {
  return check.outcome == Outcome::kInvalid || check.outcome == Outcome::kInfrastructure;
}
bool IsUndecided(const Check& check) {
  return check.outcome == Outcome::kInconclusive;
}

std::string Heading(const Page& page, const Check& check) {
  return CellPrefix(page, check.cell) + page.markup.Outcome(check.outcome, record::Name(check.outcome)) +
         " " + page.markup.Code(CheckName(page.say, check));
}

std::string Bullet(const Page& page, const Check& check) {
  const bool is_short = page.Leaves(Cut::kLongText);
  const size_t all = check.details.size();
  const size_t shown = page.Leaves(Cut::kTables) ? 0 : std::min<size_t>(all, is_short ? 1 : all);
  std::vector<std::string> details;
  for (size_t i = 0; i < shown; ++i) details.push_back(page.markup.Text(page.say.Verdict(check.details[i])));
  page.omitted.long_texts += static_cast<int64_t>(all - shown);
  const std::string reason = page.markup.Text(page.say.Verdict(check.reason), is_short ? 160 : 600);
  return page.markup.Item(Heading(page, check) + page.say(": {}", reason), details);
}

std::string Bullets(const Page& page, bool (*wanted)(const Check&)) {
  std::string text;
  for (const Check& check : page.input.verdict.checks) {
    if (check.primary && wanted(check)) text += Bullet(page, check);
  }
  return text;
}

// Without reasons: the cells that fail in the same checks, twenty to a line.
std::string CellsByFailure(const Page& page) {
  constexpr size_t kCellsALine = 20;
  std::vector<std::string> failures;  // in the order of their first cell
  std::map<std::string, std::vector<std::string>> cells;
  const auto add = [&](const std::string& cell) {
    std::vector<std::string> names;
    for (const Check* check : page.ChecksOf(cell)) {
      if (check->primary && IsFail(*check)) names.push_back(page.markup.Code(CheckName(page.say, *check)));
    }
    if (names.empty()) return;
    const std::string failure = Join(names, ", ");
    if (!cells.contains(failure)) failures.push_back(failure);
    cells[failure].push_back(cell.empty() ? page.say("the run") : page.markup.Code(cell));
  };
  add("");
  for (const CellRecord& cell : page.input.record.cells) add(cell.key);
  std::string items;
  for (const std::string& failure : failures) {
    const std::vector<std::string>& of = cells[failure];
    for (size_t i = 0; i < of.size(); i += kCellsALine) {
      const std::vector<std::string> line(
          of.begin() + static_cast<std::ptrdiff_t>(i),
          of.begin() + static_cast<std::ptrdiff_t>(std::min(i + kCellsALine, of.size())));
      items += page.markup.Item(page.markup.Outcome(Outcome::kFail, record::Name(Outcome::kFail)) + " " +
                                failure + page.say(": {}", Join(line, ", ")));
    }
  }
  return items;
}

// Where no reason fits: the checks that are not measurements of the change, by what they have in common.
std::string Counted(const Page& page, Outcome outcome) {
  std::map<std::string, int64_t> counts;
  for (const Check& check : page.input.verdict.checks) {
    if (check.primary && check.outcome == outcome) ++counts[CheckName(page.say, check)];
  }
  std::string text;
  for (const auto& [name, count] : counts) {
    text += page.markup.Item(page.markup.Outcome(outcome, record::Name(outcome)) + " " +
                             page.markup.Code(name) + page.say(": {}", page.say("{} times", count)));
  }
  return text;
}

std::vector<std::string> Shortened(const Page& page, const std::vector<std::string>& lines, size_t limit) {
  if (!page.Leaves(Cut::kLongText) || lines.size() <= limit) return lines;
  page.omitted.long_texts += static_cast<int64_t>(lines.size() - limit);
  return {lines.end() - static_cast<std::ptrdiff_t>(limit), lines.end()};
}

// At most `limit` items where the page is short of room.
std::string FirstItems(const Page& page, const std::vector<std::string>& items, size_t limit) {
  std::string text;
  const size_t shown = page.Leaves(Cut::kLongText) ? std::min(limit, items.size()) : items.size();
  for (size_t i = 0; i < shown; ++i) text += items[i];
  page.omitted.long_texts += static_cast<int64_t>(items.size() - shown);
  return text;
}

}  // namespace

std::string ProblemSection(const Page& page) {
  std::string items;
  if (page.Leaves(Cut::kReasons)) {
    items = CellsByFailure(page) + Counted(page, Outcome::kInvalid) + Counted(page, Outcome::kInfrastructure);
  } else {
    items = Bullets(page, IsFail) + Bullets(page, IsOtherProblem);
  }
  return page.markup.Section(page.say("What is wrong"), page.markup.List(items));
}

std::string UndecidedSection(const Page& page) {
  const std::string items =
      page.Leaves(Cut::kTables) ? Counted(page, Outcome::kInconclusive) : Bullets(page, IsUndecided);
  return page.markup.Section(page.say("What could not be decided"), page.markup.List(items));
}

std::string ImprovementSection(const Page& page) {
  const std::string title = page.say("Improvements");
  if (!page.Leaves(Cut::kPassRows)) {
    return page.markup.Section(
        title, page.markup.List(Bullets(page, [](const Check& check) { return check.improved; })));
  }
  const int64_t improved = CountChecks(page.input.verdict).improved;
  if (improved == 0) return "";
  return page.markup.Section(
      title, page.markup.Paragraph(page.say("{} checks are better by more than the margin.", improved)));
}

// What is said of several cells is said once.
std::string NotesSection(const Page& page) {
  if (page.Leaves(Cut::kTables)) return "";
  std::vector<std::string> texts;
  std::map<std::string, std::vector<std::string>> cells;
  for (const record::VerdictNote& note : page.input.verdict.notes) {
    if (!cells.contains(note.text)) texts.push_back(note.text);
    cells[note.text].push_back(note.cell);
  }
  std::vector<std::string> items;
  for (const std::string& text : texts) {
    const std::vector<std::string>& of = cells[text];
    const std::string prefix = of.size() == 1                  ? CellPrefix(page, of.front())
                               : of.size() < page.cells.size() ? page.say("{} cells: ", of.size())
                                                               : "";
    items.push_back(page.markup.Item(prefix + page.markup.Text(page.say.Verdict(text))));
  }
  return page.markup.Section(page.say("Notes"), page.markup.List(FirstItems(page, items, 10)));
}

std::string ServerLogSection(const Page& page) {
  const Markup& markup = page.markup;
  std::vector<std::string> logs;
  for (const CellRecord* cell : page.cells) {
    if (!cell->server.failure || page.Leaves(Cut::kTables)) continue;
    const record::ServerFailure& failure = *cell->server.failure;
    if (failure.log_tail.empty()) {
      logs.push_back(markup.Paragraph(page.say("The server of {} left no log.", markup.Code(cell->key))));
      continue;
    }
    const std::vector<std::string> tail = Shortened(page, failure.log_tail, 5);
    logs.push_back(markup.Folded(
        page.say("last {} lines of the server log of {}", tail.size(), markup.Text(cell->key)),
        markup.CodeBlock(tail, "text") +
            markup.Paragraph(page.say("Whole log: {}", markup.Code(cell->server.log_file))) +
            markup.Paragraph(page.say("Command: {}", markup.Code(ShellJoin(cell->server.argv))))));
  }
  return FirstItems(page, logs, 5);
}

std::string ReproduceSection(const Page& page) {
  std::vector<std::string> commands;
  if (!page.input.record.command.empty()) commands.push_back(ShellJoin(page.input.record.command));
  for (const CellRecord* cell : page.cells) {
    if (!page.ManyCells() || cell->config_file.empty()) continue;
    const Outcome outcome = CellOutcome(page, cell->key);
    if (outcome == Outcome::kPass || outcome == Outcome::kInconclusive) continue;
    std::vector<std::string> argv = {"assay", "run", cell->config_file};
    if (!cell->suite.empty()) argv.insert(argv.end(), {"--suite", cell->suite});
    const std::string command = ShellJoin(argv);
    const bool known = std::find(commands.begin(), commands.end(), command) != commands.end();
    if (!known && commands.size() < 20) commands.push_back(command);
  }
  if (page.Leaves(Cut::kTables)) commands.resize(std::min<size_t>(commands.size(), 1));
  return commands.empty() ? ""
                          : page.markup.Section(page.say("Reproduce"), page.markup.CodeBlock(commands, "sh"));
}

}  // namespace assay::reports
