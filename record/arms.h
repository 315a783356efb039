#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record/run_record.h"

// The record of two arms whose runs alternate. `record.ab` must be set and have as many runs as there are
// cells.
namespace assay::record {

// The key of a run's cell, "cpu.tiny-moe.smoke.2-head", and that of the comparison, without the last part.
std::string RunKey(const std::string& comparison, int64_t pair, const std::string& arm);
std::string ComparisonKey(const RunRecord& record);

// Both runs of a pair, in the order of the pairs.
struct Pair {
  int64_t number = 0;  // from 1
  const CellRecord* base = nullptr;
  const CellRecord* head = nullptr;
};
// Those of which both runs are there and, after an interrupt, whole.
std::vector<Pair> WholePairs(const RunRecord& record);

// The run that an interrupt cut short, if the last one is such.
const CellRecord* CutRun(const RunRecord& record);

// The answers of several runs of one arm as repeats of one eval, so that questions stay the clusters.
AccuracyRecord PooledAnswers(const std::vector<const CellRecord*>& runs);

// Each arm as one cell, head first, for pages that show cells: the answers of all its runs, the load of the
// last. Head's has the comparison's key, and the server that failed if one did; base's key ends in ".base".
RunRecord AsTwoCells(const RunRecord& record);

}  // namespace assay::record
