#include "engine/scheduler/logprobs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace assay::engine {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

GeneratedToken Report(const std::vector<float>& logits, int32_t id, int64_t count) {
  GeneratedToken token;
  token.id = id;
  AddLogprobs(logits, count, token);
  return token;
}

TEST(Logprobs, AreThoseOfTheSoftmax) {
  // e^0 : e^ln2 : e^ln5 = 1 : 2 : 5
  const std::vector<float> logits{0, std::log(2.0f), std::log(5.0f)};
  const GeneratedToken token = Report(logits, 1, 2);
  EXPECT_NEAR(token.logprob, std::log(2.0 / 8), 1e-6);
  ASSERT_EQ(token.top_logprobs.size(), 2u);
  EXPECT_EQ(token.top_logprobs[0].id, 2);
  EXPECT_NEAR(token.top_logprobs[0].logprob, std::log(5.0 / 8), 1e-6);
  EXPECT_EQ(token.top_logprobs[1].id, 1);
  EXPECT_EQ(token.top_logprobs[1].logprob, token.logprob);
}

TEST(Logprobs, AreExactOverALargeVocabulary) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 4);
  std::vector<float> logits(200'003);
  for (float& logit : logits) logit = normal(random);
  double peak = -1e9, sum = 0;
  for (const float logit : logits) peak = std::max(peak, static_cast<double>(logit));
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - peak);
  const GeneratedToken token = Report(logits, 77, 20);
  EXPECT_NEAR(token.logprob, static_cast<double>(logits[77]) - peak - std::log(sum), 1e-5);
  std::vector<float> sorted = logits;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  ASSERT_EQ(token.top_logprobs.size(), 20u);
  for (size_t i = 0; i < 20; ++i) {
    EXPECT_NEAR(token.top_logprobs[i].logprob, static_cast<double>(sorted[i]) - peak - std::log(sum), 1e-5);
  }
}

TEST(Logprobs, TiesGoToTheLowerId) {
  const GeneratedToken token = Report({1, 2, 2, 2, 1}, 0, 3);
  std::vector<int32_t> ids;
  for (const TokenLogprob& top : token.top_logprobs) ids.push_back(top.id);
  EXPECT_EQ(ids, (std::vector<int32_t>{1, 2, 3}));
}

TEST(Logprobs, ReportMinusInfinityAsItIs) {
  const GeneratedToken token = Report({-kInf, 0}, 0, 5);
  EXPECT_EQ(token.logprob, -kInf);
  ASSERT_EQ(token.top_logprobs.size(), 2u) << "no more than the vocabulary";
  EXPECT_EQ(token.top_logprobs[0].logprob, 0);
  EXPECT_EQ(token.top_logprobs[1].logprob, -kInf);
}

TEST(Logprobs, NoneBesideTheChosenOneWhenNoneAreAskedFor) {
  EXPECT_TRUE(Report({1, 2}, 0, 0).top_logprobs.empty());
}

}  // namespace
}  // namespace assay::engine
