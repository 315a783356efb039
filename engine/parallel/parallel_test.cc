#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "engine/parallel/barrier.h"
#include "engine/parallel/partition.h"
#include "engine/parallel/worker_pool.h"

namespace assay::engine {
namespace {

TEST(Split, CoversTheWholeInOrderWithoutGaps) {
  for (int64_t total = 0; total < 40; ++total) {
    for (int64_t parts = 1; parts < 9; ++parts) {
      int64_t at = 0;
      for (int64_t i = 0; i < parts; ++i) {
        const Range part = Split({0, total}, i, parts);
        EXPECT_EQ(part.begin, at);
        EXPECT_LE(part.end - part.begin, total / parts + 1);
        at = part.end;
      }
      EXPECT_EQ(at, total);
    }
  }
}

TEST(Worker, ThreadsCutTheSliceOfTheirRank) {
  EXPECT_EQ((Worker{1, 2, 0, 2}.Own(8)), (Range{4, 6}));
  EXPECT_EQ((Worker{1, 2, 1, 2}.Own(8)), (Range{6, 8}));
  EXPECT_EQ((Worker{1, 2, 1, 2}.Index()), 3);
}

TEST(WorkerPool, RunsEveryWorkerOnceACall) {
  for (const int64_t threads : {1, 2, 5}) {
    WorkerPool pool(2, threads);
    std::vector<std::atomic<int>> calls(static_cast<size_t>(pool.Size()));
    for (int call = 0; call < 200; ++call) {
      pool.Run([&](const Worker& worker) { ++calls[static_cast<size_t>(worker.Index())]; });
    }
    for (const auto& count : calls) EXPECT_EQ(count, 200);
  }
}

TEST(Barrier, NobodyPassesBeforeTheLastArrives) {
  WorkerPool pool(1, 4);
  std::vector<int> step(4, 0);  // plain ints: the barrier must order the accesses
  std::atomic<int> wrong{0};
  pool.Run([&](const Worker& worker) {
    for (int i = 1; i <= 500; ++i) {
      step[static_cast<size_t>(worker.Index())] = i;
      pool.Barrier().Wait();
      for (const int other : step) wrong += other != i ? 1 : 0;
      pool.Barrier().Wait();
    }
  });
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace assay::engine
