#include <gtest/gtest.h>

#include "gate/accuracy.h"
#include "testing/example_run.h"

namespace assay::gate {
namespace {

using record::Outcome;

// Eight published GPQA-diamond scores of one model (198 questions, 8 samples each), as right answers of 1584.
constexpr int64_t kScores[] = {909, 887, 903, 907, 881, 886, 904, 876};

record::CellRecord CellWith(int64_t correct) {
  record::CellRecord cell;
  cell.accuracy = testing::ExampleAccuracy(1584, correct);
  return cell;
}

Outcome Threshold(int64_t correct, const ThresholdPolicy& policy) {
  return JudgeThreshold(CellWith(correct), policy)[1].outcome;
}

TEST(JudgeThreshold, TheTwoReadingsOfFivePercentDiffer) {
  const ThresholdPolicy absolute{0.568, ToleranceKind::kAbsolute, 0.05};
  const ThresholdPolicy relative{0.568, ToleranceKind::kRelative, 0.05};
  for (int64_t correct : kScores) {
    EXPECT_EQ(Threshold(correct, absolute), Outcome::kPass) << correct;
    EXPECT_EQ(Threshold(correct, relative), Outcome::kPass) << correct;
  }
  EXPECT_EQ(Threshold(821, absolute), Outcome::kPass);
  EXPECT_EQ(Threshold(820, absolute), Outcome::kFail);
  EXPECT_EQ(Threshold(855, relative), Outcome::kPass);
  EXPECT_EQ(Threshold(854, relative), Outcome::kFail);
}

TEST(JudgeThreshold, WithoutToleranceMainItselfFailsOneInFour) {
  const ThresholdPolicy policy{0.568, ToleranceKind::kAbsolute, 0};
  for (int64_t correct : kScores) {
    const bool passes = correct == 909 || correct == 903 || correct == 904 || correct == 907;
    EXPECT_EQ(Threshold(correct, policy) == Outcome::kPass, passes) << correct;
  }
}

TEST(JudgeThreshold, ProveGoodWantsTheLowerBoundThere) {
  const ThresholdPolicy low{0.568, ToleranceKind::kAbsolute, 0.05, ThresholdProof::kProveGood};
  const ThresholdPolicy high{0.568, ToleranceKind::kRelative, 0.05, ThresholdProof::kProveGood};
  for (int64_t correct : kScores) {
    EXPECT_EQ(Threshold(correct, low), Outcome::kPass) << correct;
    const bool passes = correct == 909 || correct == 903 || correct == 904 || correct == 907;
    EXPECT_EQ(Threshold(correct, high) == Outcome::kPass, passes) << correct;
  }
}

TEST(JudgeThreshold, ProveBadFailsOnlyOnEvidence) {
  const ThresholdPolicy policy{0.568, ToleranceKind::kAbsolute, 0, ThresholdProof::kProveBad};
  for (int64_t correct : kScores) EXPECT_EQ(Threshold(correct, policy), Outcome::kPass) << correct;
  EXPECT_EQ(Threshold(860, policy), Outcome::kFail);
}

TEST(JudgeThreshold, AModelThatGuessesIsBroken) {
  const ThresholdPolicy policy{0.3, ToleranceKind::kAbsolute, 0.2};
  EXPECT_EQ(JudgeThreshold(CellWith(400), policy)[0].outcome, Outcome::kFail);
  EXPECT_EQ(JudgeThreshold(CellWith(560), policy)[0].outcome, Outcome::kPass);
}

}  // namespace
}  // namespace assay::gate
