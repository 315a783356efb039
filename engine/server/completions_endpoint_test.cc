#include <gtest/gtest.h>

#include <map>

#include "engine/server/service_test_support.h"
#include "engine/server/test_client.h"

namespace assay::engine {
namespace {

using nlohmann::json;

constexpr const char* kPath = "/v1/completions";

TEST(CompletionPrompts, AreAnsweredEachWithItsChoicesInOrder) {
  TestServer server;
  TestClient client(server.Port());
  const json body =
      client.Post(kPath, {{"prompt", {"say:one^|", "say:two two^|"}}, {"n", 2}, {"max_tokens", 20}}).Json();
  ASSERT_EQ(body["choices"].size(), 4u) << body;
  const char* texts[] = {"one", "one", "two two", "two two"};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(body["choices"][i]["index"], i);
    EXPECT_EQ(body["choices"][i]["text"], texts[i]);
  }
  EXPECT_EQ(body["usage"]["prompt_tokens"], 9 + 13);  // each prompt once
  EXPECT_EQ(body["usage"]["completion_tokens"], 2 * 4 + 2 * 8);
  EXPECT_TRUE(server.BecomesFree());
}

TEST(CompletionPrompts, AreAnsweredAsEachWouldBeAlone) {
  TestServer server;
  TestClient client(server.Port());
  const json sampling = {{"seed", 3}, {"temperature", 2}, {"max_tokens", 20}, {"n", 2}, {"ignore_eos", true}};
  const auto texts = [&](const json& prompt) {
    json body = sampling;
    body["prompt"] = prompt;
    std::vector<std::string> out;
    const json answer = client.Post(kPath, body).Json();
    for (const json& choice : answer["choices"]) out.push_back(choice["text"]);
    return out;
  };
  const auto first = texts("say:a~|"), second = texts("say:b~|"),
             both = texts(json::array({"say:a~|", "say:b~|"}));
  EXPECT_EQ(both, (std::vector<std::string>{first[0], first[1], second[0], second[1]}));
  EXPECT_NE(first[0], first[1]);
}

TEST(CompletionPrompts, StreamUnderTheirIndexes) {
  TestServer server;
  TestClient client(server.Port());
  json ids = json::array();
  for (const char* prompt : {"say:one^|", "say:two^|"}) {
    std::vector<int> bytes(prompt, prompt + std::string(prompt).size());
    ids.push_back(bytes);
  }
  const auto response = client.Post(kPath, {{"prompt", ids}, {"stream", true}});
  std::map<int, std::string> texts;
  int ends = 0;
  for (const auto& event : response.Events()) {
    if (event == "[DONE]") continue;
    const json choice = json::parse(event)["choices"][0];
    texts[choice["index"]] += choice["text"].get<std::string>();
    ends += choice["finish_reason"] == "stop" ? 1 : 0;
  }
  EXPECT_EQ(texts, (std::map<int, std::string>{{0, "one"}, {1, "two"}}));
  EXPECT_EQ(ends, 2);
}

TEST(CompletionEcho, PutsThePromptBeforeTheAnswer) {
  TestServer server;
  TestClient client(server.Port());
  const auto whole = client.Post(kPath, Completion("yes^", {{"echo", true}}));
  EXPECT_EQ(whole.Json()["choices"][0]["text"], "say:yes^|yes");
  const auto stream = client.Post(kPath, Completion("yes^", {{"echo", true}, {"stream", true}}));
  EXPECT_EQ(json::parse(stream.Events().front())["choices"][0]["text"], "say:yes^|y");
}

TEST(CompletionLogprobs, AreColumnsWithOffsetsInCharacters) {
  TestServer server;
  TestClient client(server.Port());
  const json logprobs =
      client.Post(kPath, Completion("\u00e9a^", {{"logprobs", 1}})).Json()["choices"][0]["logprobs"];
  EXPECT_EQ(logprobs["tokens"], json::array({"\uFFFD", "\uFFFD", "a", "<|return|>"}));
  EXPECT_EQ(logprobs["text_offset"], json::array({0, 1, 1, 2}));
  ASSERT_EQ(logprobs["token_logprobs"].size(), 4u);

  const auto stream = client.Post(kPath, Completion("\u00e9a^", {{"logprobs", 0}, {"stream", true}}));
  json offsets = json::array();
  for (const auto& event : stream.Events()) {
    if (event == "[DONE]") continue;
    const json columns = json::parse(event)["choices"][0]["logprobs"];
    if (columns.is_null()) continue;
    for (const json& offset : columns["text_offset"]) offsets.push_back(offset);
  }
  EXPECT_EQ(offsets, logprobs["text_offset"]);
}

}  // namespace
}  // namespace assay::engine
