#include "engine/server/service.h"

#include <gtest/gtest.h>

#include "engine/server/service_test_support.h"
#include "engine/server/test_client.h"

namespace assay::engine {
namespace {

using nlohmann::json;

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
  EXPECT_EQ(body["usage"]["completion_tokens_details"]["reasoning_tokens"], 5);
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
  EXPECT_EQ(whole.Json()["usage"], (json{{"prompt_tokens", 11},
                                         {"completion_tokens", 6},
                                         {"total_tokens", 17},
                                         {"prompt_tokens_details", {{"cached_tokens", 0}}}}));

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
  json stop_reason = nullptr;
};

TEST(Completions, EndWhereTheRequestSaysSo) {
  const LimitRow rows[] = {
      {"end token", "abc^", {}, "abc", "stop", 4},
      {"max_tokens", "abcdef^", {{"max_tokens", 2}}, "ab", "length", 2},
      {"max_completion_tokens", "abcdef^", {{"max_completion_tokens", 3}}, "abc", "length", 3},
      {"stop token id", "abcdef^", {{"stop_token_ids", {'d'}}}, "abc", "stop", 4, 'd' + 0},
      {"another end token", "abc@", {}, "abc", "stop", 4, kCall + 0},
      {"stop token id kept",
       "abcdef^",
       {{"stop_token_ids", {'d'}}, {"include_stop_str_in_output", true}},
       "abcd",
       "stop",
       4,
       'd' + 0},
      {"stop string over tokens", "one STOP two^", {{"stop", "STOP"}}, "one ", "stop", 8, "STOP"},
      {"stop string kept",
       "one STOP two^",
       {{"stop", {"zz", "STOP"}}, {"include_stop_str_in_output", true}},
       "one STOP",
       "stop",
       8,
       "STOP"},
      {"stop string before min_tokens",
       "a.b.c.d^",
       {{"stop", "."}, {"min_tokens", 3}},
       "a.b",
       "stop",
       4,
       "."},
      {"special tokens kept", "a{b^", {{"skip_special_tokens", false}}, "a<|channel|>b", "stop", 4},
      {"stop string not reached", "one STO^", {{"stop", {"STOP", "x"}}}, "one STO", "stop", 8},
      {"stop string and length at once",
       "ab END^",
       {{"stop", {"END"}}, {"max_tokens", 6}},
       "ab ",
       "stop",
       6,
       "END"},
      {"ignore_eos", "ab^cd", {{"ignore_eos", true}, {"max_tokens", 5}}, "abcd", "length", 5},
      {"ignore_eos and a stop token id",
       "a^bc",
       {{"ignore_eos", true}, {"stop_token_ids", {'c'}}},
       "ab",
       "stop",
       4,
       'c' + 0},
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
      EXPECT_EQ(last_choice["stop_reason"], row.stop_reason);
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

}  // namespace
}  // namespace assay::engine
