#pragma once

#include <string>

#include "record/verdict.h"

namespace assay::gate {

// A check with its place filled in: what it is about, before it says anything.
inline record::Check MakeCheck(const record::CellRecord& cell, std::string group, std::string metric,
                               std::string rule) {
  record::Check check;
  check.cell = cell.key;
  check.group = std::move(group);
  check.metric = std::move(metric);
  check.rule = std::move(rule);
  return check;
}

// A check that this record cannot support: listed, never passed.
inline record::Check NotPossible(record::Check check, const std::string& why) {
  check.outcome = record::Outcome::kInconclusive;
  check.primary = false;
  check.reason = "not possible: " + why;
  return check;
}

}  // namespace assay::gate
