#include "runner/run/gpu_clocks.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

namespace assay::runner {
namespace {

// nvidia-smi with these answers, one call after the other.
Probe Answers(std::vector<Result<std::string>> answers) {
  auto next = std::make_shared<size_t>(0);
  Probe probe;
  probe.run = [answers = std::move(answers), next](const std::vector<std::string>& argv) {
    EXPECT_EQ(argv.front(), "nvidia-smi");
    return answers.at((*next)++);
  };
  return probe;
}

TEST(GpuClockWatch, SaysTheLargestShareOfAnyGpuAllReasonsTogether) {
  const GpuClockWatch watch(Answers({"0, 0, 0\n1000, 50, 0\n", "0, 0, 0\n1000, 7050, 3000\n"}), "");
  std::this_thread::sleep_for(std::chrono::milliseconds(40));  // 10 ms of these
  const auto share = watch.HeldBackShare();
  ASSERT_TRUE(share);
  EXPECT_GT(*share, 0);
  EXPECT_LE(*share, 0.25);
}

TEST(GpuClockWatch, AsksOfTheGpusNamed) {
  std::vector<std::string> asked;
  Probe probe;
  probe.run = [&](const std::vector<std::string>& argv) {
    asked = argv;
    return Result<std::string>("0, 0, 0\n");
  };
  const GpuClockWatch watch(probe, "2,3");
  ASSERT_GE(asked.size(), 2u);
  EXPECT_EQ(asked[asked.size() - 2], "-i");
  EXPECT_EQ(asked.back(), "2,3");
}

TEST(GpuClockWatch, IsZeroWhereNothingWasHeldBackAndAtMostOne) {
  EXPECT_EQ(GpuClockWatch(Answers({"7, 7, 7\n", "7, 7, 7\n"}), "").HeldBackShare(), 0);
  EXPECT_EQ(GpuClockWatch(Answers({"0, 0, 0\n", "99000000, 0, 0\n"}), "").HeldBackShare(), 1);
}

TEST(GpuClockWatch, SaysNothingWhereTheDriverDoesNot) {
  const auto missing = Fail(ErrorKind::kInfrastructure, "nvidia-smi could not be started");
  EXPECT_FALSE(GpuClockWatch(Answers({missing}), "").HeldBackShare());
  EXPECT_FALSE(GpuClockWatch(Answers({"[N/A], [N/A], [N/A]\n"}), "").HeldBackShare());
  EXPECT_FALSE(
      GpuClockWatch(Answers({"Field \"clocks_event_reasons_counters.hw\" is not a valid field\n"}), "")
          .HeldBackShare());
  EXPECT_FALSE(GpuClockWatch(Answers({""}), "").HeldBackShare());
  EXPECT_FALSE(GpuClockWatch(Answers({"0, 0, 0\n", missing}), "").HeldBackShare()) << "gone meanwhile";
}

}  // namespace
}  // namespace assay::runner
