#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <thread>

#include "engine/parallel/pin.h"
#include "engine/parallel/rank_threads.h"
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

TEST(RankThreads, EveryRankWorksInItsOwnThreadAndMayWaitForTheOthers) {
  for (const int ranks : {1, 2, 4, 8}) {
    RankThreads threads(ranks);
    EXPECT_EQ(threads.Size(), ranks);
    std::vector<std::thread::id> ids(static_cast<size_t>(ranks));
    threads.Run([&](int rank) { ids[static_cast<size_t>(rank)] = std::this_thread::get_id(); });
    EXPECT_EQ(ids[0], std::this_thread::get_id());
    for (int round = 0; round < 200; ++round) {
      if (round == 100) std::this_thread::sleep_for(std::chrono::milliseconds(20));  // all asleep
      std::barrier<> meeting(ranks);
      std::atomic<int> came{0};
      threads.Run([&](int rank) {
        EXPECT_EQ(std::this_thread::get_id(), ids[static_cast<size_t>(rank)]);
        ++came;
        meeting.arrive_and_wait();
        EXPECT_EQ(came.load(), ranks);
      });
    }
  }
}

constexpr int64_t kDear = 1'000'000'000;  // an item worth a piece of its own

TEST(WorkerPool, DoesEveryItemOnce) {
  for (const int64_t ranks : {1, 2, 3}) {
    for (const int64_t threads : {1, 2, 4}) {
      WorkerPool pool(ranks, threads);
      for (int64_t items = 0; items < 70; ++items) {
        std::vector<std::atomic<int>> done(static_cast<size_t>(items));
        pool.ForEach({items, kDear, 1 + items % 5}, [&](Range range, int64_t worker) {
          EXPECT_LT(worker, pool.Size());
          for (int64_t i = range.begin; i < range.end; ++i) ++done[static_cast<size_t>(i)];
        });
        for (const auto& count : done) ASSERT_EQ(count, 1);
      }
    }
  }
}

TEST(WorkerPool, PiecesBeginAtGrains) {
  WorkerPool pool(2, 2);
  pool.ForEach({50, kDear, 8}, [&](Range range, int64_t) {
    EXPECT_EQ(range.begin % 8, 0);
    EXPECT_TRUE(range.end % 8 == 0 || range.end == 50);
  });
}

TEST(WorkerPool, ARankKeepsToItsOwnItems) {
  WorkerPool pool(2, 2);
  std::vector<std::atomic<int64_t>> by(64);
  for (int round = 0; round < 50; ++round) {
    pool.ForEach({64, kDear, 1}, [&](Range range, int64_t worker) {
      for (int64_t i = range.begin; i < range.end; ++i) by[static_cast<size_t>(i)] = worker;
    });
    for (int64_t i = 0; i < 64; ++i) EXPECT_EQ(by[static_cast<size_t>(i)] / 2, i / 32);
  }
}

TEST(WorkerPool, WhatALoopWroteIsReadByTheNext) {
  WorkerPool pool(1, 4);
  std::vector<int64_t> values(256);  // plain: the pool must order the accesses
  for (int64_t step = 1; step <= 400; ++step) {
    pool.ForEach({256, kDear, 1}, [&](Range range, int64_t) {
      for (int64_t i = range.begin; i < range.end; ++i) ++values[static_cast<size_t>(i)];
    });
    pool.ForEach({256, kDear, 1}, [&](Range range, int64_t) {
      for (int64_t i = range.begin; i < range.end; ++i) {
        ASSERT_EQ(values[static_cast<size_t>(255 - i)], step);
      }
    });
  }
}

TEST(WorkerPool, ACheapLoopStaysWithTheCaller) {
  WorkerPool pool(1, 4);
  pool.ForEach({3, 1, 1}, [&](Range range, int64_t worker) {
    EXPECT_EQ(range, (Range{0, 3}));
    EXPECT_EQ(worker, 0);
  });
}

// Helpers that slept through several loops join a later one.
TEST(WorkerPool, WakesHelpersThatSleep) {
  WorkerPool pool(1, 2);
  for (int round = 0; round < 5; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::atomic<bool> other_came{false};
    pool.ForEach({2, kDear, 1}, [&](Range, int64_t worker) {
      if (worker == 1) other_came = true;
      for (int i = 0; worker == 0 && !other_came && i < 5000; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
    EXPECT_TRUE(other_came);
  }
}

TEST(Pin, KeepsAThreadOnItsShareOfTheCores) {
  std::thread([] {
    cpu_set_t before, after;
    ASSERT_EQ(::sched_getaffinity(0, sizeof(before), &before), 0);
    const int cores = CPU_COUNT(&before);
    PinThisThread(0, cores + 1);
    ASSERT_EQ(::sched_getaffinity(0, sizeof(after), &after), 0);
    EXPECT_EQ(CPU_COUNT(&after), cores) << "more shares than cores";
    PinThisThread(cores - 1, cores);
    ASSERT_EQ(::sched_getaffinity(0, sizeof(after), &after), 0);
    EXPECT_EQ(CPU_COUNT(&after), 1);
  }).join();
}

}  // namespace
}  // namespace assay::engine
