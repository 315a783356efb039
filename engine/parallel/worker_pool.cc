#include "engine/parallel/worker_pool.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "engine/parallel/pin.h"
#include "engine/parallel/spin.h"

namespace assay::engine {
namespace {

// Multiply-adds of a piece: some microseconds, so that handing pieces out costs little beside the work.
constexpr int64_t kPieceCost = 100'000;
constexpr int64_t kPiecesAWorker = 4;  // so that a slow worker is left behind by at most a quarter

constexpr uint64_t kOpen = uint64_t{1} << 15, kInside = kOpen - 1;
uint64_t Number(uint64_t state) {
  return state >> 16;
}

int64_t RoundUp(int64_t value, int64_t of) {
  return (value + of - 1) / of * of;
}

}  // namespace

WorkerPool::WorkerPool(int64_t ranks, int64_t threads_a_rank)
    : ranks_(ranks), threads_(threads_a_rank), slices_(static_cast<size_t>(ranks)) {
  CHECK_LT(Size(), static_cast<int64_t>(kInside));
  for (int64_t worker = 1; worker < Size(); ++worker) helpers_.emplace_back([this, worker] { Help(worker); });
}

WorkerPool::~WorkerPool() {
  stopping_ = true;
  ++wake_;
  wake_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

void WorkerPool::ForEach(const LoopShape& shape, const Piece& work) {
  if (shape.items <= 0) return;
  if (ranks_ > 1 && !std::exchange(leader_pinned_, true)) PinThisThread(0, ranks_);
  const int64_t cheap =
      RoundUp(std::max<int64_t>(1, kPieceCost / std::max<int64_t>(1, shape.cost)), shape.grain);
  if (Size() == 1 || shape.items <= cheap) return work({0, shape.items}, 0);
  const int64_t even =
      RoundUp((shape.items + Size() * kPiecesAWorker - 1) / (Size() * kPiecesAWorker), shape.grain);
  loop_ = {shape, std::max(cheap, even), &work};
  for (int64_t rank = 0; rank < ranks_; ++rank) {
    // Cut at grains, so that two ranks never share one.
    const int64_t grains = (shape.items + shape.grain - 1) / shape.grain;
    const Range slice = Split({0, grains}, rank, ranks_);
    slices_[static_cast<size_t>(rank)].next.store(slice.begin * shape.grain, std::memory_order_relaxed);
    slices_[static_cast<size_t>(rank)].end = std::min(slice.end * shape.grain, shape.items);
  }
  items_left_.store(shape.items, std::memory_order_relaxed);
  state_.store((Number(state_.load(std::memory_order_relaxed)) + 1) << 16 | kOpen);
  if (sleepers_.load() > 0) {
    ++wake_;
    wake_.notify_all();
  }

  TakePieces(0);
  // Sequentially consistent, like all that sleepers and wakers tell each other: either one sees that the
  // other is there, or the other sees that there is nothing to wait for.
  const auto wait = [&](const auto& over) {
    if (SpinUntil(over)) return;
    leader_sleeps_.store(true);
    for (uint32_t seen = wake_.load(); !over(); seen = wake_.load()) wake_.wait(seen);
    leader_sleeps_.store(false);
  };
  wait([&] { return items_left_.load() == 0; });
  state_.fetch_and(~kOpen);
  wait([&] { return (state_.load() & kInside) == 0; });
}

// Pieces of the worker's rank until none is left.
void WorkerPool::TakePieces(int64_t worker) {
  Slice& slice = slices_[static_cast<size_t>(worker / threads_)];
  for (;;) {
    const int64_t begin = slice.next.fetch_add(loop_.piece, std::memory_order_relaxed);
    if (begin >= slice.end) return;
    const Range items{begin, std::min(begin + loop_.piece, slice.end)};
    (*loop_.work)(items, worker);
    items_left_.fetch_sub(items.end - items.begin);
  }
}

void WorkerPool::Help(int64_t worker) {
  if (ranks_ > 1) PinThisThread(worker / threads_, ranks_);
  for (uint64_t seen = 0;;) {
    seen = WaitForLoop(seen);
    if (stopping_) return;
    if (!Enter(seen)) continue;
    TakePieces(worker);
    Leave();
  }
}

// The state of an open loop that this worker has not been in, or any state when the pool stops.
uint64_t WorkerPool::WaitForLoop(uint64_t seen) {
  uint64_t state = 0;
  const auto come = [&] {
    state = state_.load();
    return ((state & kOpen) != 0 && Number(state) != Number(seen)) || stopping_.load();
  };
  if (SpinUntil(come)) return state;
  sleepers_.fetch_add(1);
  for (uint32_t woken = wake_.load(); !come(); woken = wake_.load()) wake_.wait(woken);
  sleepers_.fetch_sub(1);
  return state;
}

// Counts the worker in, unless the loop that was seen is over by now.
bool WorkerPool::Enter(uint64_t state) {
  const uint64_t number = Number(state);
  uint64_t now = state;
  while (Number(now) == number && (now & kOpen) != 0) {
    if (state_.compare_exchange_weak(now, now + 1)) return true;
  }
  return false;
}

void WorkerPool::Leave() {
  state_.fetch_sub(1);
  if (leader_sleeps_.load()) {
    ++wake_;
    wake_.notify_all();
  }
}

}  // namespace assay::engine
