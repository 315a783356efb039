#include "engine/parallel/rank_threads.h"

#include "engine/parallel/spin.h"

namespace assay::engine {

RankThreads::RankThreads(int ranks) {
  for (int rank = 1; rank < ranks; ++rank) helpers_.emplace_back([this, rank] { Help(rank); });
}

RankThreads::~RankThreads() {
  stopping_ = true;
  ++round_;
  round_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

void RankThreads::Run(const std::function<void(int)>& work) noexcept {
  work_ = &work;
  left_ = static_cast<uint32_t>(helpers_.size());
  ++round_;
  round_.notify_all();
  work(0);
  if (SpinUntil([this] { return left_.load() == 0; })) return;
  for (uint32_t left = left_; left != 0; left = left_) left_.wait(left);
}

void RankThreads::Help(int rank) {
  for (uint32_t seen = 0;; ++seen) {
    if (!SpinUntil([&] { return round_.load() != seen; })) round_.wait(seen);
    if (stopping_) return;
    (*work_)(rank);
    if (left_.fetch_sub(1) == 1) left_.notify_all();
  }
}

}  // namespace assay::engine
