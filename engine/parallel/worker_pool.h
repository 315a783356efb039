#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "engine/parallel/barrier.h"
#include "engine/parallel/partition.h"

namespace assay::engine {

// ranks * threads workers; the calling thread is the first. Between two calls the others sleep.
class WorkerPool {
 public:
  WorkerPool(int64_t ranks, int64_t threads_a_rank);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  int64_t Size() const { return ranks_ * threads_; }
  // Runs `work` on every worker and returns when all are done. Within it, Barrier() may be used by all of
  // them together.
  void Run(const std::function<void(const Worker&)>& work);
  engine::Barrier& Barrier() { return barrier_; }

 private:
  Worker WorkerAt(int64_t index) const { return {index / threads_, ranks_, index % threads_, threads_}; }
  void Loop(int64_t index);

  const int64_t ranks_, threads_;
  engine::Barrier barrier_;
  const std::function<void(const Worker&)>* work_ = nullptr;  // of the current call
  bool stopping_ = false;                                     // published by call_
  std::atomic<uint32_t> call_{0};
  std::vector<std::thread> helpers_;
};

}  // namespace assay::engine
