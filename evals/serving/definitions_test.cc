#include "evals/serving/definitions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "evals/serving/series.h"
#include "testing/worked_example.h"

namespace assay::evals {
namespace {

using assay::testing::WorkedExample;
using record::RequestTiming;
using ::testing::ElementsAre;

double Value(Definitions definitions, const std::string& name) {
  for (const Figure& figure : FiguresBy(definitions, {WorkedExample()}, 1.0, {99})) {
    if (figure.name == name) return figure.value.value_or(-1);
  }
  ADD_FAILURE() << "no figure " << name;
  return -1;
}

TEST(FiguresBy, VllmsDefinitionsOfTheWorkedExample) {
  EXPECT_NEAR(Value(Definitions::kVllm, "mean TTFT"), 500, 1e-9);
  EXPECT_NEAR(Value(Definitions::kVllm, "mean E2EL"), 800, 1e-9);
  EXPECT_NEAR(Value(Definitions::kVllm, "mean TPOT"), 75, 1e-9);
  EXPECT_NEAR(Value(Definitions::kVllm, "mean ITL"), 150, 1e-9);
  EXPECT_NEAR(Value(Definitions::kVllm, "output token throughput"), 5, 1e-9) << "over the whole duration";
}

TEST(FiguresBy, AiperfsDefinitionsOfTheWorkedExample) {
  EXPECT_NEAR(Value(Definitions::kAiperf, "avg Time to First Token"), 500, 1e-9);
  EXPECT_NEAR(Value(Definitions::kAiperf, "avg Inter Token Latency"), 75, 1e-9) << "vLLM calls this TPOT";
  EXPECT_NEAR(Value(Definitions::kAiperf, "avg Inter Chunk Latency"), 150, 1e-9) << "and this ITL";
  EXPECT_NEAR(Value(Definitions::kAiperf, "avg Time to Second Token"), 100, 1e-9);
  EXPECT_NEAR(Value(Definitions::kAiperf, "avg Output Token Throughput Per User"), 1000 / 75.0, 1e-9);
  EXPECT_NEAR(Value(Definitions::kAiperf, "Output Token Throughput"), 5 / 0.8, 1e-9);
}

TEST(FiguresBy, GuidellmsDefinitionsOfTheWorkedExample) {
  EXPECT_NEAR(Value(Definitions::kGuidellm, "mean time_per_output_token_ms"), 160, 1e-9)
      << "from the start of the request: prefill included";
  EXPECT_NEAR(Value(Definitions::kGuidellm, "mean inter_token_latency_ms"), 75, 1e-9);
}

TEST(FiguresBy, EveryFigureHasItsFormula) {
  for (const auto definitions : {Definitions::kVllm, Definitions::kAiperf, Definitions::kGuidellm}) {
    for (const Figure& figure : FiguresBy(definitions, {WorkedExample()}, 1, {50, 99})) {
      EXPECT_NE(figure.formula, "") << figure.name;
    }
  }
}

TEST(FiguresBy, NothingIsNotMeasured) {
  for (const auto definitions : {Definitions::kVllm, Definitions::kAiperf, Definitions::kGuidellm}) {
    for (const Figure& figure : FiguresBy(definitions, {}, 1, {99}))
      EXPECT_FALSE(figure.value.has_value()) << figure.name;
  }
}

TEST(NearestRank, DoesNotInterpolate) {
  std::vector<double> values(100);
  std::iota(values.begin(), values.end(), 1);
  EXPECT_EQ(NearestRank(values, 99), 99);
  EXPECT_EQ(NearestRank(values, 50), 50);
  EXPECT_EQ(NearestRank({7}, 99), 7);
  EXPECT_EQ(NearestRank({1, 2, 3, 4}, 0), 1);
}

TEST(FindDefinitions, KnowsThreeNames) {
  EXPECT_TRUE(FindDefinitions("vllm") && FindDefinitions("aiperf") && FindDefinitions("guidellm"));
  EXPECT_FALSE(FindDefinitions("sglang"));
}

// Two chunks of the worked example carry four tokens, so a gap is not a token.
TEST(GapsByToken, SharesAGapAmongTheTokensThatEndIt) {
  RequestTiming timing = WorkedExample();
  EXPECT_THAT(GapsByToken(timing), ElementsAre()) << "the server did not say how many each chunk held";
  timing.chunk_tokens = {1, 1, 3};
  const std::vector<double> gaps = GapsByToken(timing);
  ASSERT_EQ(gaps.size(), 4u);
  EXPECT_NEAR(gaps[0], 100, 1e-6);
  EXPECT_NEAR(gaps[1], 200 / 3.0, 1e-4);
  EXPECT_NEAR(std::accumulate(gaps.begin(), gaps.end(), 0.0) / 4, 75, 1e-4) << "its mean is TPOT";
  timing.chunk_tokens = {1, 0, 4};
  EXPECT_THAT(GapsByToken(timing), ElementsAre(75, 75, 75, 75)) << "a chunk without tokens ends nothing";
}

TEST(PeakOutput, VllmCountsChunksAndTheTruthIsTokens) {
  const PeakRate peak = PeakOutput({WorkedExample()});
  EXPECT_EQ(peak.chunks, 3);
  EXPECT_NEAR(peak.tokens, 5, 1e-9);
  RequestTiming late = WorkedExample();
  late.sent_s = 1;
  late.first_chunk_s = 1.5;
  late.last_chunk_s = 1.8;
  EXPECT_EQ(PeakOutput({WorkedExample(), late}).chunks, 3) << "another second";
  EXPECT_EQ(PeakOutput({WorkedExample(), WorkedExample()}).chunks, 6);
  EXPECT_EQ(PeakOutput({}).chunks, 0);
}

TEST(PeakInFlight, IsExactAndDeparturesComeFirst) {
  RequestTiming first = WorkedExample(), second = WorkedExample(), third = WorkedExample();
  second.sent_s = 0.8;  // as the first one ends
  second.last_chunk_s = 2;
  third.sent_s = 1;
  third.last_chunk_s = 1.5;
  EXPECT_EQ(PeakInFlight({first}), 1);
  EXPECT_EQ(PeakInFlight({first, second}), 1);
  EXPECT_EQ(PeakInFlight({third, second, first}), 2);
  third.error = "failed";
  EXPECT_EQ(PeakInFlight({first, second, third}), 1);
  EXPECT_EQ(PeakInFlight({}), 0);
}

}  // namespace
}  // namespace assay::evals
