#pragma once

#include <string>
#include <vector>

#include "gate/judge.h"
#include "record/run_record.h"

// Which earlier cells may be compared with this one, and for the rest, why not.
namespace assay::gate {

struct AccuracyBaseline {
  const record::CellRecord* cell = nullptr;  // the newest that can be paired; null when there is none
  // Why the newest candidate cannot be paired: "dataset_hash: aa here, bb in the baseline". Empty when none
  // has an accuracy record at all.
  std::vector<std::string> obstacles;
  bool ended_early = false;  // there are runs that ended before all was asked: no baseline, and no obstacle
};
AccuracyBaseline FindAccuracyBaseline(const record::CellRecord& ours, const CellPolicy& policy);

struct PerformanceBaseline {
  std::vector<const record::CellRecord*> cells;  // same machine, flags and model; newest first
  std::vector<std::string> obstacles;            // why the newest is not among them
};
PerformanceBaseline FindPerformanceBaseline(const record::CellRecord& ours, const CellPolicy& policy);

// V9 of a pair that was found: the same questions. V8 of runs that were found: the same machine, flags and
// model, but for what was declared.
record::Check SameQuestions(const record::CellRecord& ours, const AccuracyBaseline& baseline);
record::Check SameMachine(const record::CellRecord& ours, const PerformanceBaseline& baseline,
                          const CellPolicy& policy);

// Why the speeds of two cells say nothing about each other: fields of the fingerprint that break speed and
// differ without having been declared.
std::vector<std::string> SpeedObstacles(const record::CellRecord& ours, const record::CellRecord& theirs,
                                        const CellPolicy& policy);

// The same benchmark in an earlier cell: equal load, finished, no failed request. Null when there is none.
const record::ServingRecord* FindSameLoad(const record::ServingRecord& ours, const record::CellRecord& cell);

}  // namespace assay::gate
