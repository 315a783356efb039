#include "runner/run/baseline_choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

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

// Stored runs of the branch, newest first, and behind them the pinned record, which serves where the store
// has nothing.
Result<gate::Baseline> FromStore(const Cell& cell, const gate::BaselinePolicy& policy,
                                 const std::string& repository, BaselineStore* store) {
  gate::Baseline baseline;
  if (store != nullptr) {
    BaselineQuery query{cell.key, cell.config_hash, policy.branch, policy.runs, repository};
    ASSIGN_OR_RETURN(baseline.cells, store->Find(query));
    query.config_hash.clear();
    ASSIGN_OR_RETURN(const std::vector<CellRecord> any, store->Find(query));
    const std::string host = DetectFingerprint(cell.config.hardware).host;
    baseline.host_has_history = std::any_of(any.begin(), any.end(), [&](const CellRecord& earlier) {
      return !earlier.serving.empty() && earlier.fingerprint.host == host;
    });
  }
  std::vector<std::string> sources;
  if (!baseline.cells.empty()) {
    sources.push_back(fmt::format("{} stored run{} of {}", baseline.cells.size(),
                                  baseline.cells.size() == 1 ? "" : "s", policy.branch));
  }
  if (!policy.pinned_file.empty()) {
    ASSIGN_OR_RETURN(gate::Baseline pinned, FromFile(policy.pinned_file, cell));
    baseline.cells.push_back(std::move(pinned.cells.front()));
    sources.push_back(policy.pinned_file);
  }
  baseline.source = Join(sources, " and ");
  return baseline;
}

}  // namespace

Result<gate::Baseline> ChooseBaseline(const Cell& cell, const std::string& asked,
                                      const std::string& repository, BaselineStore* store) {
  gate::BaselinePolicy policy = cell.config.gate.baseline;
  if (asked == "none") return gate::Baseline{"", {}, false};
  if (asked.ends_with(".json") || (!asked.empty() && std::filesystem::exists(asked)))
    return FromFile(asked, cell);
  if (!asked.empty()) {
    policy.branch = asked;
    policy.kind = gate::BaselinePolicyKind::kRolling;
  }
  switch (policy.kind) {
    case gate::BaselinePolicyKind::kNone:
      return gate::Baseline{"", {}, false};
    case gate::BaselinePolicyKind::kPinned:
      return FromFile(policy.pinned_file, cell);
    case gate::BaselinePolicyKind::kRolling:
      return FromStore(cell, policy, repository, store);
    case gate::BaselinePolicyKind::kMergeBase:
    case gate::BaselinePolicyKind::kMergeBaseRerun:
      break;  // no config can say so yet
  }
  return gate::Baseline{};
}

}  // namespace assay::runner
