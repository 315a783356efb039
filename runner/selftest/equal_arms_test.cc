#include "runner/selftest/equal_arms.h"

#include <gtest/gtest.h>

namespace assay::runner {
namespace {

using record::Outcome;

EqualArmsTally Tally(int passes, int fails) {
  EqualArmsTally tally;
  record::Verdict verdict;
  for (int i = 0; i < passes; ++i) Add(verdict, tally);
  verdict.outcome = Outcome::kFail;
  verdict.headline = "FAIL: 64-16 ttft_p50_ms +12.0 %";
  for (int i = 0; i < fails; ++i) Add(verdict, tally);
  return tally;
}

TEST(EqualArms, OneFalseAlarmInTwoHundredIsAllowed) {
  EXPECT_EQ(EqualArmsExitCode(Tally(199, 1)), 0);
  EXPECT_EQ(EqualArmsExitCode(Tally(198, 2)), 1);
  EXPECT_EQ(EqualArmsExitCode(Tally(398, 2)), 0);
  EXPECT_EQ(EqualArmsExitCode(Tally(8, 2)), 1);
}

TEST(EqualArms, DecidingNothingIsNoPass) {
  EqualArmsTally tally;
  EXPECT_EQ(EqualArmsExitCode(tally), 4);
  record::Verdict invalid;
  invalid.outcome = Outcome::kInvalid;
  Add(invalid, tally);
  EXPECT_EQ(EqualArmsExitCode(tally), 4);
}

TEST(EqualArms, NamesEveryFalseAlarm) {
  EXPECT_EQ(EqualArmsText(Tally(2, 1)),
            "3 decisions on equal arms: 2 PASS, 0 INCONCLUSIVE, 0 INVALID, 1 FAIL, 0 INFRASTRUCTURE\n"
            "  decision 3: FAIL: 64-16 ttft_p50_ms +12.0 %\n");
}

}  // namespace
}  // namespace assay::runner
