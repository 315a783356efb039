// How the baseline advances, what is accepted, and where runs are kept, seen from outside.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runner/cli/exit_code.h"
#include "tests/end_to_end/assay_test.h"

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kRolling[] =
    "baseline: {policy: rolling, branch: main, first_run: record}, accuracy: {margin: 0.9}";

// Answers only: two of the twelve are right, whatever the run.
class BaselineTest : public AssayTest {
 protected:
  int RunWithThreshold(const std::string& threshold, const std::string& gate = kRolling) {
    return RunScene({.gpqa = "threshold: " + threshold + ", tolerance: {kind: absolute, value: 0}",
                     .serving = "",
                     .gate = gate});
  }
  int Good() { return RunWithThreshold("0.16"); }
  int Bad() { return RunWithThreshold("0.9"); }
  std::string List() {
    EXPECT_EQ(Run({"baseline", "list"}), 0) << Err();
    return Out();
  }
  bool HasNote(const std::string& kind, const std::string& text) const {
    for (const auto& note : Verdict().notes) {
      if (note.kind == kind && note.text.find(text) != std::string::npos) return true;
    }
    return false;
  }
  static constexpr char kCell[] = "cpu.scripted";
};

TEST_F(BaselineTest, StopsAtAFailAndGoesOnAfterAPass) {
  ASSERT_EQ(Good(), runner::kExitPass) << Err() << Out();
  EXPECT_THAT(List(), Not(HasSubstr("open regression")));
  ASSERT_EQ(Bad(), runner::kExitFail) << Err() << Out();
  EXPECT_THAT(List(), HasSubstr("open regression on main"));
  EXPECT_THAT(Out(), HasSubstr("cpu.scripted: gpqa_score fails since run"));
  ASSERT_EQ(Good(), runner::kExitPass) << Err() << Out();
  EXPECT_TRUE(HasNote("regression", "assay baseline ack cpu.scripted gpqa_score"));
  EXPECT_THAT(List(), Not(HasSubstr("open regression")));
}

TEST_F(BaselineTest, TakesAnAcknowledgedFailForANote) {
  ASSERT_EQ(Good(), runner::kExitPass) << Err();
  ASSERT_EQ(Bad(), runner::kExitFail) << Err();
  const std::vector<std::string> ack = {"baseline", "ack",      kCell,    "gpqa_score", "--owner",
                                        "kim",      "--reason", "prompt", "--expires"};
  const auto acknowledge = [&](const std::string& expires) {
    std::vector<std::string> arguments = ack;
    arguments.push_back(expires);
    return Run(arguments);
  };
  EXPECT_EQ(acknowledge("2020-01-01"), runner::kExitUsage);
  EXPECT_EQ(acknowledge("soon"), runner::kExitUsage);
  EXPECT_THAT(Err(), HasSubstr("--expires: must be a day as 2026-12-31, got soon"));
  ASSERT_EQ(acknowledge("2999-12-31"), 0) << Err();
  ASSERT_EQ(Bad(), runner::kExitPass) << Err() << Out();
  EXPECT_TRUE(
      HasNote("acknowledged", "gpqa_score fails and is acknowledged by kim until 2999-12-31: prompt"));
  EXPECT_THAT(Verdict().headline, HasSubstr("1 acknowledged"));
  EXPECT_THAT(List(), HasSubstr("accepted by kim until 2999-12-31: prompt"));
  EXPECT_EQ(Run({"baseline", "acks"}), 0);
  EXPECT_THAT(Out(), HasSubstr("holds cpu.scripted gpqa_score: kim until 2999-12-31"));
}

TEST_F(BaselineTest, NamesTheMetricsThereAreForOneThatIsNone) {
  ASSERT_EQ(Good(), runner::kExitPass) << Err();
  EXPECT_EQ(Run({"baseline", "ack", kCell, "gpqa_scor", "--owner", "kim", "--reason", "x", "--expires",
                 "2999-01-01"}),
            runner::kExitUsage);
  EXPECT_THAT(Err(), HasSubstr("nothing called gpqa_scor was ever compared; there is gpqa_score"));
}

TEST_F(BaselineTest, SaysThatAWorkaroundCanGoAndStaysGreen) {
  std::string config =
      Config({.gpqa = "threshold: 0.16, tolerance: {kind: absolute, value: 0}", .serving = ""});
  config += "workarounds: [{id: old-kernel, until: \"kernel>=1\"}, {id: lost, until: \"aiter>=1\"}]\n";
  ASSERT_EQ(Run({"run", Write("config.yaml", config)}), runner::kExitPass) << Err() << Out();
  EXPECT_TRUE(HasNote("workaround", "old-kernel can go: kernel is"));
  EXPECT_TRUE(HasNote("workaround_stays", "the version of aiter is unknown here"));
  EXPECT_THAT(Verdict().headline, HasSubstr("1 workaround can go"));
}

TEST_F(BaselineTest, OfTheMergeBaseFailsClosedBeforeAnythingIsLaunched) {
  EXPECT_EQ(RunWithThreshold("0.16", "baseline: {policy: merge_base}"), runner::kExitInvalid);
  EXPECT_THAT(Err(), HasSubstr("is no git checkout"));
  EXPECT_FALSE(Launched());
}

TEST_F(BaselineTest, IsKeptInAFolderThatAnotherStoreTakesOver) {
  const std::string threshold = "threshold: 0.16, tolerance: {kind: absolute, value: 0}";
  ASSERT_EQ(RunScene({.gpqa = threshold, .serving = "", .gate = kRolling}, {"--store", "runs/"}), 0) << Err();
  EXPECT_EQ(Run({"baseline", "copy", "copy.db", "--store", "runs"}), 0) << Err();
  EXPECT_THAT(Out(), HasSubstr("copied 1 run and 0 acknowledgements"));
  EXPECT_EQ(Run({"baseline", "list", "--store", "copy.db"}), 0) << Err();
  EXPECT_THAT(Out(), HasSubstr("cpu.scripted"));
}

TEST_F(BaselineTest, HasAHistory) {
  ASSERT_EQ(Good(), 0) << Err();
  ASSERT_EQ(Good(), 0) << Err();
  ASSERT_EQ(Run({"history"}), 0) << Err();
  EXPECT_THAT(Out(), HasSubstr("gpqa_score"));
  EXPECT_THAT(Out(), HasSubstr("2 runs"));
  EXPECT_THAT(Out(), HasSubstr("too few runs to find a change: 2 since the series began, 10 are needed"));
  ASSERT_EQ(Run({"history", "--format", "json"}), 0) << Err();
  EXPECT_THAT(Out(), HasSubstr("\"schema\": \"assay/history/1\""));
  EXPECT_EQ(Run({"history", "--branch", "trunk"}), runner::kExitUsage);
}

}  // namespace
}  // namespace assay
