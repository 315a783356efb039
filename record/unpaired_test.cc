#include "record/unpaired.h"

#include <gtest/gtest.h>

#include <cmath>

#include "record/distributions.h"

namespace assay::record {
namespace {

struct KnownPair {
  TwoScores scores;
  double mean, z, p, lower95;  // scipy 1.10
};

// Eight published GPQA-diamond scores, 198 questions eight times: main against a change, four variants.
const KnownPair kPairs[] = {
    {{887, 1584, 909, 1584}, -0.013889, -0.788833, 0.430210, -0.042847},
    {{907, 1584, 903, 1584}, 0.002525, 0.143603, 0.885814, -0.026399},
    {{886, 1584, 881, 1584}, 0.003157, 0.178865, 0.858044, -0.025871},
    {{876, 1584, 904, 1584}, -0.017677, -1.002642, 0.316034, -0.046671},
    {{3556, 6336, 3597, 6336}, -0.006471, -0.734568, 0.462603, -0.020961},
};

TEST(CompareScores, AgreesWithTheTextbookOnPublishedScores) {
  for (const KnownPair& pair : kPairs) {
    const UnpairedDifference d = CompareScores(pair.scores);
    EXPECT_NEAR(d.mean, pair.mean, 1e-6);
    EXPECT_NEAR(d.z, pair.z, 1e-6);
    EXPECT_NEAR(d.p_two_sided, pair.p, 1e-6);
    EXPECT_NEAR(d.mean - NormalQuantile(0.95) * d.standard_error, pair.lower95, 1e-6);
  }
}

// Two unpaired passes at p: sqrt(2) times the effect that one pass finds against a fixed threshold.
TEST(UnpairedMde, OfTwoPassesOverDiamondAndMain) {
  EXPECT_NEAR(UnpairedMde({99, 198, 99, 198}, 0.05, 0.8), (1.644854 + 0.841621) * std::sqrt(2 * 0.25 / 198),
              1e-6);
  // 0.568 is 112.464 of 198: the whole numbers beside it bracket the known answer.
  EXPECT_NEAR(UnpairedMde({112, 198, 113, 198}, 0.05, 0.8), 0.123789, 1e-4);
  EXPECT_NEAR(UnpairedMde({254, 448, 255, 448}, 0.05, 0.8), 0.082296, 1e-4);
}

TEST(CompareScores, AllRightOnBothSidesIsNoChange) {
  const UnpairedDifference d = CompareScores({10, 10, 20, 20});
  EXPECT_EQ(d.mean, 0);
  EXPECT_EQ(d.z, 0);
  EXPECT_EQ(d.p_two_sided, 1);
}

}  // namespace
}  // namespace assay::record
