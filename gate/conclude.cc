#include "gate/conclude.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"
#include "gate/acknowledge.h"
#include "gate/family.h"
#include "gate/fold.h"

namespace assay::gate {
namespace {

using record::Check;
using record::Outcome;
using record::Verdict;

// A run without a cell measured nothing, and a run that did not reach its end must not pass because the rest
// of it looks well.
void AddRunCheck(const record::RunRecord& record, Verdict& verdict) {
  const bool ended =
      record.status == "complete" || record.status == "failed" || record.status == "interrupted";
  if (!record.cells.empty() && ended) return;
  Check check;
  check.group = "validity";
  check.metric = "run_completed";
  check.rule = "validity";
  check.outcome = Outcome::kInvalid;
  check.reason = record.cells.empty() ? "the run has no cell: nothing was measured"
                                      : "the run did not reach its end (status " + record.status + ")";
  verdict.checks.push_back(check);
}

void AddEnvironment(const std::vector<record::FingerprintDifference>& differences, Verdict& verdict) {
  for (const record::FingerprintDifference& difference : differences) {
    const bool known =
        std::any_of(verdict.environment.begin(), verdict.environment.end(), [&](const auto& other) {
          return other.field == difference.field && other.ours == difference.ours &&
                 other.theirs == difference.theirs;
        });
    if (!known) verdict.environment.push_back(difference);
  }
}

}  // namespace

JudgedCell JudgeAlone(const record::CellRecord& cell, const CellPolicy& policy, const std::string& created) {
  JudgedCell judged{
      cell.key, JudgeCell(cell, policy, created), policy.policy.strict, policy.policy.today, {}};
  for (const Acknowledgement& acknowledgement : policy.policy.acknowledgements) {
    if (acknowledgement.cell == cell.key) judged.acknowledgements.push_back(acknowledgement);
  }
  return judged;
}

Verdict Conclude(const record::RunRecord& record, std::vector<JudgedCell> cells) {
  CHECK_EQ(record.cells.size(), cells.size());
  Verdict verdict;
  AddRunCheck(record, verdict);
  std::vector<Check*> family;
  for (JudgedCell& cell : cells) {
    for (Check& check : cell.verdict.checks) family.push_back(&check);
  }
  AdjustForFamily(family);
  bool strict = false;
  for (JudgedCell& judged : cells) {
    strict |= judged.strict;
    CellVerdict& cell = judged.verdict;
    Acknowledge(judged.acknowledgements, judged.today, cell.checks, cell.notes);
    std::move(cell.checks.begin(), cell.checks.end(), std::back_inserter(verdict.checks));
    std::move(cell.notes.begin(), cell.notes.end(), std::back_inserter(verdict.notes));
    AddEnvironment(cell.environment, verdict);
    verdict.missing_baseline |= cell.missing_baseline;
  }
  const bool interrupted = record.status == "interrupted";
  verdict.outcome = Fold(verdict.checks, strict);
  verdict.exit_code = ExitCode(verdict.checks, strict, interrupted);
  verdict.headline = Headline(verdict, interrupted);
  return verdict;
}

}  // namespace assay::gate
