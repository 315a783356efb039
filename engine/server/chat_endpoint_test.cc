#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "engine/server/service_test_support.h"
#include "engine/server/test_client.h"

namespace assay::engine {
namespace {

using nlohmann::json;

constexpr const char* kPath = "/v1/chat/completions";
std::vector<json> Chunks(const TestClient::Response& response) {
  std::vector<json> chunks;
  for (const auto& event : response.Events()) {
    if (event != "[DONE]") chunks.push_back(json::parse(event));
  }
  return chunks;
}

json WithTools(json more = json::object()) {
  more["tools"] = json::parse(R"([{"type": "function", "function": {"name": "add", "description": "Adds.",
      "parameters": {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}}}])");
  return more;
}

TEST(ChatChoices, AreSeveralAnswersToOnePrompt) {
  TestServer server;
  TestClient client(server.Port());
  const auto ask = [&](int n) {
    return client
        .Post(kPath,
              Chat("{final}x~",
                   {{"n", n}, {"seed", 7}, {"temperature", 2}, {"max_tokens", 30}, {"ignore_eos", true}}))
        .Json();
  };
  const json one = ask(1), three = ask(3);
  ASSERT_EQ(three["choices"].size(), 3u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(three["choices"][i]["index"], i);
  const auto content = [](const json& body, int i) { return body["choices"][i]["message"]["content"]; };
  EXPECT_EQ(content(three, 0), content(one, 0));  // the first is what one alone would be
  EXPECT_NE(content(three, 1), content(three, 0));
  EXPECT_NE(content(three, 2), content(three, 1));
  EXPECT_EQ(content(ask(3), 2), content(three, 2));
  EXPECT_EQ(three["usage"]["prompt_tokens"], one["usage"]["prompt_tokens"]);
  EXPECT_EQ(three["usage"]["completion_tokens"], 90);
  EXPECT_TRUE(server.BecomesFree());
}

TEST(ChatChoices, StreamUnderTheirIndexes) {
  TestServer server;
  TestClient client(server.Port());
  const auto response =
      client.Post(kPath, Chat("{analysis}hm><assistant{final}word^",
                              {{"n", 2}, {"stream", true}, {"stream_options", {{"include_usage", true}}}}));
  std::map<int, std::string> content, reasoning, finish;
  std::map<int, int> roles;
  for (const json& chunk : Chunks(response)) {
    if (chunk["choices"].empty()) {
      EXPECT_EQ(chunk["usage"]["completion_tokens"], 2 * 35);
      EXPECT_EQ(chunk["usage"]["completion_tokens_details"]["reasoning_tokens"], 2 * 2);
      continue;
    }
    const json& choice = chunk["choices"][0];
    const int index = choice["index"];
    roles[index] += choice["delta"].contains("role") ? 1 : 0;
    content[index] += choice["delta"].value("content", "");
    reasoning[index] += choice["delta"].value("reasoning", "");
    if (choice["finish_reason"].is_string()) finish[index] = choice["finish_reason"];
  }
  for (const int index : {0, 1}) {
    EXPECT_EQ(content[index], "word");
    EXPECT_EQ(reasoning[index], "hm");
    EXPECT_EQ(roles[index], 1);
    EXPECT_EQ(finish[index], "stop");
  }
}

TEST(ChatLogprobs, CoverEveryTokenWithItsBytes) {
  TestServer server;
  TestClient client(server.Port());
  const std::string script = "{final}\u00e9^";
  for (const bool stream : {false, true}) {
    SCOPED_TRACE(stream);
    const auto response =
        client.Post(kPath, Chat(script, {{"logprobs", true}, {"top_logprobs", 2}, {"stream", stream}}));
    json positions = json::array();
    for (const json& body : stream ? Chunks(response) : std::vector<json>{response.Json()}) {
      const json& logprobs = body["choices"][0]["logprobs"];
      if (logprobs.is_null()) continue;
      for (const json& position : logprobs["content"]) positions.push_back(position);
    }
    ASSERT_EQ(positions.size(), script.size());
    EXPECT_EQ(positions[0]["token"], "<|channel|>");
    EXPECT_EQ(positions[1]["token"], "f");
    EXPECT_EQ(positions[7]["bytes"], json::array({0xC3}));
    EXPECT_EQ(positions[8]["bytes"], json::array({0xA9}));
    EXPECT_EQ(positions[9]["token"], "<|return|>");
  }
  const auto without = client.Post(kPath, Chat(script));
  EXPECT_TRUE(without.Json()["choices"][0]["logprobs"].is_null());
}

TEST(ChatTools, ACallIsGivenWithItsNameAndArguments) {
  TestServer server;
  TestClient client(server.Port());
  const std::string script = "{analysis}add them><assistant{commentary to=functions.add #json}[\"a\",2]@";
  const json body = client.Post(kPath, Chat(script, WithTools())).Json();
  const json& choice = body["choices"][0];
  EXPECT_EQ(choice["finish_reason"], "tool_calls");
  EXPECT_EQ(choice["stop_reason"], kCall + 0);
  EXPECT_EQ(choice["message"]["content"], nullptr);
  EXPECT_EQ(choice["message"]["reasoning"], "add them");
  ASSERT_EQ(choice["message"]["tool_calls"].size(), 1u) << body;
  const json& call = choice["message"]["tool_calls"][0];
  EXPECT_EQ(call["type"], "function");
  EXPECT_EQ(call["function"], json::parse(R"({"name": "add", "arguments": "[\"a\",2]"})"));
  EXPECT_TRUE(call["id"].get<std::string>().starts_with("call_"));

  const auto response = client.Post(kPath, Chat(script, WithTools({{"stream", true}})));
  std::string id, name, arguments, finish;
  for (const json& chunk : Chunks(response)) {
    const json& streamed = chunk["choices"][0];
    if (streamed["finish_reason"].is_string()) finish = streamed["finish_reason"];
    for (const json& piece : streamed["delta"].value("tool_calls", json::array())) {
      EXPECT_EQ(piece["index"], 0);
      id += piece.value("id", "");
      name += piece["function"].value("name", "");
      arguments += piece["function"].value("arguments", "");
    }
  }
  EXPECT_EQ(name, "add");
  EXPECT_EQ(arguments, "[\"a\",2]");
  EXPECT_EQ(finish, "tool_calls");
  EXPECT_TRUE(id.starts_with("call_"));
}

TEST(ChatTools, NobodyIsGivenACallOfWhatWasNotOffered) {
  TestServer server;
  TestClient client(server.Port());
  const std::string script = "{commentary to=functions.add #json}[1]@";
  for (const json& more : {json::object(), WithTools({{"tool_choice", "none"}})}) {
    const json choice = client.Post(kPath, Chat(script, more)).Json()["choices"][0];
    EXPECT_EQ(choice["finish_reason"], "stop");
    EXPECT_EQ(choice["message"]["tool_calls"], json::array());
  }
}

TEST(ChatTools, ToolsCallsAndTheirAnswersReachThePrompt) {
  TestServer server;
  TestClient client(server.Port());
  json body = WithTools();
  body["messages"] = json::parse(R"([
      {"role": "system", "content": "Be brief."},
      {"role": "user", "content": "2+2?"},
      {"role": "assistant", "reasoning": "add", "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "add", "arguments": "{}"}}]},
      {"role": "tool", "tool_call_id": "c1", "content": "4"}])");
  const json tokens = client.Post("/tokenize", body).Json();
  const json text = client.Post("/detokenize", {{"tokens", tokens["tokens"]}}).Json();
  EXPECT_EQ(text["prompt"].get<std::string>(),
            "<|start|>system<|message|>You are ChatGPT, a large language model trained by OpenAI.\n"
            "Knowledge cutoff: 2024-06\n\nReasoning: medium\n\n"
            "# Valid channels: analysis, commentary, final. Channel must be included for every message.\n"
            "Calls to these tools must go to the commentary channel: 'functions'.<|end|>"
            "<|start|>developer<|message|># Instructions\n\nBe brief.\n\n# Tools\n\n## functions\n\n"
            "namespace functions {\n\n// Adds.\ntype add = (_: {\na?: number,\nb?: number,\n}) => any;\n\n"
            "} // namespace functions<|end|>"
            "<|start|>user<|message|>2+2?<|end|>"
            "<|start|>assistant<|channel|>analysis<|message|>add<|end|>"
            "<|start|>assistant to=functions.add<|channel|>commentary json<|message|>{}<|call|>"
            "<|start|>functions.add to=assistant<|channel|>commentary<|message|>4<|end|>"
            "<|start|>assistant");
}

TEST(ChatReasoning, IsLeftOutOnRequestButCounted) {
  TestServer server;
  TestClient client(server.Port());
  const std::string script = "{analysis}hm><assistant{final}yes^";
  const json body = client.Post(kPath, Chat(script, {{"include_reasoning", false}})).Json();
  EXPECT_EQ(body["choices"][0]["message"]["reasoning"], nullptr);
  EXPECT_EQ(body["choices"][0]["message"]["content"], "yes");
  EXPECT_EQ(body["usage"]["completion_tokens_details"]["reasoning_tokens"], 2);
}

TEST(Detokenize, GivesBackWhatTokenizeTook) {
  TestServer server;
  TestClient client(server.Port());
  const json tokens =
      client.Post("/tokenize", {{"prompt", "h\u00e9<|end|>"}, {"return_token_strs", true}}).Json();
  EXPECT_EQ(tokens["tokens"], json::array({'h' + 0, 0xC3, 0xA9, kEnd + 0}));
  EXPECT_EQ(tokens["count"], 4);
  EXPECT_EQ(tokens["max_model_len"], 65536);
  EXPECT_EQ(tokens["token_strs"], json::array({"h", "\uFFFD", "\uFFFD", "<|end|>"}));
  EXPECT_EQ(client.Post("/detokenize", {{"tokens", tokens["tokens"]}}).Json(),
            (json{{"prompt", "h\u00e9<|end|>"}}));
}

TEST(ResetPrefixCache, IsDoneWhenNothingIsUnderWay) {
  TestServer server;
  TestClient client(server.Port()), busy(server.Port());
  EXPECT_EQ(client.Call("POST", "/reset_prefix_cache").status, 200);
  EXPECT_EQ(client.Call("GET", "/reset_prefix_cache").status, 405);
}

}  // namespace
}  // namespace assay::engine
