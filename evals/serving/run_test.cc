#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "evals/serving/serving.h"
#include "testing/scripted_server.h"
#include "testing/temp_dir.h"

namespace assay::evals {
namespace {

using assay::testing::ScriptedAnswer;
using assay::testing::ScriptedOptions;
using assay::testing::ScriptedServer;
using nlohmann::json;
using record::RequestTiming;
using record::ServingRecord;
using ::testing::Each;
using ::testing::HasSubstr;

std::string Event(const json& payload) {
  return "data: " + payload.dump() + "\n\n";
}
std::string Text(const char* text) {
  return Event({{"choices", {{{"index", 0}, {"text", text}}}}});
}

class RunServingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    StartServer({});
    options_.name = "test";
    options_.model = "scripted";
    options_.input_len = 16;
    options_.output_len = 4;
    options_.num_prompts = 8;
    options_.warmups = 0;
    options_.vocab_size = 100;
    options_.special_ids = {0, 1, 99, 1000};
  }

  void StartServer(const ScriptedOptions& options) {
    server_.reset();
    auto server = ScriptedServer::Start(options);
    ASSERT_TRUE(server.has_value()) << server.error().message;
    server_ = std::move(*server);
  }

  ServingRecord Run() {
    auto serving = RunServing(server_->BaseUrl(), options_, progress_,
                              [this](const RequestTiming& timing) { seen_.push_back(timing.index); });
    EXPECT_TRUE(serving.has_value()) << serving.error().message;
    return serving.value_or(ServingRecord{});
  }

  static double Value(const ServingRecord& serving, const char* name) {
    const record::Metric* metric = record::Find(serving.metrics, name);
    EXPECT_NE(metric, nullptr) << name;
    return metric != nullptr ? metric->value.value_or(-1) : -1;
  }

  std::vector<std::vector<int32_t>> Prompts() const {
    std::vector<std::vector<int32_t>> prompts;
    for (const std::string& body : server_->RequestBodies()) {
      prompts.push_back(json::parse(body)["prompt"].get<std::vector<int32_t>>());
    }
    return prompts;
  }

  std::unique_ptr<ScriptedServer> server_;
  ServingOptions options_;
  Progress progress_;
  std::vector<int64_t> seen_;
};

// Start 0, chunks with choices at 0.50, 0.60, 0.80 s, usage of five tokens at 0.81 s.
ScriptedAnswer WorkedExample() {
  return {.chunks = {{500, Text("a")},
                     {100, Text("b")},
                     {200, Text("c")},
                     {10, Event({{"choices", json::array()},
                                 {"usage", {{"prompt_tokens", 16}, {"completion_tokens", 5}}}})},
                     {0, "data: [DONE]\n\n"}}};
}

// The figures are exact in summary_test and stream_test; here a busy machine may deliver late, never early.
TEST_F(RunServingTest, MeasuresTheWorkedExample) {
  options_.num_prompts = 1;
  server_->Queue(WorkedExample());
  const ServingRecord serving = Run();
  EXPECT_TRUE(serving.complete);
  const double ttft = Value(serving, "ttft_p50_ms");
  const double e2el = Value(serving, "e2el_p50_ms");
  EXPECT_NEAR(ttft, 500, 50);
  EXPECT_NEAR(e2el, 800, 50);
  EXPECT_NEAR(Value(serving, "tpot_p50_ms"), (e2el - ttft) / 4, 1e-3) << "five tokens";
  EXPECT_NEAR(Value(serving, "itl_mean_ms"), (e2el - ttft) / 2, 1e-3) << "three chunks";
  ASSERT_EQ(serving.requests.size(), 1u);
  EXPECT_EQ(serving.requests[0].output_tokens, 5);
  EXPECT_TRUE(serving.requests[0].output_tokens_from_usage);
  EXPECT_EQ(serving.requests[0].chunks, 3);
}

TEST_F(RunServingTest, SendsFreshPromptsOfExactLength) {
  options_.warmups = 3;
  Run();
  options_.repetition = 1;
  Run();
  const std::vector<std::vector<int32_t>> prompts = Prompts();
  ASSERT_EQ(prompts.size(), 22u);
  EXPECT_EQ(std::set(prompts.begin(), prompts.end()).size(), 22u) << "none is sent twice";
  for (const std::vector<int32_t>& prompt : prompts) {
    EXPECT_EQ(prompt.size(), 16u);
    EXPECT_THAT(prompt, Each(::testing::AllOf(::testing::Ge(2), ::testing::Le(98))))
        << "0, 1, 99 are special";
  }
}

TEST_F(RunServingTest, TheFirstPromptsDoNotDependOnTheirNumber) {
  options_.max_concurrency = 1;  // in order
  options_.num_prompts = 2;
  Run();
  options_.num_prompts = 4;
  Run();
  const std::vector<std::vector<int32_t>> prompts = Prompts();
  EXPECT_EQ(prompts[0], prompts[2]);
  EXPECT_EQ(prompts[1], prompts[3]);
}

TEST_F(RunServingTest, AsksForExactlyOutputLenTokensAndUsage) {
  options_.num_prompts = 1;
  const ServingRecord serving = Run();
  const json body = json::parse(server_->RequestBodies().at(0));
  EXPECT_EQ(body["max_tokens"], 4);
  EXPECT_EQ(body["ignore_eos"], true);
  EXPECT_EQ(body["temperature"], 0);
  EXPECT_EQ(body["stream"], true);
  EXPECT_EQ(body["stream_options"]["include_usage"], true);
  EXPECT_EQ(serving.requests.at(0).output_tokens, 4);
  EXPECT_EQ(serving.requests.at(0).prompt_tokens, 16);
}

TEST_F(RunServingTest, OpenLoopSendsOnTimeWhateverIsOutstanding) {
  StartServer({.token_interval_ms = 50});
  options_.request_rate = 40;
  const ServingRecord serving = Run();
  ASSERT_EQ(serving.requests.size(), 8u);
  const std::vector<double> planned = PlanArrivals(8, 40, 1, 0);
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(serving.requests[i].planned_s, planned[i]);
    EXPECT_GE(serving.requests[i].sent_s, planned[i]);
    EXPECT_LT(serving.requests[i].sent_s, planned[i] + 0.05) << "answers take 0.2 s";
  }
  EXPECT_GT(serving.mean_in_flight, 1.5);
  EXPECT_LT(serving.send_lag_p99_ms, 50);
  EXPECT_GT(serving.client_cpu_share, 0);
}

TEST_F(RunServingTest, ClosedLoopHoldsTheWindowAndShowsTheWait) {
  StartServer({.token_interval_ms = 20});
  options_.max_concurrency = 2;
  const ServingRecord serving = Run();
  EXPECT_LE(serving.mean_in_flight, 2.0);
  EXPECT_GT(serving.mean_in_flight, 1.2);
  EXPECT_LT(serving.send_lag_p99_ms, 50) << "waiting for a place is not the client's lag";
  const double actual = Value(serving, "ttft_p99_ms");
  const double planned = Value(serving, "ttft_from_planned_p99_ms");
  EXPECT_GT(planned, actual + 150) << "the last of 8 waits for three rounds of 80 ms";
}

TEST_F(RunServingTest, FailedRequestsAreInTheRecordWithTheirError) {
  options_.num_prompts = 4;
  options_.max_concurrency = 1;
  options_.idle_timeout_s = 0.1;
  server_->Queue({.chunks = {{0, Text("a")},
                             {0, Event({{"error", {{"code", 500}, {"message", "KV cache is full"}}}})},
                             {0, "data: [DONE]\n\n"}}});
  server_->Queue({.chunks = {{0, Text("a")}}, .cut = true});
  server_->Queue({.chunks = {{0, Text("a")}}, .never_end = true});
  const ServingRecord serving = Run();
  ASSERT_EQ(serving.requests.size(), 4u);
  EXPECT_EQ(serving.requests[0].error, "error inside the stream: KV cache is full");
  EXPECT_THAT(serving.requests[1].error, HasSubstr("cut"));
  EXPECT_THAT(serving.requests[2].error, HasSubstr("idle timeout"));
  EXPECT_EQ(serving.requests[3].error, "");
  EXPECT_EQ(Value(serving, "completed"), 1);
  EXPECT_EQ(Value(serving, "failed"), 3);
  EXPECT_TRUE(serving.complete);
}

TEST_F(RunServingTest, OneStreamThatNeverEndsKeepsNoOtherFromBeingReported) {
  options_.num_prompts = 64;
  options_.idle_timeout_s = 0.5;
  server_->Queue({.chunks = {{0, Text("a")}}, .never_end = true});
  const ServingRecord serving = Run();
  EXPECT_TRUE(serving.complete);
  EXPECT_EQ(Value(serving, "completed"), 63);
  EXPECT_EQ(Value(serving, "failed"), 1);
  EXPECT_LT(serving.duration_s, 30);
}

TEST_F(RunServingTest, AResetInTheMiddleIsAFailure) {
  options_.num_prompts = 1;
  server_->Queue({.chunks = {{0, Text("a")}, {20, Text("b")}}, .cut = true, .reset = true});
  const ServingRecord serving = Run();
  EXPECT_THAT(serving.requests.at(0).error, HasSubstr("connection was lost"));
}

// A body that promises nothing and never breaks a line.
TEST_F(RunServingTest, AnEndlessLineFailsItsRequestAndLittleElse) {
  options_.num_prompts = 2;
  options_.max_concurrency = 1;
  server_->Queue({.chunks = std::vector(40, assay::testing::ScriptedChunk{0, std::string(1 << 20, 'x')})});
  const ServingRecord serving = Run();
  EXPECT_EQ(serving.requests.at(0).error, "event 1 of the stream is larger than 16 MiB");
  EXPECT_EQ(serving.requests.at(1).error, "");
}

TEST_F(RunServingTest, SendsAtTheTimesOfATrace) {
  const assay::testing::TempDir folder;
  options_.trace_file = folder.Write("t", "0\n0.15\n{\"timestamp\": 300, \"input_length\": 5}\n");
  const ServingRecord serving = Run();
  ASSERT_EQ(serving.requests.size(), 3u) << "of 8 prompts asked for, the trace has 3";
  EXPECT_EQ(serving.num_prompts, 3);
  EXPECT_EQ(serving.requests[1].planned_s, 0.15);
  EXPECT_GE(serving.requests[2].sent_s, 0.3);
  EXPECT_EQ(Prompts()[2].size(), 5u);
  EXPECT_EQ(serving.arrivals, "trace t");
}

TEST_F(RunServingTest, WarmsUpUntilSteadyAndCountsIt) {
  options_.warmups = 1;
  options_.max_concurrency = 2;
  options_.steady_warm_up = true;
  const ServingRecord serving = Run();
  const double sent = Value(serving, "warm_up_requests");
  EXPECT_GE(sent, 1 + 3 * 2);
  EXPECT_LE(sent, 1 + 16 * 2);
  EXPECT_EQ(server_->RequestBodies().size(), static_cast<size_t>(sent) + 8);
  const auto prompts = Prompts();
  EXPECT_EQ(std::set(prompts.begin(), prompts.end()).size(), prompts.size()) << "none twice";
}

TEST_F(RunServingTest, WavesOfAFileTakeEntriesOfTheirOwn) {
  const assay::testing::TempDir folder;
  std::string lines;
  for (int i = 0; i < 41; ++i) lines += "{\"prompt\": \"p" + std::to_string(i) + "\"}\n";
  options_.dataset = "custom";
  options_.dataset_path = folder.Write("data", lines);  // 8 measured, 1 and 16 waves of 2 before
  options_.warmups = 1;
  options_.max_concurrency = 2;
  options_.steady_warm_up = true;
  const ServingRecord serving = Run();
  std::set<std::string> prompts;
  for (const std::string& body : server_->RequestBodies())
    prompts.insert(json::parse(body)["prompt"].get<std::string>());
  EXPECT_EQ(prompts.size(), server_->RequestBodies().size()) << "none twice";
  EXPECT_GE(prompts.size(), 8u + 1 + 3 * 2);
  EXPECT_EQ(serving.prompts.find("repeated"), std::string::npos) << serving.prompts;

  options_.num_prompts = 10;
  EXPECT_THAT(Run().prompts, HasSubstr("2 of 33 warm-up prompts repeated"));
}

TEST_F(RunServingTest, AsksChatForTextAndClocksItsReasoning) {
  options_.api = "chat";
  options_.num_prompts = 1;
  options_.input_len = 2;
  const auto delta = [](const json& fields) {
    return Event({{"choices", {{{"index", 0}, {"delta", fields}}}}});
  };
  server_->Queue({.content_type = "application/json", .body = R"({"tokens":[1,2]})"});
  server_->Queue({.chunks = {{0, delta({{"role", "assistant"}, {"content", ""}})},
                             {30, delta({{"reasoning", "so"}})},
                             {30, delta({{"content", "A"}})},
                             {0, "data: [DONE]\n\n"}}});
  std::vector<std::string> texts;
  const auto serving = RunServing(server_->BaseUrl(), options_, progress_, {}, &texts);
  ASSERT_TRUE(serving.has_value()) << serving.error().message;
  const RequestTiming& request = serving->requests.at(0);
  EXPECT_EQ(request.error, "");
  EXPECT_GE(*request.first_reasoning_s, request.sent_s + 0.029) << "late on a busy machine, never early";
  EXPECT_GE(*request.first_content_s, request.sent_s + 0.059);
  EXPECT_EQ(texts, std::vector<std::string>{"soA"});
  EXPECT_EQ(serving->prompts, "chat");
}

TEST_F(RunServingTest, CountsChunksWhereThereIsNoUsage) {
  options_.num_prompts = 1;
  server_->Queue({.chunks = {{0, Text("a")}, {0, Text("b")}, {0, "data: [DONE]\n\n"}}});
  const ServingRecord serving = Run();
  EXPECT_EQ(serving.requests.at(0).output_tokens, 2);
  EXPECT_FALSE(serving.requests.at(0).output_tokens_from_usage);
  EXPECT_EQ(serving.requests.at(0).prompt_tokens, 16);
}

TEST_F(RunServingTest, ARefusedServerMeasuresNothing) {
  const std::string url = server_->BaseUrl();
  server_.reset();
  const auto serving = RunServing(url, options_, progress_, {});
  ASSERT_TRUE(serving.has_value());
  EXPECT_EQ(serving->requests.size(), 8u);
  EXPECT_EQ(Value(*serving, "failed"), 8);
  EXPECT_FALSE(record::Find(serving->metrics, "output_throughput_tok_s")->value.has_value());
}

TEST_F(RunServingTest, ReportsProgressWithTheWarmUp) {
  options_.warmups = 2;
  Run();
  EXPECT_EQ(progress_.planned, 10);
  EXPECT_EQ(progress_.done, 10);
  EXPECT_EQ(progress_.tokens, 40);
  EXPECT_EQ(seen_.size(), 8u) << "the warm-up is not measured";
}

TEST_F(RunServingTest, StopKeepsWhatWasMeasured) {
  options_.max_concurrency = 1;
  server_->Queue({.chunks = {{0, Text("a")}, {0, "data: [DONE]\n\n"}}});
  server_->Queue({.chunks = {{0, Text("a")}}, .never_end = true});
  std::thread watcher([this] {
    while (progress_.done < 1) std::this_thread::yield();
    progress_.stop = true;
  });
  const ServingRecord serving = Run();
  watcher.join();
  EXPECT_FALSE(serving.complete);
  EXPECT_EQ(serving.requests.size(), 1u);
}

struct OptionCase {
  const char* name;
  void (*spoil)(ServingOptions&);
  const char* message;
};
class ServingOptionsTest : public ::testing::TestWithParam<OptionCase> {};

TEST_P(ServingOptionsTest, AreRefusedBeforeAnythingIsSent) {
  ServingOptions options;
  options.vocab_size = 100;
  GetParam().spoil(options);
  Progress progress;
  const auto serving = RunServing("http://127.0.0.1:1", options, progress, {});
  ASSERT_FALSE(serving.has_value());
  EXPECT_EQ(serving.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(serving.error().message, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Wrong, ServingOptionsTest,
    ::testing::Values(
        OptionCase{"NoVocabulary", [](ServingOptions& o) { o.vocab_size = 0; }, "vocab_size is 0"},
        OptionCase{"NoPrompts", [](ServingOptions& o) { o.num_prompts = 0; },
                   "num_prompts must be at least 1"},
        OptionCase{"NoInput", [](ServingOptions& o) { o.input_len = 0; }, "input_len must be at least 1"},
        OptionCase{"NoPlace", [](ServingOptions& o) { o.max_concurrency = 0; }, "max_concurrency must be"},
        OptionCase{"NegativeRate", [](ServingOptions& o) { o.request_rate = -1; }, "request_rate must be 0"},
        OptionCase{"NoBurstiness", [](ServingOptions& o) { o.burstiness = 0; }, "burstiness must be above 0"},
        OptionCase{"OtherDataset", [](ServingOptions& o) { o.dataset = "sonnet"; },
                   "dataset must be random or prefix_repetition or sharegpt or custom"},
        OptionCase{"NoFile", [](ServingOptions& o) { o.dataset = "sharegpt"; }, "needs a file"},
        OptionCase{"AFileForNothing", [](ServingOptions& o) { o.dataset_path = "x"; }, "reads no file"},
        OptionCase{"NanRate", [](ServingOptions& o) { o.request_rate = std::nan(""); }, "got nan"},
        OptionCase{"NanBurstiness", [](ServingOptions& o) { o.burstiness = std::nan(""); }, "got nan"},
        OptionCase{"WholeRange", [](ServingOptions& o) { o.range_ratio = 1; }, "range_ratio must be below 1"},
        OptionCase{"NegativeRange", [](ServingOptions& o) { o.range_ratio = -0.1; },
                   "range_ratio must be in [0, 1]"},
        OptionCase{"RampFromNothing", [](ServingOptions& o) { o.ramp_up = "linear"; },
                   "ramp_up_start must be"},
        OptionCase{"RampOfAnotherKind", [](ServingOptions& o) { o.ramp_up = "steep"; },
                   "ramp_up must be linear or exponential"},
        OptionCase{"TwoPlans",
                   [](ServingOptions& o) {
                     o.request_rate = 1;
                     o.trace_file = "t";
                   },
                   "give one"},
        OptionCase{"GoodputOfNothing",
                   [](ServingOptions& o) {
                     o.goodput = {{"itl", 1}};
                   },
                   "goodput must be"},
        OptionCase{"NanGoodput",
                   [](ServingOptions& o) {
                     o.goodput = {{"ttft", std::nan("")}};
                   },
                   "got nan"}),
    [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace assay::evals
