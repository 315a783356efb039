#include <gtest/gtest.h>

#include "record/json_text.h"
#include "record/verdict.h"

namespace assay::record {
namespace {

TEST(VerdictJson, SurvivesWritingAndReading) {
  Verdict before;
  before.outcome = Outcome::kFail;
  before.exit_code = 1;
  before.missing_baseline = true;
  before.headline = "FAIL: it";
  Check check;
  check.cell = "c";
  check.group = "accuracy";
  check.metric = "gpqa_score";
  check.rule = "paired";
  check.outcome = Outcome::kFail;
  check.reason = "lost";
  check.unit = "u";
  check.direction = Direction::kLowerIsBetter;
  check.value = 1;
  check.reference = 2;
  check.change = 3;
  check.ci_low = 4;
  check.ci_high = 5;
  check.margin = 6;
  check.limit_low = 6.1;
  check.limit_high = 6.2;
  check.noise_floor = 6.3;
  check.mde = 7;
  check.p_value = 0.5;
  check.p_adjusted = 0.75;
  check.samples = 8;
  check.baseline_samples = 9;
  check.primary = false;
  check.improved = true;
  check.details = {"lost (1): rec1"};
  check.acknowledged = "kim until 2026-12-31";
  before.checks = {check};
  before.notes = {{"c", "first_run", "text"}};
  before.environment = {{"host", "a", "b", true, true}};
  const Result<Verdict> after = ParseVerdict(JsonText(ToJson(before)), "verdict.json");
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_EQ(ToJson(*after), ToJson(before));
  const Check& read = after->checks[0];
  EXPECT_EQ(read.outcome, Outcome::kFail);
  EXPECT_EQ(read.direction, Direction::kLowerIsBetter);
  EXPECT_EQ(read.details, check.details);
  EXPECT_EQ(read.p_value, 0.5);
  EXPECT_EQ(read.p_adjusted, 0.75);
  EXPECT_EQ(read.mde, 7);
  EXPECT_TRUE(read.improved);
  EXPECT_FALSE(read.primary);
  EXPECT_EQ(after->notes[0].kind, "first_run");
  EXPECT_TRUE(after->environment[0].breaks_accuracy);
  // 26 fields a check: one more in the struct needs a row in the table of fields.
  EXPECT_EQ(ToJson(before)["checks"][0].size(), 26u);
}

}  // namespace
}  // namespace assay::record
