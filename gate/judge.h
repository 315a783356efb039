#pragma once

#include <string>
#include <vector>

#include "gate/policy.h"
#include "record/run_record.h"
#include "record/verdict.h"

namespace assay::gate {

// The earlier cells a candidate is compared with, newest first; the store chose them, this layer opens no
// file.
// A stored run of the cell: what its code was, and when.
struct DatedCell {
  std::string commit, created;  // created: UTC, "2026-12-01T05:00:00Z"
  record::CellRecord cell;
};

struct Baseline {
  std::string source;  // "store main (3 runs)" | "ci/baselines/tiny-moe.json" | "" for none
  std::vector<record::CellRecord> cells;
  bool requested = true;  // false: --baseline none, nothing is missing
  // This machine has earlier passing runs of the cell, perhaps of another config: it is not a first run.
  bool host_has_history = false;
  // Regressions that are open on the branch, in words; the report lists them.
  std::vector<std::string> regressions = {};
  // Stored runs, of which those of equal code measure the noise floor (gate/equal_code.h); `cells` may be
  // among them.
  std::vector<DatedCell> dated = {};
};

struct CellPolicy {
  std::string cell_key;
  Policy policy;
  Baseline baseline;
};

// Validity first, statistics second. Pure: the same record, baselines and policies give the same verdict.
// `policies` has one entry for each cell of the record, in its order.
record::Verdict Judge(const record::RunRecord& record, const std::vector<CellPolicy>& policies);

}  // namespace assay::gate
