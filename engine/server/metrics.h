#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/scheduler/scheduler.h"

namespace assay::engine {

// The KV cache as it was set up.
struct CacheFacts {
  int64_t num_blocks = 0;
  int64_t block_size = 0;
};

// One choice of one request, when it has ended.
struct EndedRequest {
  std::string finished_reason;  // stop | length | abort | error
  int64_t prompt_tokens = 0, generated_tokens = 0;
  double whole_seconds = 0;    // from receipt to end
  double queue_seconds = 0;    // to its first step
  double prefill_seconds = 0;  // from there to its first token
  double decode_seconds = 0;   // from there to its last
};

// What /metrics shows, under the names vLLM's dashboards know: "{prefix}:num_requests_running" and so on,
// with the label model_name; and process_* without prefix.
class Metrics {
 public:
  Metrics(const std::string& prefix, const std::string& model_name, const CacheFacts& cache);
  ~Metrics();

  void FirstToken(double seconds);
  void NextToken(double seconds);
  void Ended(const EndedRequest& request);
  // The Prometheus text format.
  std::string Text(const SchedulerStats& stats);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace assay::engine
