// Each exit code of `assay run`, seen from outside.

#include "runner/cli/exit_code.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "tests/end_to_end/assay_test.h"

namespace assay {
namespace {

using ExitCodeTest = AssayTest;

// Always answering A is right for 2 of the 12 questions (see assay_test.cc): a score of 0.1667.
constexpr char kReachable[] = "threshold: 0.16, tolerance: {kind: absolute, value: 0}";
constexpr char kTooHigh[] = "threshold: 0.9, tolerance: {kind: absolute, value: 0.05}";
constexpr char kFailClosed[] = "baseline: {policy: rolling, branch: main}";
constexpr char kFirstRun[] = "baseline: {policy: rolling, branch: main, first_run: record}";

TEST_F(ExitCodeTest, ZeroWhenTheScoreReachesTheThreshold) {
  EXPECT_EQ(RunScene({.gpqa = kReachable}), runner::kExitPass) << Err() << Out();
  const record::RunRecord record = Record();
  EXPECT_EQ(record.status, "complete");
  ASSERT_TRUE(record.cells.at(0).accuracy);
  EXPECT_EQ(record::Count(*record.cells[0].accuracy).correct, 2);
  EXPECT_EQ(record.cells[0].serving.at(0).requests.size(), 8u);
  for (const char* file : {"report.md", "record.json", "verdict.json", "journal.jsonl"}) {
    EXPECT_TRUE(std::filesystem::exists(LastOut() / file)) << file;
  }
  EXPECT_TRUE(std::filesystem::exists(LastOut() / record.cells[0].server.log_file));
}

TEST_F(ExitCodeTest, OneWhenTheThresholdIsAboveTheScore) {
  EXPECT_EQ(RunScene({.gpqa = kTooHigh}), runner::kExitFail) << Err() << Out();
  EXPECT_EQ(Verdict().outcome, record::Outcome::kFail);
}

TEST_F(ExitCodeTest, TwoForAnUnknownKeyAndNothingIsLaunched) {
  EXPECT_EQ(RunScene({.engine = "tokeniser: x"}), runner::kExitUsage);
  EXPECT_NE(Err().find("config.yaml:10:3: engine.tokeniser"), std::string::npos) << Err();
  EXPECT_NE(Err().find("tokenizer"), std::string::npos) << Err();
  EXPECT_FALSE(Launched());
}

TEST_F(ExitCodeTest, TwoForAMissingConfigASuiteThatIsNoneAndABadFlag) {
  EXPECT_EQ(Run({"run", "nowhere.yaml"}), runner::kExitUsage);
  EXPECT_NE(Err().find("nowhere.yaml"), std::string::npos) << Err();
  EXPECT_EQ(RunScene({}, {"--suite", "smoky"}), runner::kExitUsage);
  EXPECT_NE(Err().find("smoky"), std::string::npos) << Err();
  EXPECT_EQ(RunScene({}, {"--suit", "smoke"}), runner::kExitUsage);
  EXPECT_NE(Err().find("did you mean --suite?"), std::string::npos) << Err();
  EXPECT_FALSE(Launched());
}

TEST_F(ExitCodeTest, FourWithoutABaseline) {
  EXPECT_EQ(RunScene({.gpqa = kReachable, .gate = kFailClosed}), runner::kExitInvalid) << Err() << Out();
  EXPECT_TRUE(Verdict().missing_baseline);
  EXPECT_EQ(RunScene({.gpqa = kReachable, .gate = kFailClosed}, {"--allow-missing-baseline"}),
            runner::kExitPass)
      << Err() << Out();
}

TEST_F(ExitCodeTest, FourOnTheWrongHardwareAndNothingIsLaunched) {
  const std::string config = ReplaceAll(Config({}), "hardware: cpu", "hardware: gfx950");
  EXPECT_EQ(Run({"run", Write("config.yaml", config)}), runner::kExitInvalid);
  EXPECT_NE(Err().find("gfx950"), std::string::npos) << Err();
  EXPECT_FALSE(Launched());
}

TEST_F(ExitCodeTest, SeventyFiveForAnEngineThatIsNotThere) {
  const std::string config = ReplaceAll(Config({}), "/assay-scripted-server", "/no-such-engine");
  EXPECT_EQ(Run({"run", Write("config.yaml", config)}), runner::kExitInfrastructure) << Err() << Out();
  EXPECT_NE(Err().find("/no-such-engine"), std::string::npos) << Err();
}

TEST_F(ExitCodeTest, TheFirstRunIsRecordedAndTheSecondComparedWithIt) {
  const Scene scene{.gpqa = kReachable, .gate = kFirstRun};
  EXPECT_EQ(RunScene(scene), runner::kExitPass) << Err() << Out();
  EXPECT_NE(ReadFile(LastOut() / "report.md").value().find("no performance baseline"), std::string::npos);
  EXPECT_EQ(RunScene(scene), runner::kExitPass) << Err() << Out();
  bool compared = false;
  for (const record::Check& check : Verdict().checks) {
    compared |= check.rule == "performance" && check.reference.has_value();
  }
  EXPECT_TRUE(compared);
}

TEST_F(ExitCodeTest, ThreeWhenOneRunCannotDecideUnderStrict) {
  const Scene scene{.gpqa = kReachable, .gate = kFirstRun};
  ASSERT_EQ(RunScene(scene), runner::kExitPass) << Err() << Out();
  EXPECT_EQ(RunScene(scene, {"--strict"}), runner::kExitInconclusive) << Err() << Out();
}

TEST_F(ExitCodeTest, AFailedRunNeverBecomesABaseline) {
  ASSERT_EQ(RunScene({.gpqa = kTooHigh, .gate = kFirstRun}), runner::kExitFail);
  EXPECT_EQ(RunScene({.gpqa = kReachable, .gate = kFailClosed}), runner::kExitInvalid)
      << "the store must offer nothing";
}

TEST_F(ExitCodeTest, ABaselineFileIsComparedQuestionByQuestion) {
  ASSERT_EQ(RunScene({.gpqa = kReachable}), runner::kExitPass);
  const std::string baseline = (LastOut() / "record.json").string();
  // Right letters are C D C B C C C D A C A D: always B wins the fourth question and loses the ninth and the
  // eleventh.
  EXPECT_EQ(RunScene({.server_flags = "--answer, \"Answer: B\""},
                     {"--baseline", baseline, "--allow-missing-baseline"}),
            runner::kExitPass)
      << Err() << Out();
  EXPECT_NE(Out().find("lost (2): rec08, rec10"), std::string::npos) << Out();
  EXPECT_NE(Out().find("won (1): rec03"), std::string::npos) << Out();
  const record::Verdict verdict = Verdict();
  const auto paired = std::find_if(verdict.checks.begin(), verdict.checks.end(),
                                   [](const record::Check& check) { return check.rule == "paired"; });
  ASSERT_NE(paired, verdict.checks.end());
  EXPECT_EQ(paired->outcome, record::Outcome::kInconclusive)
      << "12 questions cannot exclude a loss of 3 points";
}

TEST_F(ExitCodeTest, ABaselineThatIsNotThereIsRefusedBeforeAnythingIsLaunched) {
  EXPECT_EQ(RunScene({}, {"--baseline", "nowhere/record.json"}), runner::kExitUsage);
  EXPECT_NE(Err().find("nowhere/record.json"), std::string::npos) << Err();
  EXPECT_EQ(RunScene({.gate = "baseline: {policy: rolling, pinned_file: nowhere.json}"}), runner::kExitUsage);
  EXPECT_NE(Err().find("gate.baseline.pinned_file"), std::string::npos) << Err();
  EXPECT_FALSE(Launched());
}

TEST_F(ExitCodeTest, AChangedConfigIsNoFirstRun) {
  ASSERT_EQ(RunScene({.gpqa = kReachable, .gate = kFirstRun}), runner::kExitPass) << Err() << Out();
  const Scene changed{.token_interval_ms = 21, .gpqa = kReachable, .gate = kFirstRun};
  EXPECT_EQ(RunScene(changed), runner::kExitInvalid) << Err() << Out();
  EXPECT_EQ(RunScene(changed, {"--allow-missing-baseline"}), runner::kExitPass) << Err() << Out();
}

TEST_F(ExitCodeTest, WhatTheBaseMeasuredMustNotBeMissing) {
  ASSERT_EQ(RunScene({.gpqa = kReachable}), runner::kExitPass);
  const std::string base = (LastOut() / "record.json").string();
  EXPECT_EQ(Run({"compare", base, base}), runner::kExitPass) << Err() << Out();
  record::RunRecord head = Record();
  head.cells[0].accuracy.reset();
  const std::string without = (folder_ / "head.json").string();
  ASSERT_TRUE(record::SaveRunRecord(head, without));
  EXPECT_EQ(Run({"compare", base, without}), runner::kExitInvalid);
  EXPECT_NE(Err().find("has no accuracy eval"), std::string::npos) << Err();
}

TEST_F(ExitCodeTest, DryRunPrintsTheCommandLineAndLaunchesNothing) {
  EXPECT_EQ(RunScene({}, {"--dry-run"}), runner::kExitPass) << Err();
  EXPECT_NE(Out().find("assay-scripted-server"), std::string::npos) << Out();
  EXPECT_FALSE(Launched());
}

}  // namespace
}  // namespace assay
