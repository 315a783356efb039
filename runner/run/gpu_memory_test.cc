#include "runner/run/gpu_memory.h"

#include <gmock/gmock.h>

#include <memory>

#include "testing/temp_dir.h"

namespace assay::runner {
namespace {

using std::chrono::milliseconds;

// nvidia-smi with these answers, the last one from then on.
Probe Answers(std::vector<std::string> answers) {
  Probe probe;
  probe.root = "/nowhere";
  auto next = std::make_shared<size_t>(0);
  probe.run = [answers = std::move(answers),
               next](const std::vector<std::string>& argv) -> Result<std::string> {
    EXPECT_EQ(argv.front(), "nvidia-smi");
    return answers.at(std::min((*next)++, answers.size() - 1));
  };
  return probe;
}

TEST(GpuMemoryWatch, WaitsUntilTheMemoryIsGivenBack) {
  const std::atomic<bool> interrupted{false};
  const GpuMemoryWatch watch(Answers({"4\n900\n", "61004\n900\n", "30004\n900\n", "300\n950\n"}), "");
  EXPECT_EQ(watch.AwaitFreed(milliseconds(20000), interrupted), "");
  EXPECT_EQ(GpuMemoryWatch(Answers({"4\n", "4\n"}), "").AwaitFreed(milliseconds(0), interrupted), "");
}

TEST(GpuMemoryWatch, SaysWhatIsStillHeld) {
  const std::atomic<bool> interrupted{false};
  EXPECT_THAT(
      GpuMemoryWatch(Answers({"4\n100\n", "600\n50100\n"}), "").AwaitFreed(milliseconds(300), interrupted),
      ::testing::StartsWith("50000 MB more than before the server started are still held on GPU 1, "));
}

TEST(GpuMemoryWatch, EndsWhenInterrupted) {
  const std::atomic<bool> interrupted{true};
  EXPECT_NE(GpuMemoryWatch(Answers({"4\n", "60000\n"}), "").AwaitFreed(std::chrono::minutes(5), interrupted),
            "");
}

TEST(GpuMemoryWatch, AsksOfTheGpusNamed) {
  std::vector<std::string> asked;
  Probe probe;
  probe.root = "/nowhere";
  probe.run = [&](const std::vector<std::string>& argv) -> Result<std::string> {
    asked = argv;
    return std::string("4\n");
  };
  const GpuMemoryWatch watch(probe, "2,3");
  ASSERT_GE(asked.size(), 2u);
  EXPECT_EQ(asked[asked.size() - 2] + asked.back(), "-i2,3");
}

TEST(GpuMemoryWatch, WaitsForNothingWhereNobodySays) {
  const std::atomic<bool> interrupted{false};
  EXPECT_EQ(GpuMemoryWatch(Answers({"[N/A]\n"}), "").AwaitFreed(std::chrono::minutes(5), interrupted), "");
  Probe probe = Answers({""});
  probe.run = [](const std::vector<std::string>&) -> Result<std::string> {
    return Fail(ErrorKind::kInfrastructure, "nvidia-smi could not be started");
  };
  EXPECT_EQ(GpuMemoryWatch(probe, "").AwaitFreed(std::chrono::minutes(5), interrupted), "");
}

TEST(GpuMemoryWatch, ReadsTheFilesOfAmdsDriver) {
  const std::atomic<bool> interrupted{false};
  testing::TempDir root;
  const Path used = root / "sys/class/drm/card1/device/mem_info_vram_used";
  std::filesystem::create_directories(used.parent_path());
  std::filesystem::create_directories(root / "sys/class/drm/card1-DP-1/device");
  ASSERT_TRUE(WriteFileAtomic(used, "10485760\n"));
  Probe probe;
  probe.root = root.path();
  probe.run = [](const std::vector<std::string>&) -> Result<std::string> {
    return Fail(ErrorKind::kInfrastructure, "nvidia-smi could not be started");
  };
  const GpuMemoryWatch watch(probe, "");
  ASSERT_TRUE(WriteFileAtomic(used, "2107637760\n"));  // 2010 MB
  EXPECT_THAT(watch.AwaitFreed(milliseconds(0), interrupted),
              ::testing::StartsWith("2000 MB more than before the server started are still held on GPU 0, "));
  ASSERT_TRUE(WriteFileAtomic(used, "10485760\n"));
  EXPECT_EQ(watch.AwaitFreed(milliseconds(0), interrupted), "");
}

}  // namespace
}  // namespace assay::runner
