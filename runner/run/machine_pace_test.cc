#include "runner/run/machine_pace.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace assay::runner {
namespace {

// Three more loops a core leave a quarter of it; half is a limit that scheduling noise does not reach.
TEST(MachinePace, FallsWhenOthersUseTheCores) {
  double alone = 0;
  for (int i = 0; i < 5; ++i) alone = std::max(alone, MachinePace());
  ASSERT_GT(alone, 0);
  std::atomic<bool> stop{false};
  std::vector<std::jthread> others;
  for (unsigned i = 0; i < 3 * std::thread::hardware_concurrency(); ++i)
    others.emplace_back([&] {
      while (!stop) {
      }
    });
  double shared = alone;
  for (int i = 0; i < 5; ++i) shared = std::min(shared, MachinePace());
  stop = true;
  EXPECT_LT(shared, 0.7 * alone);
}

TEST(PaceWatch, SaysAPaceOfTheBenchmark) {
  const PaceWatch watch;
  EXPECT_GT(watch.PassesPerSecond(), 0);
}

TEST(ReadCpuTime, GrowsAndHasStolenTimeAsAPart) {
  const CpuTime before = ReadCpuTime();
  EXPECT_GT(before.all, 0);
  EXPECT_GE(before.stolen, 0);
  EXPECT_LT(before.stolen, before.all);
}

}  // namespace
}  // namespace assay::runner
