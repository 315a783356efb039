#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/scheduler/scheduler.h"

namespace assay::engine {

// What /metrics shows, under the names vLLM's dashboards know: "{prefix}:num_requests_running" and so on,
// with the label model_name.
class Metrics {
 public:
  Metrics(const std::string& prefix, const std::string& model_name);
  ~Metrics();

  void FirstToken(double seconds);
  void Ended(const std::string& finished_reason, double seconds);
  // The Prometheus text format.
  std::string Text(const SchedulerStats& stats);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace assay::engine
