#include <fmt/format.h>

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

// Plain text.
std::string Machine(const Say& say, const record::Fingerprint& fingerprint) {
  if (fingerprint.device.empty() && fingerprint.devices == 0) return say("a machine that is not stated");
  return say("{} ({} x {})", fingerprint.hardware, fingerprint.devices,
             fingerprint.device.empty() ? say("unknown device") : fingerprint.device);
}

std::string CellLine(const Page& page, const CellRecord& cell) {
  const std::string engine =
      cell.fingerprint.engine.empty() ? "" : page.say(", {}", page.markup.Text(cell.fingerprint.engine));
  return page.say("{} on {}{}", page.markup.Code(cell.key),
                  page.markup.Text(Machine(page.say, cell.fingerprint)), engine);
}

std::string RunLine(const Page& page) {
  const record::RunRecord& record = page.input.record;
  std::string line = page.say("Run {} of {}", page.markup.Code(record.id), page.markup.Text(record.created));
  if (!record.commit.empty()) line += page.say(", commit {}", page.markup.Code(record.commit.substr(0, 12)));
  if (!record.branch.empty()) line += page.say(" on {}", page.markup.Code(record.branch));
  line += page.say(", assay {} ({})", page.markup.Text(record.assay_version),
                   page.markup.Text(record.assay_commit));
  for (const auto& [name, url] :
       {std::pair{page.say("job"), page.input.links.job}, {page.say("files"), page.input.links.artifacts}}) {
    if (const std::string link = page.markup.Link(name, url); !link.empty()) line += " · " + link;
  }
  return page.markup.Paragraph(line);
}

// "`128x32 tpot_p50_ms`, `gpqa_score, threshold` and 2 more".
std::string Causes(const Page& page, const std::string& cell, Outcome outcome) {
  std::vector<std::string> names;
  for (const Check* check : page.ChecksOf(cell)) {
    if (check->primary && check->outcome == outcome) names.push_back(CheckName(page.say, *check));
  }
  return NameList(page, names, 3);
}

std::string AffectedRow(const Page& page, const CellRecord& cell, Outcome outcome) {
  const bool passes = outcome == Outcome::kPass;
  const std::string backend =
      cell.server.moe_backend.empty() ? "" : page.markup.Code(cell.server.moe_backend);
  return page.markup.Row(
      {page.markup.Code(cell.key), page.markup.Text(Machine(page.say, cell.fingerprint)), backend,
       passes ? record::Name(outcome) : page.markup.Outcome(outcome, record::Name(outcome)),
       passes ? "" : Causes(page, cell.key, outcome)});
}

std::string Labelled(const Page& page, const std::string& label, const std::string& text) {
  return page.markup.Item(page.markup.Strong(label) + " " + text);
}

std::string AffectedItem(const Page& page) {
  const Say& say = page.say;
  if (page.cells.empty()) return "";
  if (!page.ManyCells()) return Labelled(page, say("Affected config:"), CellLine(page, *page.cells.front()));
  const size_t passing = CellsThat(page, Outcome::kPass).size();
  return Labelled(page, say("Affected configs:"),
                  say("{} of {}", page.cells.size() - passing, page.cells.size()));
}

// The configs that are affected stand in the open, the others are folded.
std::string AffectedTables(const Page& page) {
  if (!page.ManyCells() || page.Leaves(Cut::kTables)) return "";
  const Say& say = page.say;
  std::string affected, others;
  int64_t passing = 0;
  for (const CellRecord* cell : page.cells) {
    const Outcome outcome = CellOutcome(page, cell->key);
    const bool passes = outcome == Outcome::kPass;
    passing += passes;
    if (page.Leaves(Cut::kPassRows) && passes) continue;
    (passes ? others : affected) += AffectedRow(page, *cell, outcome);
  }
  const std::vector<std::string> head = {say("config"), say("machine"), say("backend"), say("verdict"),
                                         say("because of")};
  return (affected.empty() ? "" : page.markup.Table(head, affected)) +
         (others.empty()
              ? ""
              : page.markup.Folded(say("configs that pass: {}", passing), page.markup.Table(head, others)));
}

std::string Flags(const Page& page) {
  std::vector<std::string> words;
  for (std::string_view flag : RiskFlags(page)) words.push_back(page.markup.Code(page.say.Word(flag)));
  return words.empty() ? page.say("none") : Join(words, " · ");
}

}  // namespace

std::string HeadSection(const Page& page) {
  const record::Verdict& verdict = page.input.verdict;
  const CheckCounts counts = CountChecks(verdict);
  std::string text = page.say(
      "{} checks: {} fail, {} invalid, {} inconclusive, {} pass ({} improved).",
      counts.fail + counts.invalid + counts.infrastructure + counts.inconclusive + counts.pass, counts.fail,
      counts.invalid + counts.infrastructure, counts.inconclusive, counts.pass, counts.improved);
  if (counts.not_judged > 0) text += " " + page.say("{} were not judged.", counts.not_judged);
  text += " " + page.say("{} of {} validity checks hold.", counts.validity_holds, counts.validity);
  text += " " + page.say("Exit code {}.", verdict.exit_code);
  return page.markup.Headline(verdict.outcome, Symbol(verdict), page.say.Verdict(verdict.headline)) +
         page.markup.Paragraph(text) + RunLine(page);
}

std::string SummarySection(const Page& page) {
  const Say& say = page.say;
  const std::string items = Labelled(page, say("In a sentence:"), InOneSentence(page)) +
                            Labelled(page, say("Recommended action:"), RecommendedAction(page)) +
                            Labelled(page, say("Risk flags:"), Flags(page)) + AffectedItem(page);
  return page.markup.Section(say("Executive summary"), page.markup.List(items) + AffectedTables(page));
}

}  // namespace assay::reports
