#include "gate/regression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gate/acknowledge.h"
#include "gate/judge.h"
#include "testing/example_scenes.h"

namespace assay::gate {
namespace {

using record::Outcome;
using ::testing::IsEmpty;
using ::testing::SizeIs;

JudgedRun Judged(const std::string& id, Outcome outcome) {
  return {id, "", "c-" + id, {{"gpqa_score", outcome}}};
}

TEST(OpenRegressions, BeginWithAFailAndEndWithAPass) {
  const JudgedRun good = Judged("1", Outcome::kPass), bad = Judged("2", Outcome::kFail);
  EXPECT_THAT(OpenRegressions({good}), IsEmpty());
  ASSERT_THAT(OpenRegressions({good, bad}), SizeIs(1));
  EXPECT_EQ(OpenRegressions({good, bad})[0].run_id, "2");
  EXPECT_THAT(OpenRegressions({good, bad, Judged("3", Outcome::kPass)}), IsEmpty());
}

TEST(OpenRegressions, KeepTheRunThatOpenedThem) {
  const auto open = OpenRegressions({Judged("1", Outcome::kFail), Judged("2", Outcome::kFail)});
  ASSERT_THAT(open, SizeIs(1));
  EXPECT_EQ(open[0].run_id, "1");
  EXPECT_EQ(open[0].commit, "c-1");
}

TEST(OpenRegressions, AreNotClosedByWhatDecidedNothing) {
  EXPECT_THAT(OpenRegressions({Judged("1", Outcome::kFail),
                               Judged("2", Outcome::kInconclusive),
                               {"3", "", "", {{"128x32.tpot_p50_ms", Outcome::kPass}}}}),
              SizeIs(1));
}

TEST(Regressions, CountTheRunsUntilOnePassed) {
  const auto all = Regressions({Judged("1", Outcome::kPass), Judged("2", Outcome::kFail),
                                Judged("3", Outcome::kInconclusive), Judged("4", Outcome::kFail),
                                Judged("5", Outcome::kPass), Judged("6", Outcome::kFail)});
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0].run_id, "2");
  EXPECT_EQ(all[0].runs, 3);
  EXPECT_FALSE(all[0].open);
  EXPECT_EQ(all[1].run_id, "6");
  EXPECT_EQ(all[1].runs, 1);
  EXPECT_TRUE(all[1].open);
}

TEST(ComparedMetrics, AreThoseThatAVerdictDecided) {
  const testing::Scene scene = testing::FailScene();
  const std::string cell = scene.run.cells[0].key;
  const auto metrics = ComparedMetrics(Judge(scene.run, {{cell, {}, {"store", scene.baseline}}}), cell);
  // The speed of wrong answers is not judged, so it neither fails nor passes.
  ASSERT_THAT(metrics, SizeIs(1));
  EXPECT_EQ(metrics.at("gpqa_score"), Outcome::kFail);
}

record::Check CheckOf(const std::string& group, const std::string& metric, const std::string& rule) {
  record::Check check;
  check.cell = "c";
  check.group = group;
  check.metric = metric;
  check.rule = rule;
  return check;
}

TEST(ComparedMetrics, PassOnlyIfEveryCheckOfTheMetricDoes) {
  record::Verdict verdict;
  record::Check check = CheckOf("accuracy", "gpqa_score", "threshold");
  verdict.checks.push_back(check);
  check.rule = "paired";
  check.outcome = Outcome::kInconclusive;
  verdict.checks.push_back(check);
  EXPECT_EQ(ComparedMetrics(verdict, "c").at("gpqa_score"), Outcome::kInconclusive);
  verdict.checks[0].outcome = Outcome::kFail;
  EXPECT_EQ(ComparedMetrics(verdict, "c").at("gpqa_score"), Outcome::kFail);
  EXPECT_THAT(ComparedMetrics(verdict, "other"), IsEmpty());
}

TEST(ComparedMetrics, SayWhetherTheMachineWasAsFastAsBefore) {
  record::Verdict verdict;
  verdict.checks.push_back(CheckOf("validity", "V10_machine_pace.s", "validity"));
  verdict.checks.push_back(CheckOf("validity", "V10_machine_pace.t", "validity"));
  EXPECT_EQ(ComparedMetrics(verdict, "c").at(kMachinePace), Outcome::kPass);
  verdict.checks[1].outcome = Outcome::kInvalid;
  EXPECT_EQ(ComparedMetrics(verdict, "c").at(kMachinePace), Outcome::kInvalid);
}

TEST(ComparedMetrics, CountAnAcknowledgedFailAsOne) {
  record::Verdict verdict;
  record::Check check = CheckOf("serving:s", "ttft_p50_ms", "performance");
  check.outcome = Outcome::kFail;
  check.primary = false;
  verdict.checks.push_back(check);  // an observation
  EXPECT_THAT(ComparedMetrics(verdict, "c"), IsEmpty());
  verdict.checks[0].acknowledged = "kim";
  EXPECT_EQ(ComparedMetrics(verdict, "c").at("s.ttft_p50_ms"), Outcome::kFail);
}

}  // namespace
}  // namespace assay::gate
