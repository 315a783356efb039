// Ctrl-C and kills at any moment: the exit code, a readable record, and no process left.

#include <gtest/gtest.h>
#include <signal.h>

#include <thread>

#include "base/text.h"
#include "runner/cli/exit_code.h"
#include "testing/program.h"
#include "tests/end_to_end/assay_test.h"

namespace assay {
namespace {

class InterruptTest : public AssayTest {
 protected:
  // A run that takes some seconds: 12 questions of 100 tokens at 10 ms, two at a time.
  std::unique_ptr<testing::Program> StartSlowRun() {
    Scene scene{.server_flags = "--tokens, \"100\"", .token_interval_ms = 10};
    std::string config = ReplaceAll(Config(scene), "max_tokens: 16", "max_tokens: 1000");
    return std::make_unique<testing::Program>(
        Argv({"run", Write("config.yaml", config), "--out", "out/slow"}), Env(), folder_.path().string());
  }

  // Waits for a file of the run to hold `text`.
  bool WaitFor(const std::string& file, const std::string& text) const {
    for (int i = 0; i < 2000; ++i) {
      const auto content = ReadFile(folder_ / ("out/slow/" + file));
      if (content && content->find(text) != std::string::npos) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }
};

TEST_F(InterruptTest, CtrlCKeepsWhatWasMeasured) {
  const auto run = StartSlowRun();
  ASSERT_TRUE(WaitFor("journal.jsonl", "rec01")) << run->Err();
  run->Signal(SIGINT);
  EXPECT_EQ(run->Wait(), runner::kExitInterrupted) << run->Err();
  const auto record = record::LoadRunRecord(folder_ / "out/slow/record.json");
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_EQ(record->status, "interrupted");
  ASSERT_TRUE(record->cells.at(0).accuracy);
  EXPECT_FALSE(record->cells[0].accuracy->complete);
  EXPECT_NE(ReadFile(folder_ / "out/slow/report.md").value().find("INTERRUPTED"), std::string::npos);
}

TEST_F(InterruptTest, CtrlCAtAnyMomentLeavesNothingBehind) {
  for (int after_ms = 0; after_ms <= 700; after_ms += 70) {
    const auto run = StartSlowRun();
    std::this_thread::sleep_for(std::chrono::milliseconds(after_ms));
    run->Signal(SIGINT);
    const int exit_code = run->Wait();
    // Before the handler is in place the shell's own rule holds: death by the signal, nothing launched.
    EXPECT_TRUE(exit_code == runner::kExitInterrupted || exit_code == 128 + SIGINT)
        << exit_code << run->Err();
    EXPECT_TRUE(testing::ProcessesWith(model_).empty()) << "after " << after_ms << " ms";
    if (std::filesystem::exists(folder_ / "out/slow")) {
      const auto record = record::LoadRunRecord(folder_ / "out/slow/record.json");
      ASSERT_TRUE(record) << "after " << after_ms << " ms: " << record.error().message;
      EXPECT_EQ(record->status, "interrupted");
    }
    std::filesystem::remove_all(folder_ / "out");
  }
}

TEST_F(InterruptTest, AKilledRunLeavesItsJournalAndNoServer) {
  const auto run = StartSlowRun();
  ASSERT_TRUE(WaitFor("journal.jsonl", "rec01")) << run->Err();
  ::kill(run->pid(), SIGKILL);
  run->Wait();
  for (int i = 0; i < 400 && !testing::ProcessesWith(model_).empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_TRUE(testing::ProcessesWith(model_).empty());
  EXPECT_NE(ReadFile(folder_ / "out/slow/journal.jsonl").value().find("\"rec01\""), std::string::npos);
}

}  // namespace
}  // namespace assay
