#include "runner/run/baseline_choice.h"

#include <fmt/format.h>

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
  const CellRecord* cell = FindCell(record, wanted);
  if (cell == nullptr) {
    return Fail(ErrorKind::kInvalid, "{}: has no cell {}; it has {}", file.string(), wanted.key,
                Join(KeysOf(record), ", "));
  }
  return gate::Baseline{file.string(), {*cell}};
}

// Stored runs of the branch, newest first, and behind them the pinned record, which serves where the store
// has nothing.
Result<gate::Baseline> FromStore(const Cell& cell, const gate::BaselinePolicy& policy, BaselineStore* store) {
  gate::Baseline baseline;
  if (store != nullptr) {
    ASSIGN_OR_RETURN(baseline.cells, store->Find({cell.key, cell.config_hash, policy.branch, policy.runs}));
  }
  std::vector<std::string> sources;
  if (!baseline.cells.empty()) {
    sources.push_back(fmt::format("{} stored run{} of {}", baseline.cells.size(),
                                  baseline.cells.size() == 1 ? "" : "s", policy.branch));
  }
  if (!policy.pinned_file.empty() && std::filesystem::exists(policy.pinned_file)) {
    ASSIGN_OR_RETURN(gate::Baseline pinned, FromFile(policy.pinned_file, cell));
    baseline.cells.push_back(std::move(pinned.cells.front()));
    sources.push_back(policy.pinned_file);
  }
  baseline.source = Join(sources, " and ");
  return baseline;
}

}  // namespace

Result<gate::Baseline> ChooseBaseline(const Cell& cell, const std::string& asked, BaselineStore* store) {
  gate::BaselinePolicy policy = cell.config.gate.baseline;
  if (asked == "none") return gate::Baseline{"", {}, false};
  if (asked.find('/') != std::string::npos || asked.ends_with(".json")) return FromFile(asked, cell);
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
      return FromStore(cell, policy, store);
  }
  return gate::Baseline{};
}

}  // namespace assay::runner
