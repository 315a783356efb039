#include <gtest/gtest.h>

#include "engine/server/service.h"
#include "engine/server/service_test_support.h"
#include "engine/server/test_client.h"

namespace assay::engine {
namespace {

using nlohmann::json;

struct ErrorRow {
  const char* name;
  const char* method;
  const char* path;
  std::string body;
  int status;
  const char* type;
  const char* says;
};

TEST(Errors, HaveOpenAiShapeAndTheRightStatus) {
  constexpr const char* kChat = "/v1/chat/completions";
  constexpr const char* kText = "/v1/completions";
  const std::string too_long(2000, 'a');
  const ErrorRow rows[] = {
      {"malformed JSON", "POST", kChat, "{\"messages\": [", 400, "BadRequestError", ""},
      {"not an object", "POST", kChat, "[1]", 400, "BadRequestError", ""},
      {"no body", "POST", kChat, "", 400, "BadRequestError", ""},
      {"invalid UTF-8", "POST", kText, "{\"prompt\": \"\xff\xfe\"}", 400, "BadRequestError", ""},
      {"no messages", "POST", kChat, "{}", 400, "BadRequestError", "messages"},
      {"wrong type", "POST", kChat, Chat("a^", {{"temperature", "hot"}}).dump(), 400, "BadRequestError",
       "temperature"},
      {"unknown role", "POST", kChat, R"({"messages": [{"role": "boss", "content": "x"}]})", 400,
       "BadRequestError", "role"},
      {"unknown model", "POST", kChat, Chat("a^", {{"model", "x"}}).dump(), 404, "NotFoundError",
       "The model `x` does not exist."},
      {"unknown model, completions", "POST", kText, Completion("a^", {{"model", "gpt"}}).dump(), 404,
       "NotFoundError", "The model `gpt` does not exist."},
      {"reasoning effort", "POST", kChat, Chat("a^", {{"reasoning_effort", "max"}}).dump(), 400,
       "BadRequestError", "reasoning_effort"},
      {"prompt too long", "POST", kText, json{{"prompt", too_long}}.dump(), 400, "BadRequestError",
       "maximum context length is 1024 tokens"},
      {"chat too long", "POST", kChat, Chat(too_long).dump(), 400, "BadRequestError",
       "maximum context length is 1024 tokens"},
      {"far too long", "POST", kText, json{{"prompt", std::string(300'000, 'a')}}.dump(), 400,
       "BadRequestError", "300000 bytes"},
      {"max_tokens beyond the context", "POST", kText, Completion("a^", {{"max_tokens", 2000}}).dump(), 400,
       "BadRequestError", "max_tokens is too large: 2000"},
      {"max_tokens huge", "POST", kText, Completion("a^", {{"max_tokens", 9223372036854775807}}).dump(), 400,
       "BadRequestError", "max_tokens"},
      {"max_tokens negative", "POST", kText, Completion("a^", {{"max_tokens", -1}}).dump(), 400,
       "BadRequestError", "max_tokens"},
      {"max_tokens zero", "POST", kText, Completion("a^", {{"max_tokens", 0}}).dump(), 400, "BadRequestError",
       "max_tokens"},
      {"min_tokens beyond the context", "POST", kText, Completion("a^", {{"min_tokens", 2000}}).dump(), 400,
       "BadRequestError", "min_tokens"},
      {"token id out of range", "POST", kText, R"({"prompt": [1, 264]})", 400, "BadRequestError",
       "token id 264 is out of range"},
      {"token id negative", "POST", kText, R"({"prompt": [1, -1]})", 400, "BadRequestError", "prompt"},
      {"stop token id out of range", "POST", kText, Completion("a^", {{"stop_token_ids", {9999}}}).dump(),
       400, "BadRequestError", "stop_token_ids"},
      {"logit bias id out of range", "POST", kText, Completion("a^", {{"logit_bias", {{"264", 1}}}}).dump(),
       400, "BadRequestError", "logit_bias: token id 264 is out of range"},
      {"too many answers", "POST", kText,
       json{{"prompt", std::vector<std::string>(200, "x")}, {"n", 100}}.dump(), 400, "BadRequestError",
       "200 prompts with 100 answers each; at most 2048"},
      {"one prompt of two too long", "POST", kText, json{{"prompt", {"x", too_long}}}.dump(), 400,
       "BadRequestError", "maximum context length is 1024 tokens"},
      {"forced tool", "POST", kChat, Chat("a^", {{"tool_choice", "required"}}).dump(), 400, "BadRequestError",
       "tool_choice"},
      {"responses, stored", "POST", "/v1/responses", R"({"input": "x", "previous_response_id": "resp_1"})",
       400, "BadRequestError", "previous_response_id"},
      {"responses, unknown model", "POST", "/v1/responses", R"({"input": "x", "model": "y"})", 404,
       "NotFoundError", "The model `y` does not exist."},
      {"tokenize nothing", "POST", "/tokenize", "{}", 400, "BadRequestError", "prompt"},
      {"detokenize out of range", "POST", "/detokenize", R"({"tokens": [264]})", 400, "BadRequestError",
       "tokens: token id 264 is out of range"},
      {"empty prompt", "POST", kText, R"({"prompt": ""})", 400, "BadRequestError", "prompt"},
      {"too many stops", "POST", kText,
       Completion("a^", {{"stop", std::vector<std::string>(65, "x")}}).dump(), 400, "BadRequestError",
       "at most 64"},
      {"stop too long", "POST", kText, Completion("a^", {{"stop", std::string(1025, 'x')}}).dump(), 400,
       "BadRequestError", "1025 bytes"},
      {"unknown path", "GET", "/v2/nothing", "", 404, "NotFoundError", "/v2/nothing"},
      {"wrong method", "GET", kChat, "", 405, "MethodNotAllowedError", "use POST"},
      {"wrong method on models", "DELETE", "/v1/models", "", 405, "MethodNotAllowedError", "use GET"},
      {"logits that are not numbers", "POST", kText, Completion("ab%c^").dump(), 500, "InternalServerError",
       "not numbers"},
  };
  TestServer::Options options;
  options.num_blocks = 64;
  TestServer server(std::move(options));
  TestClient client(server.Port());
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const auto response = client.Call(row.method, row.path, row.body);
    EXPECT_EQ(response.status, row.status) << response.body;
    const json error = response.Json().value("error", json::object());
    EXPECT_EQ(error.value("type", ""), row.type);
    EXPECT_EQ(error.value("code", 0), row.status);
    EXPECT_NE(error.value("message", "").find(row.says), std::string::npos) << response.body;
    EXPECT_FALSE(error.value("message", "").empty());
  }
  EXPECT_EQ(client.Post("/v1/completions", Completion("still here^")).Json()["choices"][0]["text"],
            "still here");
  EXPECT_TRUE(server.BecomesFree());
}

TEST(Errors, AMethodThatIsNotAllowedNamesTheOneThatIs) {
  TestServer server;
  TestClient client(server.Port());
  EXPECT_NE(client.Call("PUT", "/v1/completions").head.find("Allow: POST\r\n"), std::string::npos);
}

TEST(Errors, AFailureInTheMiddleOfAStreamIsAnEventBeforeDone) {
  TestServer server;
  TestClient client(server.Port());
  const auto events = client.Post("/v1/completions", Completion("ab%^", {{"stream", true}})).Events();
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(json::parse(events[2])["error"]["code"], 500);
  EXPECT_EQ(events[3], "[DONE]");
}

TEST(ApiKey, GuardsTheApiAndNothingElse) {
  TestServer::Options options;
  options.service.api_key = "secret";
  TestServer server(std::move(options));
  TestClient client(server.Port());
  EXPECT_EQ(client.Call("GET", "/v1/models").status, 401);
  EXPECT_EQ(client.Call("GET", "/v1/models", "", "Authorization: Bearer secreT\r\n").status, 401);
  EXPECT_EQ(client.Call("GET", "/v1/models", "", "Authorization: Bearer secretsecret\r\n").status, 401);
  EXPECT_EQ(client.Call("GET", "/v1/models", "", "Authorization: Bearer secret\r\n").status, 200);
  EXPECT_EQ(client.Call("POST", "/tokenize", R"({"prompt": "x"})").status, 401);
  EXPECT_EQ(client.Call("GET", "/nothing").status, 401);
  for (const char* open : {"/health", "/ping", "/version", "/metrics"}) {
    EXPECT_EQ(client.Call("GET", open).status, 200) << open;
  }
}

TEST(Status, ModelsVersionAndMetricsAnswer) {
  TestServer server;
  TestClient client(server.Port());
  const json models = client.Call("GET", "/v1/models").Json();
  EXPECT_EQ(models["data"][0]["id"], "scripted");
  EXPECT_EQ(models["data"][0]["max_model_len"], 65536);
  EXPECT_TRUE(client.Call("GET", "/version?x=1").Json().contains("version"));

  client.Post("/v1/completions", Completion("abc^"));
  client.Post("/v1/completions", Completion("abc^", {{"max_tokens", 1}}));
  const std::string metrics = client.Call("GET", "/metrics").body;
  for (const char* line :
       {"assay:num_requests_running{model_name=\"scripted\"} 0",
        "assay:num_requests_waiting{model_name=\"scripted\"} 0",
        "assay:prompt_tokens_total{model_name=\"scripted\"} 18",
        "assay:generation_tokens_total{model_name=\"scripted\"} 5",
        "assay:kv_cache_usage_perc{model_name=\"scripted\"} 0", "finished_reason=\"stop\"} 1",
        "finished_reason=\"length\"} 1", "finished_reason=\"abort\"} 0",
        "assay:request_generation_tokens_sum{model_name=\"scripted\"} 5",
        "assay:request_prompt_tokens_sum{model_name=\"scripted\"} 18",
        "assay:inter_token_latency_seconds_count{model_name=\"scripted\"} 3",
        "assay:request_queue_time_seconds_count{model_name=\"scripted\"} 2",
        "assay:request_time_per_output_token_seconds_count{model_name=\"scripted\"} 1",
        "assay:prefix_cache_hits_total{model_name=\"scripted\"} 0",
        "block_size=\"16\",num_gpu_blocks=\"4096\"} 1", "process_resident_memory_bytes ", "process_open_fds ",
        "assay:time_to_first_token_seconds_count{model_name=\"scripted\"} 2",
        "assay:e2e_request_latency_seconds_count{model_name=\"scripted\"} 2"}) {
    EXPECT_NE(metrics.find(line), std::string::npos) << line << " not in\n" << metrics;
  }
}

}  // namespace
}  // namespace assay::engine
