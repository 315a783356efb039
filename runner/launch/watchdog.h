#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/clock.h"
#include "evals/progress.h"
#include "record/run_record.h"
#include "runner/launch/server.h"

namespace assay::runner {

// Watches one eval: the server's death, and token progress. Requests in flight and no token anywhere for
// `hang_timeout_s` is a hang: the server is killed and reported as one. Also stops the eval when the user
// interrupts.
//
// Runs `eval` on the calling thread and the watch on its own; returns what ended it early, if anything did.
std::optional<record::ServerFailure> RunWatched(Server& server, evals::Progress& progress,
                                                const std::string& stage, double hang_timeout_s,
                                                const std::atomic<bool>& interrupted, Clock& clock,
                                                const std::function<void()>& eval);

// The rule alone, for tests with a ticked clock.
class HangDetector {
 public:
  HangDetector(Nanoseconds limit, TimePoint now) : limit_(limit), last_progress_(now) {}
  // True once requests were in flight without a token for the limit.
  bool Observe(int64_t tokens, int64_t in_flight, TimePoint now);

 private:
  Nanoseconds limit_;
  TimePoint last_progress_;
  int64_t last_tokens_ = 0;
};

}  // namespace assay::runner
