// `assay bench serve` from outside, against servers that answer well and badly.

#include <gmock/gmock.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/text.h"
#include "runner/cli/exit_code.h"
#include "testing/scripted_server.h"
#include "tests/end_to_end/assay_test.h"

namespace assay {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class BenchServeTest : public AssayTest {
 protected:
  void SetUp() override { StartServer({}); }

  void StartServer(const testing::ScriptedOptions& options) {
    server_.reset();
    auto server = testing::ScriptedServer::Start(options);
    ASSERT_TRUE(server.has_value()) << server.error().message;
    server_ = std::move(*server);
  }

  std::vector<std::string> Arguments(std::vector<std::string> flags) const {
    std::vector<std::string> arguments = {"bench",
                                          "serve",
                                          "--base-url",
                                          server_->BaseUrl(),
                                          "--num-prompts",
                                          "8",
                                          "--vocab-size",
                                          "1000",
                                          "--random-input-len",
                                          "16",
                                          "--random-output-len",
                                          "4"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return arguments;
  }
  int Bench(std::vector<std::string> flags = {}) { return Run(Arguments(std::move(flags))); }

  // The one JSON file in a folder.
  static Path OnlyFile(const Path& folder) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) return entry.path();
    return {};
  }

  std::unique_ptr<testing::ScriptedServer> server_;
};

TEST_F(BenchServeTest, PrintsVllmsTableAndSavesItsFile) {
  ASSERT_EQ(Bench({"--save_result", "--result-dir", (folder_ / "r").string(), "--request_rate=400",
                   "--max_concurrency", "4", "--metadata", "tp=2", "--goodput", "ttft:10000"}),
            runner::kExitPass)
      << Err() << Out();
  EXPECT_THAT(Out(), ::testing::StartsWith("============ Serving Benchmark Result ============\n"
                                           "Successful requests:                     8         \n"
                                           "Failed requests:                         0         \n"
                                           "Maximum request concurrency:             4         \n"
                                           "Request rate configured (RPS):           400.00    \n"));
  EXPECT_THAT(Out(), HasSubstr("Total input tokens:                      128       \n"
                               "Total generated tokens:                  32        \n"));
  EXPECT_THAT(Out(), HasSubstr("client CPU share"));
  const Path file = OnlyFile(folder_ / "r");
  EXPECT_THAT(file.filename().string(), ::testing::StartsWith("openai-400.0qps-concurrency4-scripted-"));
  const json result = json::parse(ReadFile(file).value_or(""));
  EXPECT_EQ(result["completed"], 8);
  EXPECT_EQ(result["model_id"], "scripted") << "the first of /v1/models";
  EXPECT_EQ(result["tp"], "2");
  EXPECT_EQ(result["request_rate"], 400);
  EXPECT_EQ(result["assay"]["seed"], 0);
  EXPECT_EQ(result["assay"]["metrics"]["good_share"]["value"], 1);
}

TEST_F(BenchServeTest, AppendsJsonLines) {
  const std::vector<std::string> flags = {"--append-result", "--result-filename", (folder_ / "all").string()};
  ASSERT_EQ(Bench(flags), 0) << Err();
  ASSERT_EQ(Bench(flags), 0) << Err();
  const auto lines = SplitLines(ReadFile(folder_ / "all").value_or(""));
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(json::parse(lines[1])["completed"], 8);
}

TEST_F(BenchServeTest, ExitsOneWhenARequestFailedAndSaysWhy) {
  server_->Queue({.chunks = {{0, "data: {\"choices\":[{\"text\":\"a\"}]}\n\n"},
                             {0, "data: {\"error\":{\"code\":500,\"message\":\"KV cache is full\"}}\n\n"},
                             {0, "data: [DONE]\n\n"}}});
  server_->Queue({.status = 400, .content_type = "application/json", .body = R"({"message":"too long"})"});
  server_->Queue({.chunks = {{0, "data: {\"choices\":[{\"text\":\"a\"}]}\n\n"}}, .cut = true});
  server_->Queue({.content_type = "text/html", .body = "<html>hello</html>"});
  server_->Queue({.chunks = {{0, "data: {broken\n\n"}, {0, "data: [DONE]\n\n"}}});
  EXPECT_EQ(Bench({"--max-concurrency", "1", "--model", "scripted"}), runner::kExitFail) << Out();
  EXPECT_THAT(Out(), HasSubstr("Failed requests:                         5         \n"));
  for (const char* why : {"error inside the stream: KV cache is full", "HTTP 400: too long",
                          "the answer was cut", "it begins: <html>hello</html>", "event 1 of the stream: "}) {
    EXPECT_THAT(Out(), HasSubstr(why));
  }
}

TEST_F(BenchServeTest, AServerThatIsNotThere) {
  const std::vector<std::string> named = Arguments({"--model", "m"}), nameless = Arguments({});
  server_.reset();
  EXPECT_EQ(Run(named), runner::kExitFail) << "every request failed: no zeros with exit code 0";
  EXPECT_THAT(Out(), HasSubstr("failed 8 times: cannot connect to"));
  EXPECT_EQ(Run(nameless), runner::kExitInfrastructure);
  EXPECT_THAT(Err(), HasSubstr("/v1/models: cannot connect"));
}

TEST_F(BenchServeTest, RefusesBadFlagsBeforeAnythingIsSent) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--request-rate", "0"}, "--request-rate: must be above 0"},
      {{"--request-rate", "-3"}, "--request-rate: must be above 0"},
      {{"--request-rate", "nan"}, "--request-rate: a number is needed"},
      {{"--request-rate", "fast"}, "--request-rate: a number is needed"},
      {{"--burstiness", "0"}, "--burstiness: must be above 0"},
      {{"--num-prompts", "0"}, "num_prompts must be at least 1"},
      {{"--random-range-ratio", "1"}, "range_ratio must be below 1"},
      {{"--random-range-ratio", "{\"input\":0.5}"}, "needs a number, or numbers for input and output"},
      {{"--backend", "openai-audio"}, "must be openai, vllm or openai-chat"},
      {{"--dataset-name", "sonnet"}, "dataset must be random or"},
      {{"--dataset-name", "sharegpt"}, "needs a file"},
      {{"--dataset-name", "custom", "--dataset-path", "nowhere.jsonl"}, "nowhere.jsonl"},
      {{"--trace-file", "nowhere.txt"}, "nowhere.txt"},
      {{"--goodput", "itl:3"}, "--goodput: itl:3 is no limit"},
      {{"--goodput", "ttft"}, "--goodput: ttft is no limit"},
      {{"--find-rate", "ttft:nan"}, "--find-rate: a number is needed"},
      {{"--definitions", "sglang"}, "must be vllm, aiperf or guidellm"},
      {{"--metric-percentiles", "101"}, "must be in [0, 100]"},
      {{"--header", "oops"}, "must be NAME=VALUE"},
      {{"--extra-body", "[1]"}, "--extra-body: a JSON object is needed"},
      {{"--save-detailed"}, "give that too"},
      {{"--num-promts", "3"}, "did you mean --num-prompts?"},
  };
  for (const auto& [flags, message] : cases) {
    EXPECT_EQ(Bench(flags), runner::kExitUsage) << Join(flags, " ") << Out() << Err();
    EXPECT_THAT(Err(), HasSubstr(message)) << Join(flags, " ");
  }
  EXPECT_TRUE(server_->RequestBodies().empty());
}

TEST_F(BenchServeTest, SendsTextOfExactLengthToChat) {
  ASSERT_EQ(Bench({"--backend", "openai-chat", "--tokenizer", ASSAY_SOURCE_DIR "/models/tiny-moe", "--top-p",
                   "0.5", "--num-prompts", "2"}),
            0)
      << Err() << Out();
  const json body = json::parse(server_->RequestBodies().at(0));
  EXPECT_EQ(body["messages"][0]["role"], "user");
  EXPECT_EQ(body["top_p"], 0.5);
  EXPECT_FALSE(body.contains("temperature")) << "the server's default, as vLLM does";
  EXPECT_EQ(body["ignore_eos"], true);
}

TEST_F(BenchServeTest, CountsTokensWithTheServersTokenizer) {
  std::string ids;
  for (int i = 0; i < 96; ++i) ids += (i > 0 ? "," : "") + std::to_string(100 + i);
  server_->Queue({.content_type = "application/json", .body = "{\"count\":96,\"tokens\":[" + ids + "]}"});
  ASSERT_EQ(Bench({"--vocab-size", "0", "--num-prompts", "1"}), 0) << Err();
  EXPECT_THAT(json::parse(server_->RequestBodies().at(0))["prompt"].get<std::string>(), HasSubstr(" people"));
  for (const json& id : json::parse(server_->RequestBodies().at(1))["prompt"]) EXPECT_GE(id, 100);
}

TEST_F(BenchServeTest, FindsTheHighestRateThatMeetsALimit) {
  ASSERT_EQ(Bench({"--find-rate", "ttft:5000", "e2el:10000", "--max-rate", "64", "--start-rate", "16",
                   "--find-rate-seconds", "0.1"}),
            0)
      << Err() << Out();
  EXPECT_THAT(Out(), HasSubstr("    16.000 req/s  met     p99 TTFT "));
  EXPECT_THAT(Out(), HasSubstr("highest rate that met the limits: 64.000 req/s (no higher one was tried"));
  EXPECT_EQ(Bench({"--find-rate", "ttft:0.000001", "--start-rate", "4096", "--find-rate-seconds", "0"}),
            runner::kExitFail);
  EXPECT_THAT(Out(), HasSubstr("no rate met the limits"));
}

TEST_F(BenchServeTest, ARateIsTriedForTheSecondsAskedFor) {
  const std::vector<std::string> one_rate = {"--find-rate",  "e2el:60000", "--max-rate", "200",
                                             "--start-rate", "200",        "--model",    "scripted"};
  const auto sent = [&](const std::string& seconds) {
    std::vector<std::string> flags = one_rate;
    flags.insert(flags.end(), {"--find-rate-seconds", seconds});
    const size_t before = server_->RequestBodies().size();
    EXPECT_EQ(Bench(flags), 0) << Err() << Out();
    return server_->RequestBodies().size() - before;
  };
  EXPECT_EQ(sent("0.5"), 100u) << "not the 8 of --num-prompts";
  EXPECT_EQ(sent("0.01"), 5u);
}

TEST_F(BenchServeTest, NoRateIsSoughtOfADeadServer) {
  const std::vector<std::string> arguments = Arguments(
      {"--find-rate", "ttft:5000", "--model", "m", "--start-rate", "1000", "--find-rate-seconds", "0"});
  server_.reset();
  EXPECT_EQ(Run(arguments), runner::kExitInfrastructure) << Out();
  EXPECT_THAT(Err(), HasSubstr("--find-rate: at 1000 requests/s"));
  EXPECT_THAT(Err(), HasSubstr("cannot connect"));
}

TEST_F(BenchServeTest, SpeaksOtherDefinitions) {
  ASSERT_EQ(Bench({"--definitions", "guidellm"}), 0) << Err();
  EXPECT_EQ(Out().find("Serving Benchmark Result"), std::string::npos);
  EXPECT_THAT(Out(), HasSubstr("time_per_output_token_ms"));
  EXPECT_THAT(Out(), HasSubstr("(last token - sent) / output tokens: prefill included"));
}

TEST_F(BenchServeTest, AnInterruptKeepsWhatWasMeasured) {
  StartServer({.token_interval_ms = 100});
  testing::Program program(Argv(Arguments({"--max-concurrency", "1", "--num-prompts", "1000"})), Env(),
                           folder_.path());
  while (server_->RequestBodies().size() < 3) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  program.Signal(SIGINT);
  EXPECT_EQ(program.Wait(), runner::kExitInterrupted);
  EXPECT_THAT(program.Out(), HasSubstr("Serving Benchmark Result"));
}

TEST_F(BenchServeTest, KeepsKeysOutOfItsFile) {
  ASSERT_EQ(Bench({"--header", "Authorization=Bearer sk-secret", "--save-result", "--result-filename",
                   (folder_ / "f").string()}),
            0)
      << Err();
  const std::string text = ReadFile(folder_ / "f").value_or("");
  EXPECT_THAT(text, HasSubstr("Authorization=(hidden)"));
  EXPECT_EQ(text.find("sk-secret"), std::string::npos);
}

TEST_F(BenchServeTest, KeepsThePasswordOfAnAddressToItself) {
  const std::string address = "http://me:sk-secret@" + server_->BaseUrl().substr(7);
  ASSERT_EQ(Bench({"--base-url", address, "--save-result", "--result-filename", (folder_ / "f").string()}), 0)
      << Err();
  const std::string text = ReadFile(folder_ / "f").value_or("");
  EXPECT_EQ(json::parse(text)["assay"]["base_url"], "http://(hidden)@" + server_->BaseUrl().substr(7));
  server_.reset();
  EXPECT_EQ(Run({"bench", "serve", "--base-url", address}), runner::kExitInfrastructure);
  EXPECT_EQ((text + Out() + Err()).find("sk-secret"), std::string::npos) << Err();
}

}  // namespace
}  // namespace assay
