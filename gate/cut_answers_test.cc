#include <gtest/gtest.h>

#include "gate/accuracy.h"
#include "testing/example_run.h"

namespace assay::gate {
namespace {

using record::Outcome;

record::CellRecord WithCut(int64_t cut) {
  record::CellRecord cell = testing::ExampleCell();
  for (record::QuestionSample& sample : cell.accuracy->samples) {
    if (cut-- > 0) sample.finish_reason = "length";
  }
  return cell;
}

Outcome OutcomeOf(int64_t now, int64_t before) {
  return JudgeCutAnswers(WithCut(now), WithCut(before), {}).front().outcome;
}

TEST(JudgeCutAnswers, SaysNothingWhereNoAnswerWasCut) {
  EXPECT_TRUE(JudgeCutAnswers(WithCut(0), WithCut(0), {}).empty());
}

// The rule of the score, for the share that is cut: nine of 448 fail a margin of 3 points (9/448 + 1.645 SE =
// 0.0310), eight do not (0.0282).
TEST(JudgeCutAnswers, FailsWhenMoreAreCutThanTheMarginAllows) {
  EXPECT_EQ(OutcomeOf(8, 0), Outcome::kPass);
  EXPECT_EQ(OutcomeOf(9, 0), Outcome::kFail);
  EXPECT_EQ(OutcomeOf(448, 0), Outcome::kFail) << "the score need not have moved";
}

TEST(JudgeCutAnswers, AModelThatAlwaysRanOnMayDoSo) {
  EXPECT_EQ(OutcomeOf(200, 200), Outcome::kPass);
  EXPECT_EQ(OutcomeOf(0, 200), Outcome::kPass);
}

TEST(JudgeCutAnswers, StatesTheChangeAsItWasMeasured) {
  const record::Check check = JudgeCutAnswers(WithCut(45), WithCut(0), {}).front();
  EXPECT_EQ(check.metric, "gpqa_cut_share");
  EXPECT_NEAR(*check.change, 45.0 / 448, 1e-12);
  EXPECT_LT(*check.ci_low, *check.change);
  EXPECT_GT(*check.ci_low, 0);
}

}  // namespace
}  // namespace assay::gate
