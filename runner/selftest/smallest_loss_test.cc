#include "runner/selftest/smallest_loss.h"

#include <gtest/gtest.h>

#include "testing/example_run.h"

namespace assay::runner {
namespace {

record::RunRecord Clean() {
  record::RunRecord run = testing::ExampleRun();
  run.cells.front().serving.clear();
  return run;
}

gate::CellPolicy ComparedWith(const record::RunRecord& clean) {
  gate::CellPolicy policy{clean.cells.front().key, {}, {"clean", clean.cells}};
  policy.policy.accuracy.margin = 0.03;
  return policy;
}

// b of 448 lost and none won: d = -b/448, SE = sqrt(b - b^2/448)/448. d - 1.645 SE is -0.0282 for b = 8 and
// -0.0310 for b = 9, and McNemar's exact p is 2^-9: nine lost answers fail a margin of 3 points. P(X >= 9) =
// 0.8 for X ~ Bin(448, 0.025305) , summed exactly.
TEST(SmallestLossNoticed, IsTheLossUnderWhichTheGateFailsFourTimesInFive) {
  const record::RunRecord clean = Clean();
  EXPECT_NEAR(SmallestLossNoticed(clean, ComparedWith(clean)).value(), 0.025305, 1e-5);
}

TEST(SmallestLossNoticed, FollowsTheMargin) {
  const record::RunRecord clean = Clean();
  gate::CellPolicy wide = ComparedWith(clean);
  wide.policy.accuracy.margin = 0.2;
  EXPECT_GT(SmallestLossNoticed(clean, wide).value(), 0.15);
}

TEST(SmallestLossNoticed, IsNothingWhereNothingJudgesTheScore) {
  const record::RunRecord clean = Clean();
  gate::CellPolicy nothing = ComparedWith(clean);
  nothing.baseline = {"", {}, false};
  EXPECT_EQ(SmallestLossNoticed(clean, nothing), std::nullopt);
}

}  // namespace
}  // namespace assay::runner
