#include "engine/parallel/worker_pool.h"

namespace assay::engine {

WorkerPool::WorkerPool(int64_t ranks, int64_t threads_a_rank)
    : ranks_(ranks), threads_(threads_a_rank), barrier_(ranks * threads_a_rank) {
  for (int64_t index = 1; index < Size(); ++index) helpers_.emplace_back([this, index] { Loop(index); });
}

WorkerPool::~WorkerPool() {
  stopping_ = true;
  call_.fetch_add(1, std::memory_order_release);
  call_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

void WorkerPool::Run(const std::function<void(const Worker&)>& work) {
  work_ = &work;
  call_.fetch_add(1, std::memory_order_release);
  call_.notify_all();
  work(WorkerAt(0));
  barrier_.Wait();
}

void WorkerPool::Loop(int64_t index) {
  for (uint32_t seen = 0;; ++seen) {
    WaitForChange(call_, seen);
    if (stopping_) return;
    (*work_)(WorkerAt(index));
    barrier_.Wait();
  }
}

}  // namespace assay::engine
