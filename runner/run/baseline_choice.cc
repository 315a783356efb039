#include "runner/run/baseline_choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "gate/acknowledge.h"
#include "gate/regression.h"
#include "runner/run/subject.h"
#include "runner/store/git.h"
#include "runner/store/regressions.h"

namespace assay::runner {
namespace {

using record::CellRecord;

std::vector<std::string> KeysOf(const record::RunRecord& record) {
  std::vector<std::string> keys;
  for (const CellRecord& cell : record.cells) keys.push_back(cell.key);
  return keys;
}

// The cell of a record with the same key; else one of the same config under another suite, since suites only
// select.
const CellRecord* FindCell(const record::RunRecord& record, const Cell& wanted) {
  const CellRecord* same_config = nullptr;
  for (const CellRecord& cell : record.cells) {
    if (cell.key == wanted.key) return &cell;
    if (cell.config == wanted.config.name && cell.fingerprint.hardware == wanted.config.hardware)
      same_config = &cell;
  }
  return same_config;
}

Result<gate::Baseline> FromFile(const Path& file, const Cell& wanted) {
  ASSIGN_OR_RETURN(const record::RunRecord record, record::LoadRunRecord(file));
  if (record.status != "complete") {
    return Fail(ErrorKind::kInvalid, "{}: is the record of a run that is {}; a baseline must be complete",
                file.string(), record.status);
  }
  const CellRecord* cell = FindCell(record, wanted);
  if (cell == nullptr) {
    return Fail(ErrorKind::kInvalid, "{}: has no cell {}; it has {}", file.string(), wanted.key,
                Join(KeysOf(record), ", "));
  }
  return gate::Baseline{file.string(), {*cell}};
}

// A PASS after fewer runs than a baseline needs was held against the level before: the loss was undone.
bool IsAtNewLevel(const gate::Regression& regression, const gate::Policy& policy) {
  return regression.open || regression.runs >= policy.performance.min_baseline_runs;
}

// Since when somebody has accepted that the machine itself has another pace; "" when nobody has.
std::string PaceAcceptedSince(const CellLine& line, const gate::Policy& policy) {
  const gate::Acknowledgement* accepted =
      gate::FindAcknowledgement(policy.acknowledgements, line.cell_key, gate::kMachinePace);
  return accepted != nullptr && gate::HoldsOn(*accepted, policy.today) ? accepted->created : "";
}

// The regressions that are open on the branch, in words; and since when the level of the newest accepted one
// holds ("" when none is accepted): what was before is another level, also once runs pass at the new one.
std::string AddRegressions(const std::vector<StoredRun>& runs, const CellLine& line,
                           const gate::Policy& policy, gate::Baseline& baseline) {
  std::string accepted_since = PaceAcceptedSince(line, policy);
  for (const gate::Regression& regression : gate::Regressions(JudgedRuns(runs, line))) {
    if (gate::IsAccepted(policy.acknowledgements, line.cell_key, regression.metric, policy.today)) {
      if (IsAtNewLevel(regression, policy)) accepted_since = std::max(accepted_since, regression.created);
      continue;
    }
    if (!regression.open) continue;
    baseline.regressions.push_back(fmt::format(
        "open on {}: {}; none of its runs becomes a baseline until one passes or somebody accepts it: "
        "assay baseline ack {} {}",
        line.branch, Words(regression), line.cell_key, regression.metric));
  }
  return accepted_since;
}

// Once there are enough runs at an accepted level, those before it no longer count.
void DropEarlierLevel(const std::string& since, int enough, std::vector<FoundCell>& runs) {
  const auto at_level = [&](const FoundCell& run) { return run.created >= since; };
  if (since.empty() || std::count_if(runs.begin(), runs.end(), at_level) < enough) return;
  std::erase_if(runs, [&](const FoundCell& run) { return !at_level(run); });
}

// Stored runs of the branch, newest first; of one commit only where `commit` says so.
Result<gate::Baseline> FromStore(const Cell& cell, const gate::Policy& policy, const std::string& repository,
                                 const std::string& commit, BaselineStore* store) {
  gate::Baseline baseline;
  if (store == nullptr) return baseline;
  const gate::BaselinePolicy& wanted = policy.baseline;
  const std::string host = DetectFingerprint(cell.config.hardware).host;
  ASSIGN_OR_RETURN(const std::vector<StoredRun> all, store->Runs());
  const std::string accepted_since =
      AddRegressions(all, {cell.key, cell.config_hash, host, wanted.branch, repository}, policy, baseline);
  BaselineQuery query{
      cell.key, cell.config_hash, wanted.branch, std::max(wanted.runs, kRunsForNoise), repository, commit};
  ASSIGN_OR_RETURN(std::vector<FoundCell> stored, store->FindDated(query));
  for (const FoundCell& run : stored) baseline.dated.push_back(SpeedsOf(run.commit, run.created, run.cell));
  DropEarlierLevel(accepted_since, policy.performance.min_baseline_runs, stored);
  for (FoundCell& run : stored) {
    if (static_cast<int>(baseline.cells.size()) < wanted.runs) baseline.cells.push_back(std::move(run.cell));
  }
  query = {cell.key, "", wanted.branch, wanted.runs, repository};
  ASSIGN_OR_RETURN(const std::vector<CellRecord> any, store->Find(query));
  baseline.host_has_history = std::any_of(any.begin(), any.end(), [&](const CellRecord& earlier) {
    return !earlier.serving.empty() && earlier.fingerprint.host == host;
  });
  if (!baseline.cells.empty()) {
    baseline.source =
        fmt::format("{} stored run{} of {}", baseline.cells.size(), baseline.cells.size() == 1 ? "" : "s",
                    commit.empty() ? wanted.branch : commit.substr(0, 12));
  }
  return baseline;
}

// Behind the stored runs the pinned record, which serves where the store has nothing.
Result<gate::Baseline> Rolling(const Cell& cell, const gate::Policy& policy, const std::string& repository,
                               BaselineStore* store) {
  ASSIGN_OR_RETURN(gate::Baseline baseline, FromStore(cell, policy, repository, "", store));
  if (policy.baseline.pinned_file.empty()) return baseline;
  ASSIGN_OR_RETURN(gate::Baseline pinned, FromFile(policy.baseline.pinned_file, cell));
  baseline.cells.push_back(std::move(pinned.cells.front()));
  baseline.source += (baseline.source.empty() ? "" : " and ") + policy.baseline.pinned_file;
  return baseline;
}

Result<std::string> MergeBaseOf(const gate::Policy& policy, const record::RunRecord& subject) {
  const Path here = std::filesystem::current_path();
  if (subject.commit.empty()) {
    return Fail(ErrorKind::kInvalid, "{}: is no git checkout, so there is no merge base with {}",
                here.string(), policy.baseline.branch);
  }
  const bool modified = DetectSubject(here).branch.ends_with(kModified);
  return MergeBase(here, subject.commit, policy.baseline.branch, modified);
}

// Fails closed, before anything is launched.
Result<gate::Baseline> OfMergeBase(const Cell& cell, const gate::Policy& policy,
                                   const record::RunRecord& subject, BaselineStore* store) {
  ASSIGN_OR_RETURN(const std::string commit, MergeBaseOf(policy, subject));
  ASSIGN_OR_RETURN(gate::Baseline baseline, FromStore(cell, policy, subject.repository, commit, store));
  const bool first = policy.baseline.first_run == gate::FirstRun::kRecord && !baseline.host_has_history;
  if (!baseline.cells.empty() || first || policy.allow_missing_baseline) return baseline;
  return Fail(
      ErrorKind::kInvalid,
      "the store has no passing run of {}, where this change left {}; measure that commit with --branch "
      "{}, let assay ab build and measure both sides, or pass --allow-missing-baseline",
      commit.substr(0, 12), policy.baseline.branch, policy.baseline.branch);
}

tl::unexpected<Error> NeedsAb(const Cell& cell, const std::string& commit) {
  return Fail(
      ErrorKind::kUsage,
      "gate.baseline.policy merge_base_rerun: the merge base is measured beside the change, which is another "
      "command: assay ab --base {} --head HEAD {}{}",
      commit.substr(0, 12), ShellQuote(cell.config.file.string()),
      cell.suite.empty() ? "" : " --suite " + ShellQuote(cell.suite));
}

}  // namespace

gate::DatedCell SpeedsOf(const std::string& commit, const std::string& created, const CellRecord& cell) {
  gate::DatedCell speeds{commit, created, {}};
  speeds.cell.key = cell.key;
  speeds.cell.fingerprint = cell.fingerprint;
  speeds.cell.serving = cell.serving;
  for (record::ServingRecord& serving : speeds.cell.serving) serving.requests.clear();
  return speeds;
}

bool NamesBranch(const std::string& asked) {
  return !asked.empty() && asked != "none" && !asked.ends_with(".json") && !std::filesystem::exists(asked);
}

Result<gate::Baseline> ChooseBaseline(const Cell& cell, const gate::Policy& configured,
                                      const std::string& asked, const record::RunRecord& subject,
                                      BaselineStore* store) {
  if (asked == "none") return gate::Baseline{"", {}, false};
  if (!asked.empty() && !NamesBranch(asked)) return FromFile(asked, cell);
  gate::Policy policy = configured;
  if (!asked.empty()) {
    policy.baseline.branch = asked;
    policy.baseline.kind = gate::BaselinePolicyKind::kRolling;
  }
  switch (policy.baseline.kind) {
    case gate::BaselinePolicyKind::kNone:
      return gate::Baseline{"", {}, false};
    case gate::BaselinePolicyKind::kPinned:
      return FromFile(policy.baseline.pinned_file, cell);
    case gate::BaselinePolicyKind::kRolling:
      return Rolling(cell, policy, subject.repository, store);
    case gate::BaselinePolicyKind::kMergeBase:
      return OfMergeBase(cell, policy, subject, store);
    case gate::BaselinePolicyKind::kMergeBaseRerun: {
      ASSIGN_OR_RETURN(const std::string commit, MergeBaseOf(policy, subject));
      return NeedsAb(cell, commit);
    }
  }
  return gate::Baseline{};
}

}  // namespace assay::runner
