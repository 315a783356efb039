#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evals/serving/serving.h"
#include "testing/worked_example.h"

namespace assay::evals {
namespace {

using assay::testing::WorkedExample;
using record::Metric;
using record::RequestTiming;

double Value(const std::vector<Metric>& metrics, const char* name) {
  const Metric* metric = record::Find(metrics, name);
  EXPECT_NE(metric, nullptr) << name;
  EXPECT_TRUE(metric != nullptr && metric->value.has_value()) << name;
  return metric != nullptr ? metric->value.value_or(-1) : -1;
}

TEST(SummariseServing, FollowsVllmOnTheWorkedExample) {
  const std::vector<Metric> metrics = SummariseServing({WorkedExample()}, 1.0);
  EXPECT_NEAR(Value(metrics, "ttft_p50_ms"), 500, 1e-9);
  EXPECT_NEAR(Value(metrics, "e2el_p99_ms"), 800, 1e-9) << "the usage chunk at 0.81 s does not extend it";
  EXPECT_NEAR(Value(metrics, "tpot_mean_ms"), 75, 1e-9);
  EXPECT_NEAR(Value(metrics, "itl_mean_ms"), 150, 1e-9);
  EXPECT_NEAR(Value(metrics, "request_throughput_req_s"), 1, 1e-12);
  EXPECT_NEAR(Value(metrics, "output_throughput_tok_s"), 5, 1e-12);
  EXPECT_NEAR(Value(metrics, "total_token_throughput_tok_s"), 12, 1e-12);
  EXPECT_NEAR(Value(metrics, "mean_in_flight"), 0.8, 1e-12);
}

TEST(SummariseServing, PercentilesAreNumpys) {
  std::vector<RequestTiming> requests;
  for (int i = 1; i <= 100; ++i) {
    RequestTiming timing = WorkedExample();
    timing.first_chunk_s = i / 1000.0;
    requests.push_back(timing);
  }
  const std::vector<Metric> metrics = SummariseServing(requests, 1.0);
  EXPECT_NEAR(Value(metrics, "ttft_mean_ms"), 50.5, 1e-9);
  EXPECT_NEAR(Value(metrics, "ttft_p50_ms"), 50.5, 1e-9);
  EXPECT_NEAR(Value(metrics, "ttft_p90_ms"), 90.1, 1e-9);
  EXPECT_NEAR(Value(metrics, "ttft_p99_ms"), 99.01, 1e-9);
  const Metric* p99 = record::Find(metrics, "ttft_p99_ms");
  EXPECT_EQ(p99->samples, 100);
  EXPECT_EQ(p99->unit, "ms");
  EXPECT_EQ(p99->direction, record::Direction::kLowerIsBetter);
  EXPECT_EQ(record::Find(metrics, "itl_p99_ms")->samples, 200) << "gaps are pooled";
}

TEST(SummariseServing, LatencyFromThePlannedTimeIncludesTheWait) {
  RequestTiming timing = WorkedExample();
  timing.planned_s = -0.25;
  const std::vector<Metric> metrics = SummariseServing({timing}, 1.0);
  EXPECT_NEAR(Value(metrics, "ttft_p50_ms"), 500, 1e-9);
  EXPECT_NEAR(Value(metrics, "ttft_from_planned_p50_ms"), 750, 1e-9);
  EXPECT_NEAR(Value(metrics, "e2el_from_planned_p50_ms"), 1050, 1e-9);
}

TEST(SummariseServing, FailedRequestsCountOnlyAsFailed) {
  RequestTiming failed = WorkedExample();
  failed.error = "HTTP 500";
  failed.output_tokens = 1000;
  const std::vector<Metric> metrics = SummariseServing({WorkedExample(), failed}, 2.0);
  EXPECT_EQ(Value(metrics, "completed"), 1);
  EXPECT_EQ(Value(metrics, "failed"), 1);
  EXPECT_NEAR(Value(metrics, "output_throughput_tok_s"), 2.5, 1e-12);
  EXPECT_EQ(record::Find(metrics, "ttft_p50_ms")->samples, 1);
}

// vLLM leaves failed requests out of goodput; here they are requests that were not good.
TEST(SummariseServing, GoodputHasFailuresInTheDenominator) {
  RequestTiming slow = WorkedExample(), failed = WorkedExample();
  slow.first_chunk_s = 0.7;
  failed.error = "HTTP 500";
  const auto goodput = [&](const std::map<std::string, double>& limits, const char* name) {
    return Value(SummariseServing({WorkedExample(), slow, failed, WorkedExample()}, 2.0, limits), name);
  };
  EXPECT_NEAR(goodput({{"ttft", 500}}, "request_goodput_req_s"), 1, 1e-12) << "at the limit is good";
  EXPECT_NEAR(goodput({{"ttft", 500}}, "good_share"), 0.5, 1e-12);
  EXPECT_NEAR(goodput({{"ttft", 800}, {"tpot", 75.001}, {"e2el", 801}}, "good_share"), 0.75, 1e-12);
  EXPECT_NEAR(goodput({{"e2el", 799}}, "good_share"), 0, 1e-12);
  EXPECT_EQ(record::Find(SummariseServing({slow}, 1.0), "good_share"), nullptr) << "nobody asked";
}

TEST(SummariseServing, OneTokenPassesAnyLimitOfTpot) {
  RequestTiming timing = WorkedExample();
  timing.output_tokens = 1;
  EXPECT_EQ(Value(SummariseServing({timing}, 1.0, {{"tpot", 1}}), "good_share"), 1);
}

TEST(SummariseServing, WeighsGapsByTokensWhereTheServerCountsThem) {
  EXPECT_EQ(record::Find(SummariseServing({WorkedExample()}, 1.0), "itl_by_token_mean_ms"), nullptr);
  RequestTiming timing = WorkedExample();
  timing.chunk_tokens = {1, 1, 3};
  const std::vector<Metric> metrics = SummariseServing({timing}, 1.0);
  EXPECT_NEAR(Value(metrics, "itl_by_token_mean_ms"), 75, 1e-4);
  EXPECT_NEAR(Value(metrics, "itl_mean_ms"), 150, 1e-9) << "vLLM's stays as it is";
  EXPECT_EQ(record::Find(metrics, "itl_by_token_p99_ms")->samples, 4) << "a token each";
}

TEST(SummariseServing, HasClocksForReasoningAndContent) {
  RequestTiming timing = WorkedExample();
  timing.first_reasoning_s = 0.6;
  timing.first_content_s = 0.8;
  const std::vector<Metric> metrics = SummariseServing({timing}, 1.0);
  EXPECT_NEAR(Value(metrics, "ttft_p50_ms"), 500, 1e-9) << "vLLM's clock starts with the role";
  EXPECT_NEAR(Value(metrics, "first_reasoning_p50_ms"), 600, 1e-9);
  EXPECT_NEAR(Value(metrics, "first_content_p50_ms"), 800, 1e-9);
}

TEST(SummariseServing, CachedShareIsOfPromptsWhoseCacheWasReported) {
  EXPECT_EQ(record::Find(SummariseServing({WorkedExample()}, 1.0), "cached_token_share"), nullptr);
  RequestTiming cached = WorkedExample();
  cached.prompt_tokens = 100;
  cached.cached_tokens = 80;
  EXPECT_NEAR(Value(SummariseServing({WorkedExample(), cached}, 1.0), "cached_token_share"), 0.8, 1e-12);
  cached.cached_tokens = 0;
  EXPECT_EQ(Value(SummariseServing({cached}, 1.0), "cached_token_share"), 0) << "measured, and none";
}

TEST(SummariseServing, OneTokenHasNoTimePerOutputToken) {
  RequestTiming timing = WorkedExample();
  timing.output_tokens = 1;
  const std::vector<Metric> metrics = SummariseServing({timing}, 1.0);
  EXPECT_FALSE(record::Find(metrics, "tpot_p50_ms")->value.has_value());
  EXPECT_EQ(record::Find(metrics, "tpot_p50_ms")->samples, 0);
}

TEST(SummariseServing, NothingCompletedIsNotMeasured) {
  RequestTiming failed;
  failed.error = "refused";
  const std::vector<Metric> metrics = SummariseServing({failed, failed}, 3.0);
  for (const Metric& metric : metrics) {
    if (metric.name == "completed")
      EXPECT_EQ(metric.value, 0);
    else if (metric.name == "failed")
      EXPECT_EQ(metric.value, 2);
    else
      EXPECT_FALSE(metric.value.has_value()) << metric.name;
  }
}

}  // namespace
}  // namespace assay::evals
