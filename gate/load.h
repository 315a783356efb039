#pragma once

#include <cstdint>
#include <vector>

#include "record/run_record.h"

// Facts about the load of one benchmark, taken from its requests and not from its summary, unless an imported
// result has nothing else.
namespace assay::gate {

bool IsOpenLoop(const record::ServingRecord& serving);    // sent on schedule, answered or not
bool IsClosedLoop(const record::ServingRecord& serving);  // a fixed number in flight

int64_t Completed(const record::ServingRecord& serving);
double MeanOutputTokens(const record::ServingRecord& serving);  // of completed requests; 0 when none

// Requests in flight at each moment of sending, averaged over the second and over the last quarter of them:
// a queue that grows shows as a ratio far above one.
struct InFlightTrend {
  double early = 0, late = 0;
};
InFlightTrend TrendOfInFlight(const record::ServingRecord& serving);

}  // namespace assay::gate
