#include "runner/bench/bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "runner/bench/statistics.h"
#include "testing/worked_example.h"

namespace assay::runner {
namespace {

using assay::testing::WorkedExample;
using nlohmann::json;
using record::RequestTiming;
using ::testing::HasSubstr;

BenchRun Measured(std::vector<RequestTiming> requests) {
  BenchRun run;
  run.date = "20261201-005549";
  run.serving.dataset = "random";
  run.serving.num_prompts = static_cast<int64_t>(requests.size());
  run.serving.duration_s = 1;
  run.serving.metrics = evals::SummariseServing(requests, 1);
  run.serving.requests = std::move(requests);
  return run;
}

BenchOptions Options() {
  BenchOptions options;
  options.serving.model = "openai/gpt-oss-20b";
  return options;
}

// Width 50, names to 40, values to 10 with the blanks behind them: what scripts cut by column.
TEST(VllmTable, IsVllmsByteForByte) {
  EXPECT_EQ(VllmTable(Options(), Measured({WorkedExample()})),
            "============ Serving Benchmark Result ============\n"
            "Successful requests:                     1         \n"
            "Failed requests:                         0         \n"
            "Benchmark duration (s):                  1.00      \n"
            "Total input tokens:                      7         \n"
            "Total generated tokens:                  5         \n"
            "Request throughput (req/s):              1.00      \n"
            "Output token throughput (tok/s):         5.00      \n"
            "Peak output token throughput (tok/s):    3.00      \n"
            "Peak concurrent requests:                1.00      \n"
            "Total token throughput (tok/s):          12.00     \n"
            "---------------Time to First Token----------------\n"
            "Mean TTFT (ms):                          500.00    \n"
            "Median TTFT (ms):                        500.00    \n"
            "P99 TTFT (ms):                           500.00    \n"
            "-----Time per Output Token (excl. 1st token)------\n"
            "Mean TPOT (ms):                          75.00     \n"
            "Median TPOT (ms):                        75.00     \n"
            "P99 TPOT (ms):                           75.00     \n"
            "---------------Inter-token Latency----------------\n"
            "Mean ITL (ms):                           150.00    \n"
            "Median ITL (ms):                         150.00    \n"
            "P99 ITL (ms):                            199.00    \n"
            "==================================================\n");
}

TEST(VllmTable, HasRowsForWhatWasAskedFor) {
  BenchOptions options = Options();
  options.percentile_metrics = {"e2el"};
  options.percentiles = {50, 99.9};
  BenchRun run = Measured({WorkedExample()});
  run.serving.max_concurrency = 8;
  run.serving.request_rate = 10;
  run.serving.metrics = evals::SummariseServing(run.serving.requests, 1, {{"ttft", 600}});
  const std::string table = VllmTable(options, run);
  EXPECT_THAT(table, HasSubstr("Maximum request concurrency:             8         \n"
                               "Request rate configured (RPS):           10.00     \n"));
  EXPECT_THAT(table, HasSubstr("Request throughput (req/s):              1.00      \n"
                               "Request goodput (req/s):                 1.00      \n"));
  EXPECT_THAT(table, HasSubstr("----------------End-to-end Latency----------------\n"
                               "Mean E2EL (ms):                          800.00    \n"));
  EXPECT_THAT(table, HasSubstr("P50 E2EL (ms): "));
  EXPECT_THAT(table, HasSubstr("P99.9 E2EL (ms): "));
  EXPECT_EQ(table.find("TTFT"), std::string::npos);
}

// vLLM prints zeros where nothing was measured, and so does its table here; ours says so.
TEST(FormulaTable, SaysWhatWasNotMeasured) {
  RequestTiming failed;
  failed.error = "HTTP 503: loading";
  const BenchRun run = Measured({failed, failed});
  EXPECT_THAT(VllmTable(Options(), run), HasSubstr("P99 TTFT (ms):                           0.00      \n"));
  const std::string table = FormulaTable(Options(), run);
  EXPECT_THAT(table, ::testing::ContainsRegex("p99 TTFT ms +not measured +0  first chunk - sent"));
  EXPECT_THAT(table, HasSubstr("failed 2 times: HTTP 503: loading\n"));
}

TEST(FormulaTable, CallsAP99OfFewRequestsAnObservation) {
  EXPECT_THAT(FormulaTable(Options(), Measured(std::vector(298, WorkedExample()))),
              HasSubstr("p99 of 298 requests is an observation: 299 bound it\n"));
  EXPECT_EQ(FormulaTable(Options(), Measured(std::vector(299, WorkedExample()))).find("observation:"),
            std::string::npos);
}

TEST(FormulaTable, SpeaksTheWordsOfOtherTools) {
  BenchOptions options = Options();
  options.definitions = evals::Definitions::kGuidellm;
  EXPECT_THAT(
      FormulaTable(options, Measured({WorkedExample()})),
      ::testing::ContainsRegex("mean time_per_output_token_ms ms +160.00 +1  .last token - sent. / output "
                               "tokens: prefill included"));
  options.definitions = evals::Definitions::kAiperf;
  EXPECT_THAT(FormulaTable(options, Measured({WorkedExample()})),
              ::testing::ContainsRegex("avg Inter Token Latency ms +75.00 +1 "));
}

TEST(VllmFileName, IsVllms) {
  BenchOptions options = Options();
  EXPECT_EQ(VllmFileName(options, "20261201-005549"), "openai-infqps-gpt-oss-20b-20261201-005549.json");
  options.serving.request_rate = 10;
  options.serving.max_concurrency = 64;
  options.label = "mine";
  EXPECT_EQ(VllmFileName(options, "d"), "mine-10.0qps-concurrency64-gpt-oss-20b-d.json");
  options.serving.request_rate = 0.25;
  EXPECT_EQ(VllmFileName(options, "d"), "mine-0.25qps-concurrency64-gpt-oss-20b-d.json");
}

TEST(VllmJson, HasVllmsKeys) {
  BenchOptions options = Options();
  options.percentiles = {99, 99.9};
  options.percentile_metrics = {"ttft", "tpot", "itl", "e2el"};
  const json result = json::parse(VllmJson(options, Measured({WorkedExample()})));
  for (const char* key : {"date",
                          "endpoint_type",
                          "backend",
                          "label",
                          "model_id",
                          "tokenizer_id",
                          "num_prompts",
                          "request_rate",
                          "burstiness",
                          "max_concurrency",
                          "duration",
                          "completed",
                          "failed",
                          "total_input_tokens",
                          "total_output_tokens",
                          "request_throughput",
                          "request_goodput",
                          "output_throughput",
                          "total_token_throughput",
                          "max_output_tokens_per_s",
                          "max_concurrent_requests",
                          "mean_ttft_ms",
                          "median_ttft_ms",
                          "std_ttft_ms",
                          "p99_ttft_ms",
                          "p99.9_ttft_ms",
                          "mean_tpot_ms",
                          "p99_itl_ms",
                          "std_e2el_ms",
                          "latencies",
                          "queue_times"}) {
    EXPECT_TRUE(result.contains(key)) << key;
  }
  EXPECT_EQ(result["request_rate"], "inf");
  EXPECT_TRUE(result["max_concurrency"].is_null());
  EXPECT_TRUE(result["request_goodput"].is_null());
  EXPECT_EQ(result["model_id"], "openai/gpt-oss-20b");
  EXPECT_NEAR(result["mean_tpot_ms"].get<double>(), 75, 1e-9);
  EXPECT_NEAR(result["std_itl_ms"].get<double>(), 50, 1e-9) << "population: of 100 and 200";
  EXPECT_EQ(result["total_output_tokens"], 5);
  EXPECT_FALSE(result.contains("ttfts")) << "only with --save-detailed";
  EXPECT_EQ(result["assay"]["dataset"], "random");
}

TEST(VllmJson, HasTheTimesOfEachRequestWithoutDetailsToo) {
  RequestTiming late = WorkedExample(), failed;
  late.planned_s = 0.1;
  late.sent_s = 0.25;
  failed.error = "the answer was cut";
  const json result = json::parse(VllmJson(Options(), Measured({WorkedExample(), late, failed})));
  ASSERT_EQ(result["latencies"].size(), 3u);
  EXPECT_NEAR(result["latencies"][0].get<double>(), 0.80, 1e-9) << "seconds";
  EXPECT_NEAR(result["latencies"][1].get<double>(), 0.55, 1e-9);
  EXPECT_EQ(result["latencies"][2], 0);
  EXPECT_NEAR(result["queue_times"][1].get<double>(), 0.15, 1e-9) << "sent - planned";
  EXPECT_EQ(result["queue_times"][2], 0);
}

TEST(VllmJson, HasEveryRequestWithSaveDetailed) {
  BenchOptions options = Options();
  options.save_detailed = true;
  RequestTiming failed;
  failed.error = "the answer was cut";
  failed.prompt_tokens = 7;
  BenchRun run = Measured({WorkedExample(), failed});
  run.texts = {"abc", "\xFF"};
  const json result = json::parse(VllmJson(options, run));
  EXPECT_EQ(result["input_lens"], (json{7, 7}));
  EXPECT_EQ(result["output_lens"], (json{5, 0}));
  EXPECT_EQ(result["ttfts"], (json{0.5, 0.0}));
  EXPECT_EQ(result["itls"][0].size(), 2u);
  EXPECT_NEAR(result["itls"][0][1].get<double>(), 0.2, 1e-9) << "seconds";
  EXPECT_EQ(result["generated_texts"][0], "abc");
  EXPECT_EQ(result["errors"], (json{"", "the answer was cut"}));
}

TEST(BenchStatistics, AreNumpys) {
  EXPECT_NEAR(StddevOrZero({1, 2, 3, 4}), 1.1180, 1e-4);
  EXPECT_NEAR(PercentileOrZero({1, 2, 3, 4}, 95), 3.85, 1e-12);
  EXPECT_EQ(StddevOrZero({7}), 0);
  EXPECT_EQ(PercentileOrZero({7}, 99), 7);
  EXPECT_EQ(MeanOrZero({}), 0);
  EXPECT_EQ(PercentileOrZero({}, 99), 0);
}

TEST(PythonFloat, IsPythonsRepr) {
  EXPECT_EQ(PythonFloat(10), "10.0");
  EXPECT_EQ(PythonFloat(0.1), "0.1");
  EXPECT_EQ(PythonFloat(INFINITY), "inf");
  EXPECT_EQ(PercentileWord(99), "99");
  EXPECT_EQ(PercentileWord(99.9), "99.9");
}

}  // namespace
}  // namespace assay::runner
