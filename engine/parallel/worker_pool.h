#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "engine/parallel/partition.h"

namespace assay::engine {

// What one parallel loop is worth: `cost` of an item in multiply-adds decides how many items a worker takes
// at a time, and whether a second worker is woken at all; a piece is a multiple of `grain` items.
struct LoopShape {
  int64_t items = 0;
  int64_t cost = 1;
  int64_t grain = 1;
};

// ranks * threads workers that share loops. The calling thread is the first worker and leads: a loop is over
// when its last item is, and a worker that the operating system has put aside is not waited for unless it
// holds a piece. So a loop among busy neighbours costs little more than one thread alone.
//
// A tensor-parallel rank works on its own slice of the items, [rank * items / ranks, ...), as it would if its
// weights lay in another memory; threads of one rank take pieces of the slice as they come. Who computes an
// item must not change its result. With several ranks each is pinned to its share of the cores.
class WorkerPool {
 public:
  using Piece = std::function<void(Range items, int64_t worker)>;

  WorkerPool(int64_t ranks, int64_t threads_a_rank);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  int64_t Size() const { return ranks_ * threads_; }
  // Calls `work` for pieces that cover [0, items), and returns when all are done.
  void ForEach(const LoopShape& shape, const Piece& work);

 private:
  // One loop; read by a worker only between Enter and Leave.
  struct Loop {
    LoopShape shape;
    int64_t piece = 0;  // items taken at a time
    const Piece* work = nullptr;
  };
  // Items of a rank that nobody has taken yet.
  struct alignas(64) Slice {
    std::atomic<int64_t> next{0};
    int64_t end = 0;
  };

  bool Enter(uint64_t state);
  void Leave();
  void TakePieces(int64_t worker);
  void Help(int64_t worker);
  uint64_t WaitForLoop(uint64_t seen);

  const int64_t ranks_, threads_;
  bool leader_pinned_ = false;
  Loop loop_;
  std::vector<Slice> slices_;  // [ranks]
  // loop number << 16 | open << 15 | workers inside; the leader is not counted
  alignas(64) std::atomic<uint64_t> state_{0};
  alignas(64) std::atomic<int64_t> items_left_{0};
  std::atomic<bool> leader_sleeps_{false};
  alignas(64) std::atomic<uint32_t> wake_{0};
  std::atomic<int64_t> sleepers_{0};
  std::atomic<bool> stopping_{false};
  std::vector<std::thread> helpers_;
};

}  // namespace assay::engine
