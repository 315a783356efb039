#include "runner/run/advance.h"

#include <gtest/gtest.h>

#include "runner/store/regressions.h"
#include "testing/example_scenes.h"

namespace assay::runner {
namespace {

using record::Outcome;

constexpr char kTpot[] = "128x32.tpot_p50_ms";

// Nights on main, each judged by hand and stored with what was there before.
class Advance : public ::testing::Test {
 protected:
  Advance() {
    record_ = testing::ExampleRun();
    record_.branch = "main";
    policy_.cell_key = record_.cells[0].key;
    policy_.policy.today = "2026-12-01";
  }

  record::Check Tpot(Outcome outcome) const {
    record::Check check;
    check.cell = policy_.cell_key;
    check.group = "serving:128x32";
    check.metric = "tpot_p50_ms";
    check.rule = "performance";
    check.outcome = outcome;
    return check;
  }

  // Whether the run of this night becomes a baseline.
  bool Night(Outcome tpot, const std::string& branch = "main") {
    record_.id = "r" + std::to_string(runs_.size());
    record_.branch = branch;
    record::Verdict verdict;
    verdict.checks = {Tpot(tpot)};
    runs_.insert(runs_.begin(), DescribeJudged(record_, verdict, {policy_}, runs_));
    return runs_.front().cells.at(0).eligible;
  }

  record::RunRecord record_;
  gate::CellPolicy policy_;
  std::vector<StoredRun> runs_;  // newest first
};

TEST_F(Advance, StopsWithAFailUntilARunPassesAgain) {
  EXPECT_TRUE(Night(Outcome::kPass));
  EXPECT_FALSE(Night(Outcome::kFail));
  EXPECT_FALSE(Night(Outcome::kInconclusive)) << "nobody has shown that it is good again";
  EXPECT_TRUE(Night(Outcome::kPass));
  EXPECT_TRUE(Night(Outcome::kInconclusive));
}

TEST_F(Advance, GoesOnWhenTheRegressionIsAccepted) {
  Night(Outcome::kPass);
  Night(Outcome::kFail);
  policy_.policy.acknowledgements = {{"a", policy_.cell_key, kTpot, "kim", "new sampler", "", "2026-12-31"}};
  EXPECT_TRUE(Night(Outcome::kFail));
  policy_.policy.today = "2027-01-01";
  EXPECT_FALSE(Night(Outcome::kFail)) << "accepted until the day before";
}

TEST_F(Advance, IsNotStoppedByAFailOfAnotherBranch) {
  Night(Outcome::kPass);
  Night(Outcome::kFail, "topic");
  EXPECT_TRUE(Night(Outcome::kPass));
  EXPECT_TRUE(AllOpenRegressions(runs_).size() == 1 && AllOpenRegressions(runs_)[0].line.branch == "topic");
}

TEST_F(Advance, IsOfEachMachineAndConfigApart) {
  Night(Outcome::kFail);
  record_.cells[0].fingerprint.host = "another";
  EXPECT_TRUE(Night(Outcome::kInconclusive));
  record_.cells[0].fingerprint.host = testing::ExampleCell().fingerprint.host;
  EXPECT_FALSE(Night(Outcome::kInconclusive));
  record_.cells[0].config_hash = "another";
  EXPECT_TRUE(Night(Outcome::kInconclusive));
}

TEST_F(Advance, CountsAResumedRunOnce) {
  Night(Outcome::kFail);
  const std::vector<StoredRun> before = runs_;
  record_.id = "r0";
  record::Verdict verdict;
  EXPECT_TRUE(DescribeJudged(record_, verdict, {policy_}, before).cells.at(0).eligible)
      << "what the first attempt said is replaced";
}

TEST_F(Advance, KeepsARunThatIsSignificantlySlowerOut) {
  record_.id = "r";
  record::Verdict verdict;
  record::Check check = Tpot(Outcome::kInconclusive);
  check.direction = record::Direction::kLowerIsBetter;
  check.ci_low = 0.01;
  check.ci_high = 0.05;
  verdict.checks = {check};
  EXPECT_FALSE(DescribeJudged(record_, verdict, {policy_}, {}).cells.at(0).eligible);
  verdict.checks[0].change = 0.03;
  verdict.checks[0].noise_floor = 0.05;
  EXPECT_TRUE(DescribeJudged(record_, verdict, {policy_}, {}).cells.at(0).eligible)
      << "equal code differs by as much: without such runs the baseline would be of the fast ones alone";
  verdict.checks[0].noise_floor = 0.02;
  EXPECT_FALSE(DescribeJudged(record_, verdict, {policy_}, {}).cells.at(0).eligible);
  verdict.checks[0].ci_low = -0.01;
  EXPECT_TRUE(DescribeJudged(record_, verdict, {policy_}, {}).cells.at(0).eligible);
  policy_.baseline.requested = false;
  EXPECT_FALSE(DescribeJudged(record_, verdict, {policy_}, {}).cells.at(0).eligible) << "--baseline none";
}

}  // namespace
}  // namespace assay::runner
