#include <algorithm>

#include "runner/import/import.h"

namespace assay::runner {
namespace {

using record::ServingRecord;

double Value(const ServingRecord& serving, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const record::Metric* metric = record::Find(serving.metrics, name);
    if (metric && metric->value) return *metric->value;
  }
  return 0;
}

}  // namespace

double StatedInFlight(const ServingRecord& serving) {
  if (!serving.requests.empty() && serving.duration_s > 0) {
    double busy_s = 0;
    for (const record::RequestTiming& request : serving.requests) {
      busy_s += request.last_chunk_s - request.sent_s;
    }
    return busy_s / serving.duration_s;
  }
  const double rate = Value(serving, {"request_throughput_req_s"});
  const double whole_ms = Value(serving, {"e2el_mean_ms"});
  if (whole_ms > 0) return rate * whole_ms / 1e3;
  const double first_ms = Value(serving, {"ttft_mean_ms", "ttft_p50_ms"});
  const double each_ms = Value(serving, {"tpot_mean_ms", "tpot_p50_ms"});
  const double tokens = serving.stated ? serving.stated->mean_output_tokens : 0;
  if (first_ms <= 0 || each_ms <= 0 || tokens <= 0) return 0;
  return rate * (first_ms + (tokens - 1) * each_ms) / 1e3;
}

}  // namespace assay::runner
