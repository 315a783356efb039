#pragma once

#include <optional>
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

// A validity check of a measured value: it holds between two limits, either of which may be absent.
inline record::Check Within(record::Check check, double value, std::optional<double> low,
                            std::optional<double> high) {
  check.value = value;
  check.limit_low = low;
  check.limit_high = high;
  const bool holds = (!low || value >= *low) && (!high || value <= *high);
  check.outcome = holds ? record::Outcome::kPass : record::Outcome::kInvalid;
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
