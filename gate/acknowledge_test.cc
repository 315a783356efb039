#include "gate/acknowledge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "gate/judge.h"
#include "testing/example_scenes.h"

namespace assay::gate {
namespace {

using record::Check;
using record::Outcome;
using ::testing::HasSubstr;

constexpr char kTtft[] = "128x32.ttft_p50_ms";

// One FAIL: TPOT is slower by a tenth.
record::Verdict JudgeSlow(std::vector<Acknowledgement> acknowledgements,
                          const std::string& today = "2026-12-01") {
  testing::Scene scene = testing::SlowScene();
  Policy policy;
  policy.performance.primary = {"tpot_p50_ms"};
  policy.today = today;
  policy.acknowledgements = std::move(acknowledgements);
  return Judge(scene.run, {{scene.run.cells[0].key, policy, {"store", scene.baseline}}});
}

Acknowledgement ForTpot(const std::string& expires) {
  return {"a1", testing::ExampleCell().key, "128x32.tpot_p50_ms", "kim", "new sampler", "", expires};
}

const Check& Tpot(const record::Verdict& verdict) {
  return *std::find_if(verdict.checks.begin(), verdict.checks.end(),
                       [](const Check& check) { return check.metric == "tpot_p50_ms"; });
}

TEST(Acknowledge, LetsAFailThatSomebodyAcceptsDecideNothing) {
  ASSERT_EQ(JudgeSlow({}).exit_code, 1);
  const record::Verdict verdict = JudgeSlow({ForTpot("2026-12-31")});
  EXPECT_EQ(verdict.exit_code, 0);
  EXPECT_EQ(Tpot(verdict).outcome, Outcome::kFail) << "it still fails, and the report shows it";
  EXPECT_EQ(Tpot(verdict).acknowledged, "kim until 2026-12-31: new sampler");
  EXPECT_THAT(verdict.headline, HasSubstr("; 1 acknowledged"));
  const auto note = std::find_if(verdict.notes.begin(), verdict.notes.end(),
                                 [](const auto& n) { return n.kind == "acknowledged"; });
  ASSERT_NE(note, verdict.notes.end());
  EXPECT_EQ(note->text, "128x32.tpot_p50_ms fails and is acknowledged by kim until 2026-12-31: new sampler");
}

TEST(Acknowledge, HoldsThroughItsLastDayAndNoLonger) {
  EXPECT_EQ(JudgeSlow({ForTpot("2026-12-01")}).exit_code, 0);
  const record::Verdict expired = JudgeSlow({ForTpot("2026-11-30")});
  EXPECT_EQ(expired.exit_code, 1);
  EXPECT_THAT(Tpot(expired).reason, HasSubstr("the acknowledgement of kim held until 2026-11-30"));
  EXPECT_EQ(JudgeSlow({ForTpot("2026-11-30"), ForTpot("2026-12-02")}).exit_code, 0) << "it was renewed";
}

TEST(Acknowledge, IsForItsCellAndMetricOnly) {
  Acknowledgement other_cell = ForTpot("2026-12-31"), other_metric = other_cell;
  other_cell.cell = "another";
  other_metric.metric = kTtft;
  EXPECT_EQ(JudgeSlow({other_cell, other_metric}).exit_code, 1);
}

TEST(Acknowledge, CoversNeitherAnswersNearChanceNorACrash) {
  testing::Scene scene = testing::PassScene();
  testing::Break(*scene.run.cells[0].accuracy, 400);
  Policy policy;
  policy.threshold = ThresholdPolicy{0.9, ToleranceKind::kAbsolute, 0.05};
  policy.today = "2026-12-01";
  policy.acknowledgements = {{"", scene.run.cells[0].key, "gpqa_score", "kim", "?", "", "2026-12-31"}};
  EXPECT_EQ(Judge(scene.run, {{scene.run.cells[0].key, policy, {"store", scene.baseline}}}).exit_code, 1);
  scene = testing::CrashScene();
  policy.acknowledgements.push_back({"", scene.run.cells[0].key, "server", "kim", "?", "", "2026-12-31"});
  EXPECT_EQ(Judge(scene.run, {{scene.run.cells[0].key, policy, {"store", scene.baseline}}}).exit_code, 1);
}

TEST(Acknowledge, CoversAMachineOfAnotherPaceAndNoOtherBrokenMeasurement) {
  std::vector<Check> checks(2);
  for (Check& check : checks) {
    check.cell = "c";
    check.group = check.rule = "validity";
    check.outcome = Outcome::kInvalid;
  }
  checks[0].metric = "V10_machine_pace.s";
  checks[1].metric = "V6_completed.s";
  std::vector<record::VerdictNote> notes;
  Acknowledge({{"a", "c", kMachinePace, "kim", "new host", "", "2026-12-31"}}, "2026-12-01", checks, notes);
  EXPECT_FALSE(checks[0].primary);
  EXPECT_EQ(checks[0].acknowledged, "kim until 2026-12-31: new host");
  EXPECT_TRUE(checks[1].primary);
  EXPECT_EQ(notes.size(), 1u);
}

}  // namespace
}  // namespace assay::gate
