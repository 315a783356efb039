#include "runner/import/import.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/text.h"
#include "gate/judge.h"
#include "testing/temp_dir.h"

namespace assay::runner {
namespace {

class ImportTest : public ::testing::Test {
 protected:
  Path Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  std::string WhyNot(const std::string& text, const ImportOptions& options = {}) const {
    const auto record = Import({Write("file", text)}, options);
    return record ? "imported" : record.error().message;
  }

  testing::TempDir folder_;
};

// Keys of `vllm bench serve --save-result`.
constexpr char kVllm[] = R"({"date": "20261130-101112", "backend": "vllm", "model_id": "openai/gpt-oss-20b",
  "num_prompts": 3, "request_rate": "inf", "burstiness": 1.0, "max_concurrency": 2, "duration": 2.0,
  "completed": 3, "failed": 0, "total_input_tokens": 24, "total_output_tokens": 30, "request_throughput": 1.5,
  "request_goodput": null, "output_throughput": 15.0, "total_token_throughput": 27.0, "mean_ttft_ms": 100.0,
  "median_ttft_ms": 90.0, "p99_ttft_ms": 150.0, "mean_tpot_ms": 100.0, "median_tpot_ms": 101.0,
  "mean_e2el_ms": 1000.0, "std_ttft_ms": 5.0)";

TEST_F(ImportTest, APlainVllmResultStatesItsRequestsWithoutListingThem) {
  const auto record =
      Import({Write("r.json", std::string(kVllm) + "}")}, {.cell = "h200", .serving = "1k1k"});
  ASSERT_TRUE(record) << record.error().message;
  ASSERT_EQ(record->cells.size(), 1u);
  const record::ServingRecord& serving = record->cells[0].serving.at(0);
  EXPECT_EQ(record->cells[0].key, "h200");
  EXPECT_EQ(record->cells[0].server.model_id, "openai/gpt-oss-20b");
  EXPECT_EQ(serving.name, "1k1k");
  EXPECT_EQ(serving.max_concurrency, 2);
  EXPECT_EQ(serving.request_rate, 0);
  EXPECT_EQ(serving.duration_s, 2.0);
  ASSERT_TRUE(serving.stated);
  EXPECT_EQ(serving.stated->completed, 3);
  EXPECT_EQ(serving.stated->mean_output_tokens, 10);
  EXPECT_FALSE(serving.stated->derived);
  EXPECT_EQ(Find(serving.metrics, "ttft_p50_ms")->value, 90.0);
  EXPECT_EQ(Find(serving.metrics, "ttft_mean_ms")->value, 100.0);
  EXPECT_EQ(Find(serving.metrics, "ttft_p99_ms")->value, 150.0);
  EXPECT_EQ(Find(serving.metrics, "output_throughput_tok_s")->value, 15.0);
  EXPECT_EQ(Find(serving.metrics, "request_goodput_req_s"), nullptr) << "null is not measured";
  EXPECT_NEAR(serving.mean_in_flight, 1.5, 1e-9) << "1.5 requests/s of 1 s each";
}

TEST_F(ImportTest, ADetailedVllmResultGivesItsRequests) {
  const std::string detail = R"(, "input_lens": [8, 8, 8], "output_lens": [3, 2, 0], "ttfts": [0.1, 0.2, 0.0],
    "itls": [[0.05, 0.07], [0.04], []], "start_times": [100.0, 100.5, 101.0], "errors": ["", "", "boom"]})";
  const auto record = Import({Write("r.json", kVllm + detail)}, {});
  ASSERT_TRUE(record) << record.error().message;
  const record::ServingRecord& serving = record->cells[0].serving.at(0);
  EXPECT_FALSE(serving.stated);
  ASSERT_EQ(serving.requests.size(), 3u);
  EXPECT_NEAR(serving.requests[1].sent_s, 0.5, 1e-9);
  EXPECT_NEAR(serving.requests[1].first_chunk_s, 0.7, 1e-9);
  EXPECT_NEAR(serving.requests[0].last_chunk_s, 0.22, 1e-9);
  EXPECT_EQ(serving.requests[0].output_tokens, 3);
  EXPECT_FLOAT_EQ(serving.requests[0].chunk_gaps_ms.at(1), 70.0f);
  EXPECT_EQ(serving.requests[2].error, "boom");
  EXPECT_NEAR(serving.mean_in_flight, (0.22 + 0.24 + 0.0) / 2.0, 1e-6) << "busy seconds over the duration";
}

// Only some metrics are printed by default: without E2EL, TTFT and TPOT say how long a request took, and
// without those nothing does.
TEST_F(ImportTest, TheLoadOfAPlainResultIsOpenWhereItStatesNoTimes) {
  std::string without_e2el(kVllm);
  without_e2el.replace(without_e2el.find("\"mean_e2el_ms\": 1000.0, "), 24, "");
  const auto some = Import({Write("some.json", without_e2el + "}")}, {});
  ASSERT_TRUE(some) << some.error().message;
  EXPECT_NEAR(some->cells[0].serving[0].mean_in_flight, 1.5, 1e-9) << "1.5/s x (0.1 s + 9 x 0.1 s)";
  const auto none = Import({Write("none.json", R"({"completed": 3, "duration": 2.0, "max_concurrency": 2,
    "output_throughput": 15.0, "request_throughput": 1.5, "total_output_tokens": 30})")},
                           {});
  ASSERT_TRUE(none) << none.error().message;
  gate::Policy policy;
  policy.performance.primary = {"output_throughput_tok_s"};
  gate::Baseline itself;
  itself.source = "itself";
  itself.cells = none->cells;
  const record::Verdict verdict = gate::Judge(*none, {{"imported", policy, itself}});
  for (const record::Check& check : verdict.checks) {
    if (!StartsWith(check.metric, "V4")) continue;
    EXPECT_FALSE(check.primary) << check.metric;
    EXPECT_TRUE(StartsWith(check.reason, "not possible: ")) << check.reason;
  }
  EXPECT_EQ(verdict.outcome, record::Outcome::kPass) << verdict.headline;
}

TEST_F(ImportTest, AScoreOfLmEvalComesWithItsSamples) {
  const std::string text = R"({"results": {"gpqa_diamond_cot_zeroshot": {"alias": "gpqa_diamond_cot_zeroshot",
    "exact_match,strict-match": 0.30303030303030304, "exact_match_stderr,strict-match": 0.0327,
    "exact_match,flexible-extract": 0.5656565656565656}}, "n-samples": {"gpqa_diamond_cot_zeroshot":
    {"original": 198, "effective": 198}}, "model_name": "m", "lm_eval_version": "0.4.9"})";
  const std::string several = WhyNot(text);
  EXPECT_NE(several.find("exact_match,flexible-extract | exact_match,strict-match"), std::string::npos)
      << several;
  const auto record = Import({Write("r.json", text)}, {.metric = "exact_match,flexible-extract"});
  ASSERT_TRUE(record) << record.error().message;
  const record::AccuracyRecord& accuracy = record->cells[0].accuracy.value();
  EXPECT_EQ(Count(accuracy).samples, 198);
  EXPECT_EQ(Count(accuracy).correct, 112) << "0.5657 of 198";
  EXPECT_EQ(accuracy.eval, "gpqa_diamond_cot_zeroshot");
}

TEST_F(ImportTest, AScoreOfGptOssNeedsToBeToldItsSamples) {
  const std::string text =
      R"({"chars": 4182.4, "chars:std": 2000.1, "score:std": 0.4954, "score": 0.56818181818})";
  EXPECT_NE(WhyNot(text).find("--samples"), std::string::npos) << WhyNot(text);
  const auto record = Import({Write("r.json", text)}, {.samples = 1584});
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_EQ(Count(*record->cells[0].accuracy).correct, 900);
  const auto listed =
      Import({Write("l.json", R"([{"eval_name": "gpqa", "model_name": "x-low_temp1.0", "metric": 0.5}])")},
             {.samples = 198});
  ASSERT_TRUE(listed) << listed.error().message;
  EXPECT_EQ(Count(*listed->cells[0].accuracy).correct, 99);
}

TEST_F(ImportTest, FilesOfOneCellAreJoinedAndNothingIsOverwritten) {
  const Path vllm = Write("v.json", std::string(kVllm) + "}");
  const Path score = Write("s.json", R"({"score": 0.5, "score:std": 0.5, "chars": 1})");
  const auto record = Import({vllm, score}, {.samples = 10});
  ASSERT_TRUE(record) << record.error().message;
  ASSERT_EQ(record->cells.size(), 1u);
  EXPECT_TRUE(record->cells[0].accuracy);
  EXPECT_EQ(record->cells[0].serving.size(), 1u);
  const auto twice = Import({vllm, vllm}, {});
  ASSERT_FALSE(twice);
  EXPECT_NE(twice.error().message.find("second benchmark serving"), std::string::npos)
      << twice.error().message;
}

TEST_F(ImportTest, SaysWhatIsWrongAndWhere) {
  const std::string csv = "cell,gpqa_score,samples,serving,ttft_mean_ms\n";
  const struct {
    std::string text, part;
  } cases[] = {
      {"", "neither JSON nor a CSV"},
      {"{}", "no result that is known here"},
      {"[1, 2", "neither JSON nor a CSV"},
      {std::string(kVllm) + R"(, "p90_ttft_ms": "fast"})", "p90_ttft_ms: expected a number"},
      {std::string(kVllm) + R"(, "ttfts": [1], "itls": [], "output_lens": [1]})", "another array 0"},
      {csv, "no rows"},
      {csv + "a,0.5,,,\n", ":2: a score needs its number of samples"},
      {csv + "a,1.5,10,,\n", "expected 0 to 1"},
      {csv + "a,high,10,,\n", "expected a number, got `high`"},
      {csv + "a,nan,10,,\n", "expected a number"},
      {csv + ",0.5,10,,\n", "the cell is not named"},
      {csv + "A b,0.5,10,,\n", "a key is made of"},
      {csv + "a,,,1k,\n", "benchmark 1k has no figure"},
      {csv + "a,,,,\n", "neither gpqa_score nor serving"},
      {csv + "a,0.5,10\n", "fields"},
      {csv + "a,0.5,10,,\na,0.5,10,,\n", "second score"},
      {"cell,tpot_mean_s\na,1\n", "unknown column tpot_mean_s; did you mean tpot_mean_ms?"},
      {"cell,cell\na,b\n", "column cell twice"},
      {R"({"results": {}, "n-samples": {}})", "results is empty"},
      {R"({"results": {"t": {"acc,none": 0.5}}, "n-samples": {}})", "pass --samples"},
      {R"({"results": {"t": {"acc,none": 7}}, "n-samples": {"t": {"effective": 9}}})", "expected 0 to 1"},
      {R"({"results": {"t": {"word_perplexity,none": 7}}, "n-samples": {}})", "has no score"},
  };
  for (const auto& [text, part] : cases) {
    const std::string message = WhyNot(text);
    EXPECT_NE(message.find(part), std::string::npos) << text << "\n-> " << message;
  }
  EXPECT_NE(WhyNot(csv + "a,0.5,10,,\n", {.format = "vlm"}).find("the formats are vllm-bench"),
            std::string::npos);
  EXPECT_NE(WhyNot("[]", {.format = "vllm-bench"}).find("not a JSON object"), std::string::npos);
}

}  // namespace
}  // namespace assay::runner
