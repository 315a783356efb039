#include "runner/launch/watchdog.h"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace assay::runner {
namespace {

constexpr std::chrono::milliseconds kCycle{50};

record::ServerFailure Hang(const Server& server, const std::string& stage, double limit_s,
                           int64_t in_flight) {
  record::ServerFailure failure = Classify(std::nullopt, server.LogTail(), stage);
  const bool known_cause = failure.kind != "crashed";
  const std::string cause = known_cause ? "; its log says: " + failure.message : "";
  failure.kind = "hang";
  failure.infrastructure = false;
  failure.message = fmt::format(
      "no token from any of {} requests in flight for {:.1f} s (engine.hang_timeout_s); it was killed{}",
      in_flight, limit_s, cause);
  return failure;
}

}  // namespace

bool HangDetector::Observe(int64_t tokens, int64_t in_flight, TimePoint now) {
  if (tokens != last_tokens_ || in_flight == 0) {
    last_tokens_ = tokens;
    last_progress_ = now;
    return false;
  }
  return now - last_progress_ >= limit_;
}

std::optional<record::ServerFailure> RunWatched(Server& server, evals::Progress& progress,
                                                const std::string& stage, double hang_timeout_s,
                                                const std::atomic<bool>& interrupted, Clock& clock,
                                                const std::function<void()>& eval) {
  std::optional<record::ServerFailure> failure;  // the watch's until it is joined
  HangDetector detector(Nanoseconds(static_cast<int64_t>(hang_timeout_s * 1e9)), clock.Now());
  const auto look = [&] {
    if (interrupted) progress.stop = true;
    if (failure) return;
    failure = server.Died(stage);
    const int64_t in_flight = progress.in_flight;
    if (!failure && detector.Observe(progress.tokens, in_flight, clock.Now())) {
      failure = Hang(server, stage, hang_timeout_s, in_flight);
      server.Kill();
    }
    if (failure) progress.stop = true;
  };

  std::mutex mutex;
  std::condition_variable_any changed;
  {
    const std::jthread watch([&](const std::stop_token& over) {
      std::unique_lock lock(mutex);
      while (!over.stop_requested()) {
        look();
        changed.wait_for(lock, over, kCycle, [] { return false; });
      }
    });
    eval();
  }
  // The eval may have ended because the server did, before the watch looked again.
  if (!failure) failure = server.Died(stage);
  return failure;
}

}  // namespace assay::runner
