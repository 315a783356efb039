#include "reports/numbers.h"

#include <gtest/gtest.h>

namespace assay::reports {
namespace {

const Say kEnglish(Language::kEnglish);

TEST(Quantity, HasFourDigitsAndAUnit) {
  const struct {
    double value;
    const char *unit, *expected;
  } cases[] = {{392.62, "tok/s", "392.6 tok/s"},
               {3.25, "ms", "3.250 ms"},
               {12345.6, "tok/s", "12346 tok/s"},
               {0, "ms", "0 ms"},
               {64, "", "64"},
               {0.0123456, "", "0.01235"},
               {-5.5, "ms", "-5.500 ms"},
               {999.96, "ms", "1000.0 ms"}};
  for (const auto& c : cases) EXPECT_EQ(Quantity(c.value, c.unit), c.expected) << c.value;
}

TEST(Score, StandsBesideItsCount) {
  EXPECT_EQ(Score(420.0 / 448, 448), "0.9375 (420/448)");
}

TEST(ChangeText, IsInPointsForScoresAndPercentForSpeed) {
  record::Check check;
  check.group = "accuracy";
  check.change = -0.0446;
  check.ci_low = -0.06;
  check.ci_high = -0.02;
  EXPECT_EQ(ChangeText(kEnglish, check), "-4.5 points");
  EXPECT_EQ(IntervalText(kEnglish, check), "-6.0 to -2.0");
  check.group = "serving:1k1k";
  EXPECT_EQ(ChangeText(kEnglish, check), "-4.5 %");
}

TEST(ChangeText, HasNoSignWhenNothingChanged) {
  record::Check check;
  check.change = -0.0001;
  EXPECT_EQ(ChangeText(kEnglish, check), "0.0 %");
}

}  // namespace
}  // namespace assay::reports
