#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "reports/definitions.h"
#include "reports/environment_text.h"
#include "reports/numbers.h"
#include "reports/place.h"
#include "reports/sections.h"

namespace assay::reports {
namespace {

using record::Check;
using record::Outcome;

std::string ValidityRow(const Page& page, const Check& check) {
  const auto number = [&](const std::optional<double>& value) {
    return value ? Quantity(*value, check.unit) : "";
  };
  const std::string word = check.outcome == Outcome::kPass ? page.say("holds")
                           : check.outcome == Outcome::kInvalid
                               ? page.markup.Outcome(Outcome::kInvalid, record::Name(Outcome::kInvalid))
                               : page.say("observation");
  return page.markup.Row(
      WithCell(page, check.cell,
               {page.markup.Code(check.metric), number(check.value), number(check.reference), word,
                page.markup.Text(page.say.Verdict(check.reason))}));
}

}  // namespace

std::string EnvironmentSection(const Page& page) {
  const record::Verdict& verdict = page.input.verdict;
  if (verdict.environment.empty() || page.Leaves(Cut::kTables)) return "";
  const Say& say = page.say;
  const size_t all = verdict.environment.size();
  const size_t shown = page.Leaves(Cut::kLongText) ? std::min<size_t>(all, 10) : all;
  page.omitted.long_texts += static_cast<int64_t>(all - shown);
  std::string rows;
  for (size_t i = 0; i < shown; ++i) {
    const record::FingerprintDifference& difference = verdict.environment[i];
    rows += page.markup.Row(
        {page.markup.Code(difference.field), page.markup.Text(ShownField(say, difference.ours), 80),
         page.markup.Text(ShownField(say, difference.theirs), 80), EffectOf(say, difference)});
  }
  const std::string table =
      page.markup.Table({say("field"), page.HeadName(), page.BaseName(), say("effect")}, rows);
  if (verdict.outcome == Outcome::kPass)
    return page.markup.Folded(say("environment: fields that differ from the baseline: {}", all), table);
  const std::string intro = say("What else changed since the baseline, any of which may explain a change:");
  return page.markup.Section(say("Environment differences"), page.markup.Paragraph(intro) + table);
}

std::string ValiditySection(const Page& page) {
  std::string rows;
  int64_t hold = 0, broken = 0, other = 0;
  for (const Check& check : page.input.verdict.checks) {
    if (check.group != "validity") continue;
    hold += check.outcome == Outcome::kPass;
    broken += check.outcome == Outcome::kInvalid;
    other += check.outcome == Outcome::kInconclusive;
    const bool left_out =
        check.outcome != Outcome::kInvalid ? page.Leaves(Cut::kHeldChecks) : page.Leaves(Cut::kTables);
    page.omitted.held_checks += left_out && check.outcome != Outcome::kInvalid;
    if (!left_out) rows += ValidityRow(page, check);
  }
  if (hold + broken + other == 0) return "";
  const Say& say = page.say;
  std::string summary = say("validity checks: {} hold", hold);
  if (broken > 0) summary += say(", {} do not", broken);
  if (other > 0) summary += say(", {} observations", other);
  if (rows.empty()) return "";
  const std::vector<std::string> head =
      WithCellName(page, {say("check"), say("value"), say("reference"), "", say("measured")});
  return page.markup.Folded(summary, page.markup.Table(head, rows));
}

std::string DefinitionsSection(const Page& page) {
  if (page.Leaves(Cut::kLongText)) return "";
  std::string items;
  for (const Definition& definition : Definitions()) {
    items += page.markup.Item(page.markup.Strong(page.say.Word(definition.word)) +
                              page.markup.Text(page.say.Word(definition.meaning)));
  }
  return page.markup.Folded(page.say("definitions"), page.markup.List(items));
}

}  // namespace assay::reports
