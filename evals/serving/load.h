#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "evals/http/client.h"
#include "evals/progress.h"
#include "record/run_record.h"

namespace assay::evals {

struct LoadPlan {
  std::string url;
  std::string model;                // what the answers must name
  std::vector<std::string> bodies;  // one request each
  std::vector<double> planned_s;    // when each is due, from the start; not decreasing
  std::optional<int64_t> max_concurrency;
  std::chrono::milliseconds request_timeout{600000};
  std::chrono::milliseconds idle_timeout{120000};
  int64_t prompt_tokens = 0;  // what each prompt holds, for servers that send no usage
};

struct LoadResult {
  std::vector<record::RequestTiming> requests;  // in planned order; what was stopped is not in it
  std::vector<double> send_lags_ms;             // sent minus the moment it was due and a place was free
  double duration_s = 0;                        // from the start to the end of the last request
  bool complete = false;
};

// Sends every request when it is due and never waits for answers; with `max_concurrency` it also waits for a
// place. Ends early when progress.stop is set. `on_request` may be empty.
LoadResult DriveLoad(HttpClient& client, LoadPlan plan, Progress& progress,
                     const std::function<void(const record::RequestTiming&)>& on_request);

}  // namespace assay::evals
