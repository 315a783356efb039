#include "engine/scheduler/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "kernels/sample/fast_exp.h"

namespace assay::engine {
namespace {

using kernels::FastExp;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::optional<int32_t> Greedy(std::vector<float> logits) {
  return SampleToken(logits, GenerationRequest{}, {}, 0);
}

TEST(SampleToken, GreedyTakesTheLargestLogitAndTheLowerIdOfEquals) {
  EXPECT_EQ(Greedy({0, 3, 1, 3}), 1);
  EXPECT_EQ(Greedy({-kInf, -5, -kInf}), 1);
  std::vector<float> wide(100, -1);
  wide[97] = wide[38] = 2;
  EXPECT_EQ(Greedy(wide), 38);
}

TEST(SampleToken, NeverSamplesARowThatSaysNothing) {
  const struct {
    const char* name;
    std::vector<float> logits;
  } rows[] = {{"NaN first", {kNan, 1, 2}},
              {"NaN last", {1, 2, kNan}},
              {"NaN in a long row",
               [] {
                 std::vector<float> logits(64, 0);
                 logits[33] = kNan;
                 return logits;
               }()},
              {"+inf", {0, kInf, 1}},
              {"all -inf", {-kInf, -kInf}}};
  for (const auto& row : rows) {
    for (const double temperature : {0.0, 1.0}) {
      SCOPED_TRACE(row.name);
      GenerationRequest request;
      request.temperature = temperature;
      std::vector<float> logits = row.logits;
      EXPECT_EQ(SampleToken(logits, request, {}, 0), std::nullopt);
    }
  }
}

TEST(SampleToken, MasksStopIdsUntilMinTokens) {
  GenerationRequest request;
  request.stop_ids = {1};
  request.min_tokens = 2;
  for (int64_t output = 0; output < 4; ++output) {
    std::vector<float> logits{0, 5, 1};
    EXPECT_EQ(SampleToken(logits, request, {}, output), output < 2 ? 2 : 1);
  }
}

std::map<int32_t, int> Histogram(const std::vector<float>& logits, GenerationRequest request, int draws) {
  std::map<int32_t, int> counts;
  for (int i = 0; i < draws; ++i) {
    std::vector<float> copy = logits;
    request.seed = static_cast<uint64_t>(i);
    ++counts[*SampleToken(copy, request, {}, 3)];
  }
  return counts;
}

TEST(SampleToken, DrawsInProportionToTheSoftmaxAtTheTemperature) {
  const std::vector<float> logits{0, 1, 2, -1, 0.5f};
  for (const double temperature : {0.5, 1.0, 2.0}) {
    GenerationRequest request;
    request.temperature = temperature;
    constexpr int kDraws = 40000;
    auto counts = Histogram(logits, request, kDraws);
    double sum = 0;
    for (const float l : logits) sum += std::exp(static_cast<double>(l) / temperature);
    for (size_t id = 0; id < logits.size(); ++id) {
      const double p = std::exp(static_cast<double>(logits[id]) / temperature) / sum;
      const double four_sigma = 4 * std::sqrt(p * (1 - p) * kDraws);
      EXPECT_NEAR(counts[static_cast<int32_t>(id)], p * kDraws, four_sigma)
          << "token " << id << " at " << temperature;
    }
  }
}

TEST(SampleToken, FiltersKeepExactlyTheTokensOfTheirDefinition) {
  // Probabilities 0.5, 0.25, 0.125, 0.125.
  std::vector<float> logits;
  for (const double p : {0.125, 0.5, 0.125, 0.25}) logits.push_back(static_cast<float>(std::log(p)));
  const struct {
    const char* name;
    int64_t top_k;
    double top_p, min_p;
    std::vector<int32_t> kept;
  } rows[] = {{"none", 0, 1, 0, {0, 1, 2, 3}},
              {"top_k 1 is greedy", 1, 1, 0, {1}},
              {"top_k 3, equals to the lower id", 3, 1, 0, {0, 1, 3}},
              {"top_k beyond the vocabulary", 99, 1, 0, {0, 1, 2, 3}},
              {"top_p just reached", 0, 0.74, 0, {1, 3}},
              {"top_p smaller than the first", 0, 0.1, 0, {1}},
              {"top_p of what top_k leaves", 2, 0.6, 0, {1}},
              {"top_p of what top_k leaves, two", 2, 0.7, 0, {1, 3}},
              {"min_p is a share of the largest", 0, 1, 0.3, {1, 3}},
              {"min_p 1 keeps the largest", 0, 1, 1, {1}}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    GenerationRequest request;
    request.temperature = 1;
    request.top_k = row.top_k;
    request.top_p = row.top_p;
    request.min_p = row.min_p;
    std::vector<int32_t> seen;
    for (const auto& [id, count] : Histogram(logits, request, 400)) seen.push_back(id);
    EXPECT_EQ(seen, row.kept);
  }
}

TEST(SampleToken, DependsOnSeedAndPositionOnly) {
  GenerationRequest request;
  request.temperature = 1;
  request.seed = 42;
  const std::vector<float> flat(1000, 0.0f);
  std::vector<float> a = flat, b = flat, c = flat;
  EXPECT_EQ(SampleToken(a, request, {}, 5), SampleToken(b, request, {}, 5));
  EXPECT_NE(SampleToken(a, request, {}, 5), SampleToken(c, request, {}, 6));
}

// What the sampler makes of a row before it samples.
std::vector<float> Adjusted(std::vector<float> logits, const GenerationRequest& request,
                            const TokenHistory& history, int64_t output_index = 0) {
  SampleToken(logits, request, history, output_index);
  return logits;
}

TokenHistory History(const std::vector<int32_t>& prompt, const std::vector<int32_t>& output) {
  TokenHistory history;
  history.AddPrompt(prompt);
  for (const int32_t id : output) history.AddOutput(id);
  return history;
}

TEST(SampleToken, ATemperatureWhoseInverseIsTooLargeForAFloatTakesTheLargest) {
  for (const double temperature : {1e-300, 1e-40, 1e-38}) {
    for (const double top_p : {1.0, 0.9}) {
      for (const int64_t top_k : {0, 2}) {
        std::vector<float> logits{1, 3, 2.5f};
        GenerationRequest request;
        request.temperature = temperature;
        request.top_p = top_p;
        request.top_k = top_k;
        request.min_p = top_k > 0 ? 0.5 : 0;
        EXPECT_EQ(SampleToken(logits, request, {}, 0), 1) << temperature << " " << top_p << " " << top_k;
      }
    }
  }
}

TEST(SampleToken, PenaltiesFollowTheirFormulas) {
  // Tokens 0 and 1 are in the prompt, 1 and 2 in the output, 2 twice; 3 is new.
  const TokenHistory history = History({0, 0, 1}, {1, 2, 2});
  const std::vector<float> logits{2, -2, 2, 2};
  const struct {
    const char* name;
    double presence, frequency, repetition;
    std::vector<float> expected;
  } rows[] = {{"neutral", 0, 0, 1, {2, -2, 2, 2}},
              {"presence: once for each token of the output", 0.5, 0, 1, {2, -2.5, 1.5, 2}},
              {"frequency: as often as it came out", 0, 0.5, 1, {2, -2.5, 1, 2}},
              {"repetition: divides what is positive, prompt included", 0, 0, 2, {1, -4, 1, 2}},
              {"repetition below 1 encourages", 0, 0, 0.5, {4, -1, 4, 2}},
              {"all, repetition first", 0.25, 0.5, 2, {1, -4.75, -0.25, 2}},
              {"negative penalties encourage", -1, -1, 1, {2, 0, 5, 2}}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    GenerationRequest request;
    request.presence_penalty = row.presence;
    request.frequency_penalty = row.frequency;
    request.repetition_penalty = row.repetition;
    EXPECT_EQ(Adjusted(logits, request, history), row.expected);
  }
}

TEST(SampleToken, BiasIsAddedBeforePenaltiesAndCannotUnmaskAStopId) {
  GenerationRequest request;
  request.logit_bias = {{0, 3.0f}, {1, -100.0f}, {2, 5.0f}, {-1, 1.0f}, {99, 1.0f}};
  request.repetition_penalty = 2;
  request.stop_ids = {2};
  request.min_tokens = 1;
  EXPECT_EQ(Adjusted({1, 1, 1}, request, History({0}, {})), (std::vector<float>{2, -99, -kInf}));
  EXPECT_EQ(Adjusted({1, 1, 1}, request, History({0}, {}), 1), (std::vector<float>{2, -99, 6}));
}

TEST(SampleToken, GreedyFollowsBiasAndPenalties) {
  GenerationRequest request;
  request.logit_bias = {{2, 10.0f}};
  std::vector<float> logits{3, 2, 1};
  EXPECT_EQ(SampleToken(logits, request, {}, 0), 2);
  request.logit_bias.clear();
  request.presence_penalty = 2;
  logits = {3, 2, 1};
  EXPECT_EQ(SampleToken(logits, request, History({}, {0}), 1), 1);
}

TEST(SampleToken, AFrequencyPenaltyMakesGreedyTakeTurns) {
  // Logits 3, 2.5, 0 and one point less for each time: 0 at 3, 1 at 2.5, 0 at 2, 1 at 1.5, ...
  GenerationRequest request;
  request.frequency_penalty = 1;
  TokenHistory history;
  std::vector<int32_t> output;
  for (int64_t i = 0; i < 7; ++i) {
    std::vector<float> logits{3, 2.5f, 0};
    output.push_back(*SampleToken(logits, request, history, i));
    history.AddOutput(output.back());
  }
  EXPECT_EQ(output, (std::vector<int32_t>{0, 1, 0, 1, 0, 1, 0}));
}

TEST(FastExp, IsWithinOnePartInAHundredThousand) {
  for (float x = 0; x > -86; x -= 0.00731f) {
    const double exact = std::exp(static_cast<double>(x));
    ASSERT_NEAR(static_cast<double>(FastExp(x)) / exact, 1, 1e-5) << x;
  }
  EXPECT_EQ(FastExp(0), 1.0f);
  EXPECT_EQ(FastExp(-kInf), 0.0f);
  EXPECT_EQ(FastExp(-1000), 0.0f);
}

}  // namespace
}  // namespace assay::engine
