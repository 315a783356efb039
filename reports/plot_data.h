#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "record/run_record.h"

// What plots show of a benchmark, from its requests. Failed requests have no times.
namespace assay::reports {

std::vector<double> TtftMs(const record::ServingRecord& serving);
std::vector<double> TpotMs(const record::ServingRecord& serving);
std::vector<double> E2elMs(const record::ServingRecord& serving);

// (value, share of values at or below it), thinned to about 200 points.
std::vector<std::pair<double, double>> CumulativeShare(std::vector<double> values);

// Output tokens per second over time: one point in the middle of each of `bins` parts of `duration_s`.
std::vector<std::pair<double, double>> TokenRate(const record::ServingRecord& serving, double duration_s,
                                                 int bins);

}  // namespace assay::reports
