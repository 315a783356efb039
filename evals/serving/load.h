#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "evals/http/client.h"
#include "evals/http/stream.h"
#include "evals/progress.h"
#include "record/run_record.h"

namespace assay::evals {

struct PlannedRequest {
  std::string body;
  int64_t prompt_tokens = 0;  // what the prompt holds, for servers that send no usage
  int64_t asked_tokens = 0;   // its max_tokens
};

struct LoadPlan {
  std::string url;
  StreamKind kind = StreamKind::kCompletions;
  std::string model;  // what the answers must name
  std::vector<std::string> headers;
  std::vector<PlannedRequest> requests;
  std::vector<double> planned_s;  // when each is due, from the start; not decreasing
  std::optional<int64_t> max_concurrency;
  std::chrono::milliseconds request_timeout{600000};
  std::chrono::milliseconds idle_timeout{120000};
  bool keep_texts = false;
};

struct LoadResult {
  std::vector<record::RequestTiming> requests;  // in planned order; what was stopped is not in it
  std::vector<std::string> texts;               // with keep_texts: of each, reasoning and content
  std::vector<double> send_lags_ms;             // sent minus the moment it was due and a place was free
  double duration_s = 0;                        // from the start to the end of the last request
  bool complete = false;
};

// Sends every request when it is due and never waits for answers; with `max_concurrency` it also waits for a
// place. Ends early when progress.stop is set. `on_request` may be empty.
LoadResult DriveLoad(HttpClient& client, LoadPlan plan, Progress& progress,
                     const std::function<void(const record::RequestTiming&)>& on_request);

}  // namespace assay::evals
