#pragma once

#include <string>
#include <vector>

#include "gate/change_points.h"
#include "gate/policy.h"
#include "record/metric.h"
#include "record/run_record.h"

// How each metric of each cell went over the runs of a branch, as data for whoever prints or draws it.
namespace assay::gate {

// One cell of a stored run: its figures without its requests.
struct HistoryRun {
  std::string run_id, created, commit;
  std::string cell, config_hash;
  record::Fingerprint fingerprint;
  std::vector<record::Metric> metrics;  // as record::AllMetrics
};

struct TrendPoint {
  std::string run_id, created, commit;
  double value = 0;
};

// From this point on the machine, its settings or what was measured is another: nothing is compared across
// it.
struct TrendReset {
  size_t index = 0;
  std::vector<std::string> reasons;  // "driver: 570.1 to 580.2"
};

struct TrendChange {
  ChangePoint at;
  bool worse = false;
  std::string acknowledged;  // "kim until 2026-12-31: new sampler"; "" else
};

struct Trend {
  std::string cell, metric, unit;
  record::Direction direction = record::Direction::kHigherIsBetter;
  std::string machine;             // "NVIDIA H200 x 8 (host 5ca1ab1e)"
  std::vector<TrendPoint> points;  // oldest first
  std::vector<TrendReset> resets;
  std::vector<TrendChange> changes;
  size_t points_since_reset = 0;
};

struct HistoryOptions {
  ChangePointRule rule;        // of speed; min_change is the margin
  double score_margin = 0.01;  // of accuracy, a difference
  std::vector<Acknowledgement> acknowledgements;
  std::string today;
};

// `runs` oldest first. Series are ordered by cell, metric and machine.
std::vector<Trend> BuildHistory(const std::vector<HistoryRun>& runs, const HistoryOptions& options);

}  // namespace assay::gate
