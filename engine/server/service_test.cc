#include "engine/server/service.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "engine/server/test_client.h"
#include "engine/server/test_server.h"

namespace assay::engine {
namespace {

using nlohmann::json;

json Chat(const std::string& script, json more = json::object()) {
  json body = {{"model", "scripted"}, {"messages", {{{"role", "user"}, {"content", "say:" + script + "|"}}}}};
  body.update(more);
  return body;
}

json Completion(const std::string& script, json more = json::object()) {
  json body = {{"model", "scripted"}, {"prompt", "say:" + script + "|"}};
  body.update(more);
  return body;
}

constexpr const char* kThinkThenAnswer = "{analysis}hm, 7><assistant{final}Answer: 42^";

TEST(ChatCompletions, GivesContentReasoningUsageAndFinishReason) {
  TestServer server;
  TestClient client(server.Port());
  const auto response = client.Post("/v1/chat/completions", Chat(kThinkThenAnswer));
  ASSERT_EQ(response.status, 200) << response.body;
  const json body = response.Json();
  EXPECT_EQ(body["object"], "chat.completion");
  EXPECT_EQ(body["model"], "scripted");
  EXPECT_TRUE(body["id"].get<std::string>().starts_with("chatcmpl-"));
  const json& choice = body["choices"][0];
  EXPECT_EQ(choice["message"]["role"], "assistant");
  EXPECT_EQ(choice["message"]["content"], "Answer: 42");
  EXPECT_EQ(choice["message"]["reasoning"], "hm, 7");
  EXPECT_EQ(choice["finish_reason"], "stop");
  EXPECT_EQ(body["usage"]["completion_tokens"], std::string(kThinkThenAnswer).size());
  EXPECT_GT(body["usage"]["prompt_tokens"], 100);
  EXPECT_TRUE(server.BecomesFree());
}

TEST(ChatCompletions, StreamsRoleReasoningContentFinishUsageAndDone) {
  TestServer server;
  TestClient client(server.Port());
  const auto response =
      client.Post("/v1/chat/completions",
                  Chat(kThinkThenAnswer, {{"stream", true}, {"stream_options", {{"include_usage", true}}}}));
  ASSERT_EQ(response.status, 200);
  EXPECT_NE(response.head.find("text/event-stream"), std::string::npos);
  EXPECT_TRUE(response.complete);
  auto events = response.Events();
  ASSERT_GT(events.size(), 5u);
  EXPECT_EQ(events.back(), "[DONE]");
  events.pop_back();

  std::vector<json> chunks;
  for (const auto& event : events) chunks.push_back(json::parse(event));
  EXPECT_EQ(chunks.front()["choices"][0]["delta"], (json{{"role", "assistant"}, {"content", ""}}));
  std::string reasoning, content;
  for (const json& chunk : chunks) {
    EXPECT_EQ(chunk["object"], "chat.completion.chunk");
    EXPECT_EQ(chunk["id"], chunks.front()["id"]);
    if (chunk["choices"].empty()) continue;
    const json& delta = chunk["choices"][0]["delta"];
    reasoning += delta.value("reasoning", "");
    content += delta.value("content", "");
  }
  EXPECT_EQ(reasoning, "hm, 7");
  EXPECT_EQ(content, "Answer: 42");
  EXPECT_EQ(chunks[chunks.size() - 2]["choices"][0]["finish_reason"], "stop");
  EXPECT_EQ(chunks.back()["choices"], json::array());
  EXPECT_EQ(chunks.back()["usage"]["completion_tokens"], std::string(kThinkThenAnswer).size());
}

TEST(ChatCompletions, ContinuousUsageCountsUpInEveryChunk) {
  TestServer server;
  TestClient client(server.Port());
  const auto response = client.Post(
      "/v1/chat/completions",
      Chat("{final}abc^", {{"stream", true},
                           {"stream_options", {{"include_usage", true}, {"continuous_usage_stats", true}}}}));
  auto events = response.Events();
  ASSERT_EQ(events.back(), "[DONE]");
  events.pop_back();
  std::vector<int64_t> counts;
  for (const auto& event : events) counts.push_back(json::parse(event)["usage"]["completion_tokens"]);
  EXPECT_EQ(counts, (std::vector<int64_t>{0, 8, 9, 10, 11, 11}));  // role, a, b, c, finish, usage
}

TEST(ChatCompletions, WithoutStreamOptionsThereIsNoUsageInTheStream) {
  TestServer server;
  TestClient client(server.Port());
  const auto response = client.Post("/v1/chat/completions", Chat("{final}a^", {{"stream", true}}));
  EXPECT_EQ(response.body.find("usage"), std::string::npos);
}

TEST(Completions, TakeTextOrTokenIdsAndStreamText) {
  TestServer server;
  TestClient client(server.Port());
  const auto whole = client.Post("/v1/completions", Completion("hello^"));
  ASSERT_EQ(whole.status, 200) << whole.body;
  EXPECT_EQ(whole.Json()["object"], "text_completion");
  EXPECT_EQ(whole.Json()["choices"][0]["text"], "hello");
  EXPECT_EQ(whole.Json()["usage"],
            (json{{"prompt_tokens", 11}, {"completion_tokens", 6}, {"total_tokens", 17}}));

  json ids = json::array();
  for (const char c : std::string("say:ids^|")) ids.push_back(static_cast<int>(c));
  const auto by_ids = client.Post("/v1/completions", {{"prompt", ids}});
  EXPECT_EQ(by_ids.Json()["choices"][0]["text"], "ids") << by_ids.body;

  const auto stream = client.Post("/v1/completions", Completion("hey^", {{"stream", true}}));
  const auto events = stream.Events();
  ASSERT_EQ(events.size(), 5u);  // h, e, y, finish, [DONE]
  EXPECT_EQ(json::parse(events[0])["choices"][0]["text"], "h");
  EXPECT_EQ(json::parse(events[3])["choices"][0]["finish_reason"], "stop");
  EXPECT_EQ(events[4], "[DONE]");
}

TEST(Completions, AMultibyteCharacterIsNeverCutBetweenChunks) {
  TestServer server;
  TestClient client(server.Port());
  const std::string text = "caf\u00e9 \u4e2d\U0001F600!";
  const auto stream = client.Post("/v1/completions", Completion(text + "^", {{"stream", true}}));
  std::string all;
  for (const auto& event : stream.Events()) {
    if (event == "[DONE]") continue;
    const json chunk = json::parse(event);  // would throw on broken UTF-8
    all += chunk["choices"][0]["text"].get<std::string>();
    EXPECT_EQ(event.find("fffd"), std::string::npos);
  }
  EXPECT_EQ(all, text);
}

TEST(Completions, AnAnswerThatEndsInsideACharacterIsRepaired) {
  TestServer server;
  TestClient client(server.Port());
  const auto response = client.Post("/v1/completions", Completion("a\u4e2d^", {{"max_tokens", 3}}));
  EXPECT_EQ(response.Json()["choices"][0]["text"], "a\uFFFD");
  EXPECT_EQ(response.Json()["choices"][0]["finish_reason"], "length");
}

struct LimitRow {
  const char* name;
  const char* script;
  json more;
  const char* text;
  const char* finish_reason;
  int completion_tokens;
};

TEST(Completions, EndWhereTheRequestSaysSo) {
  const LimitRow rows[] = {
      {"end token", "abc^", {}, "abc", "stop", 4},
      {"max_tokens", "abcdef^", {{"max_tokens", 2}}, "ab", "length", 2},
      {"max_completion_tokens", "abcdef^", {{"max_completion_tokens", 3}}, "abc", "length", 3},
      {"stop token id", "abcdef^", {{"stop_token_ids", {'d'}}}, "abc", "stop", 4},
      {"stop string over tokens", "one STOP two^", {{"stop", "STOP"}}, "one ", "stop", 8},
      {"stop string not reached", "one STO^", {{"stop", {"STOP", "x"}}}, "one STO", "stop", 8},
      {"stop string and length at once", "ab END^", {{"stop", {"END"}}, {"max_tokens", 6}}, "ab ", "stop", 6},
      {"ignore_eos", "ab^cd", {{"ignore_eos", true}, {"max_tokens", 5}}, "abcd", "length", 5},
      {"ignore_eos and a stop token id",
       "a^bc",
       {{"ignore_eos", true}, {"stop_token_ids", {'c'}}},
       "ab",
       "stop",
       4},
  };
  TestServer server;
  TestClient client(server.Port());
  for (const auto& row : rows) {
    for (const bool stream : {false, true}) {
      SCOPED_TRACE(std::string(row.name) + (stream ? ", streamed" : ""));
      json body = Completion(row.script, row.more.is_null() ? json::object() : row.more);
      if (stream) {
        body["stream"] = true;
        body["stream_options"] = {{"include_usage", true}};
      }
      const auto response = client.Post("/v1/completions", body);
      ASSERT_EQ(response.status, 200) << response.body;
      std::string text;
      json last_choice, usage;
      for (const auto& event : stream ? response.Events() : std::vector<std::string>{response.body}) {
        if (event == "[DONE]") continue;
        const json chunk = json::parse(event);
        if (!chunk["choices"].empty()) {
          last_choice = chunk["choices"][0];
          text += last_choice["text"].get<std::string>();
        }
        if (chunk.contains("usage")) usage = chunk["usage"];
      }
      EXPECT_EQ(text, row.text);
      EXPECT_EQ(last_choice["finish_reason"], row.finish_reason);
      EXPECT_EQ(usage["completion_tokens"], row.completion_tokens);
    }
  }
  EXPECT_TRUE(server.BecomesFree());
}

TEST(Completions, MinTokensMasksTheEndToken) {
  TestServer server;
  TestClient client(server.Port());
  const auto response =
      client.Post("/v1/completions", Completion("a^", {{"min_tokens", 6}, {"max_tokens", 20}}));
  EXPECT_GE(response.Json()["usage"]["completion_tokens"], 7);
}

TEST(Completions, DefaultMaxTokensIsTheRestOfTheContext) {
  TestServer::Options options;
  options.num_blocks = 4;  // 64 tokens
  TestServer server(std::move(options));
  TestClient client(server.Port());
  const auto response = client.Post("/v1/completions", Completion("x~"));
  EXPECT_EQ(response.Json()["usage"]["total_tokens"], 64);
  EXPECT_EQ(response.Json()["choices"][0]["finish_reason"], "length");
}

TEST(Completions, TheSameSeedGivesTheSameTextAndNoSeedGivesOthers) {
  TestServer server;
  TestClient client(server.Port());
  const auto text = [&](json more) {
    more.update({{"temperature", 2}, {"max_tokens", 40}, {"ignore_eos", true}});
    return client.Post("/v1/completions", Completion("x~", more))
        .Json()["choices"][0]["text"]
        .get<std::string>();
  };
  EXPECT_EQ(text({{"seed", 5}}), text({{"seed", 5}}));
  EXPECT_NE(text({{"seed", 5}}), text({{"seed", 6}}));
  EXPECT_NE(text({{"seed", -1}}), text({{"seed", 6}}));
  EXPECT_NE(text(json::object()), text(json::object()));
}

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
  EXPECT_EQ(client.Call("GET", "/health").status, 200);
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
        "assay:time_to_first_token_seconds_count{model_name=\"scripted\"} 2",
        "assay:e2e_request_latency_seconds_count{model_name=\"scripted\"} 2"}) {
    EXPECT_NE(metrics.find(line), std::string::npos) << line << " not in\n" << metrics;
  }
}

// Lets a test hold the model still.
class Gate {
 public:
  std::function<void()> Waiter() {
    return [this] {
      std::unique_lock lock(mutex_);
      opened_.wait(lock, [this] { return open_; });
    };
  }
  void Open() {
    {
      const std::lock_guard lock(mutex_);
      open_ = true;
    }
    opened_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = false;
};

TEST(Health, FailsWithTheReasonWhileGenerationIsStalled) {
  Gate gate;
  TestServer::Options options;
  options.before_forward = gate.Waiter();
  options.service.stall_seconds = 0.05;
  TestServer server(std::move(options));
  TestClient prober(server.Port()), client(server.Port());
  EXPECT_EQ(prober.Call("GET", "/health").status, 200);
  client.SendRequest("POST", "/v1/completions", Completion("a^").dump());
  TestClient::Response health;
  do {
    health = prober.Call("GET", "/health");
  } while (health.status == 200);
  EXPECT_EQ(health.status, 503);
  EXPECT_NE(health.ErrorText().find("generation has stalled"), std::string::npos);
  gate.Open();
  EXPECT_EQ(client.ReadResponse().status, 200);
  EXPECT_EQ(prober.Call("GET", "/health").status, 200);
}

TEST(Disconnect, EndsTheRequestAndFreesItsBlocks) {
  const struct {
    const char* name;
    bool stream, half;
  } rows[] = {{"stream", true, false},
              {"whole", false, false},
              {"stream, half closed", true, true},
              {"whole, half closed", false, true}};
  TestServer server;
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    TestClient client(server.Port());
    client.SendRequest("POST", "/v1/completions", Completion("x~", {{"stream", row.stream}}).dump());
    if (row.stream) {
      EXPECT_NE(client.Receive(), "");
    } else {
      while (server.Engine().Stats().running == 0) std::this_thread::yield();
    }
    row.half ? client.HalfClose() : client.Close();
    EXPECT_TRUE(server.BecomesFree());
  }
  TestClient client(server.Port());
  EXPECT_NE(client.Call("GET", "/metrics").body.find("finished_reason=\"abort\"} 4"), std::string::npos);
}

TEST(Disconnect, AReaderThatTakesNothingIsCutOff) {
  TestServer::Options options;
  options.limits.unsent_bytes = 64 * 1024;
  TestServer server(std::move(options));
  TestClient client(server.Port(), 4096);
  client.SendRequest("POST", "/v1/completions", Completion("x~", {{"stream", true}}).dump());
  while (server.Engine().Stats().running == 0) std::this_thread::yield();
  EXPECT_TRUE(server.BecomesFree());
}

TEST(Stop, EndsStreamsWithAnErrorAndWholeAnswersWith503) {
  TestServer server;
  TestClient stream(server.Port()), whole(server.Port()), idle(server.Port());
  stream.SendRequest("POST", "/v1/completions", Completion("x~", {{"stream", true}}).dump());
  whole.SendRequest("POST", "/v1/completions", Completion("x~").dump());
  while (server.Engine().Stats().running < 2) std::this_thread::yield();
  server.Stop();
  const auto cut = stream.ReadResponse();
  EXPECT_TRUE(cut.complete);
  const auto events = cut.Events();
  ASSERT_GE(events.size(), 2u);
  EXPECT_EQ(json::parse(events[events.size() - 2])["error"]["message"], "the engine is stopping");
  EXPECT_EQ(events.back(), "[DONE]");
  const auto refused = whole.ReadResponse();
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.ErrorText(), "the engine is stopping");
  EXPECT_EQ(idle.Receive(), "");
  EXPECT_TRUE(server.BecomesFree());
}

TEST(Load, TwoHundredStreamsAtOnceEachGetTheirOwnAnswer) {
  TestServer server;
  std::vector<std::unique_ptr<TestClient>> clients;
  const auto text = [](int i) {
    return "stream number " + std::to_string(i) + " says " + std::string(i % 50, 'z');
  };
  for (int i = 0; i < 200; ++i) {
    clients.push_back(std::make_unique<TestClient>(server.Port()));
    clients.back()->SendRequest("POST", "/v1/chat/completions",
                                Chat("{final}" + text(i) + "^", {{"stream", true}}).dump());
  }
  for (int i = 0; i < 200; ++i) {
    std::string content;
    const auto response = clients[static_cast<size_t>(i)]->ReadResponse();
    for (const auto& event : response.Events()) {
      if (event != "[DONE]") content += json::parse(event)["choices"][0]["delta"].value("content", "");
    }
    EXPECT_EQ(content, text(i));
    EXPECT_TRUE(response.complete);
  }
  EXPECT_TRUE(server.BecomesFree());
}

}  // namespace
}  // namespace assay::engine
