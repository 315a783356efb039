#include <gtest/gtest.h>

#include "engine/server/service_test_support.h"
#include "engine/server/test_client.h"

namespace assay::engine {
namespace {

using nlohmann::json;

constexpr const char* kPath = "/v1/responses";
constexpr const char* kThinkThenAnswer = "{analysis}hm><assistant{final}42^";

json Ask(const std::string& script, json more = json::object()) {
  more["model"] = "scripted";
  more["input"] = "say:" + script + "|";
  return more;
}

struct Event {
  std::string name;
  json data;
};

std::vector<Event> Events(const TestClient::Response& response) {
  std::vector<Event> events;
  wire::SseDecoder().Feed(response.body, [&](const wire::SseEvent& event) {
    events.push_back({std::string(event.event), json::parse(event.data)});
  });
  return events;
}

TEST(Responses, GiveReasoningMessageAndUsage) {
  TestServer server;
  TestClient client(server.Port());
  const auto response = client.Post(kPath, Ask(kThinkThenAnswer, {{"temperature", 0}}));
  ASSERT_EQ(response.status, 200) << response.body;
  const json body = response.Json();
  EXPECT_EQ(body["object"], "response");
  EXPECT_EQ(body["status"], "completed");
  EXPECT_TRUE(body["id"].get<std::string>().starts_with("resp_"));
  EXPECT_EQ(body["temperature"], 0);
  EXPECT_EQ(body["top_p"], 1);
  ASSERT_EQ(body["output"].size(), 2u);
  EXPECT_EQ(body["output"][0]["type"], "reasoning");
  EXPECT_EQ(body["output"][0]["content"][0]["text"], "hm");
  EXPECT_EQ(body["output"][1]["type"], "message");
  EXPECT_EQ(body["output"][1]["content"][0]["text"], "42");
  EXPECT_EQ(body["usage"]["output_tokens"], std::string(kThinkThenAnswer).size());
  EXPECT_EQ(body["usage"]["output_tokens_details"]["reasoning_tokens"], 2);
  EXPECT_TRUE(server.BecomesFree());
}

TEST(Responses, StreamTheEventsOfEachItemInOrder) {
  TestServer server;
  TestClient client(server.Port());
  const auto events = Events(client.Post(kPath, Ask(kThinkThenAnswer, {{"stream", true}})));
  std::vector<std::string> names;
  for (size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i].data["type"], events[i].name);
    EXPECT_EQ(events[i].data["sequence_number"], i);
    if (names.empty() || names.back() != events[i].name) names.push_back(events[i].name);
  }
  EXPECT_EQ(
      names,
      (std::vector<std::string>{
          "response.created", "response.in_progress", "response.output_item.added",
          "response.reasoning_part.added", "response.reasoning_text.delta", "response.reasoning_text.done",
          "response.reasoning_part.done", "response.output_item.done", "response.output_item.added",
          "response.content_part.added", "response.output_text.delta", "response.output_text.done",
          "response.content_part.done", "response.output_item.done", "response.completed"}));
  const json& whole = events.back().data["response"];
  EXPECT_EQ(whole["output"][1]["content"][0]["text"], "42");
  EXPECT_EQ(whole["usage"]["output_tokens"], std::string(kThinkThenAnswer).size());
  EXPECT_EQ(events.front().data["response"]["status"], "in_progress");
  std::string text;
  for (const Event& event : events) {
    if (event.name != "response.output_text.delta") continue;
    text += event.data["delta"].get<std::string>();
    EXPECT_EQ(event.data["output_index"], 1);
    EXPECT_EQ(event.data["item_id"], whole["output"][1]["id"]);
  }
  EXPECT_EQ(text, "42");
}

TEST(Responses, AreIncompleteWhereMaxOutputTokensEndsThem) {
  TestServer server;
  TestClient client(server.Port());
  const json more = {{"max_output_tokens", 9}};
  const json body = client.Post(kPath, Ask("{final}12345^", more)).Json();
  EXPECT_EQ(body["status"], "incomplete");
  EXPECT_EQ(body["incomplete_details"]["reason"], "max_output_tokens");
  EXPECT_EQ(body["output"][0]["status"], "incomplete");
  EXPECT_EQ(body["output"][0]["content"][0]["text"], "12");
  json stream = more;
  stream["stream"] = true;
  EXPECT_EQ(Events(client.Post(kPath, Ask("{final}12345^", stream))).back().name, "response.incomplete");
}

TEST(Responses, GiveCallsAndTakeTheirOutputs) {
  TestServer server;
  TestClient client(server.Port());
  const json tools =
      json::parse(R"([{"type": "function", "name": "add", "parameters": {"type": "object"}}])");
  const std::string script = "{commentary to=functions.add #json}[2]@";
  const json call = client.Post(kPath, Ask(script, {{"tools", tools}})).Json()["output"][0];
  EXPECT_EQ(call["type"], "function_call");
  EXPECT_EQ(call["name"], "add");
  EXPECT_EQ(call["arguments"], "[2]");
  const auto events = Events(client.Post(kPath, Ask(script, {{"tools", tools}, {"stream", true}})));
  std::string arguments;
  for (const Event& event : events) {
    if (event.name == "response.function_call_arguments.delta") arguments += event.data["delta"];
  }
  EXPECT_EQ(arguments, "[2]");

  json body = {{"tools", tools}};
  body["input"] =
      json::array({{{"role", "user"}, {"content", "2+2?"}},
                   call,
                   {{"type", "function_call_output"}, {"call_id", call["call_id"]}, {"output", "4"}},
                   {{"role", "user"}, {"content", "say:{final}ok^|"}}});
  EXPECT_EQ(client.Post(kPath, body).Json()["output"][0]["content"][0]["text"], "ok");
}

TEST(Responses, AFailureInTheMiddleOfAStreamIsTheLastEvent) {
  TestServer server;
  TestClient client(server.Port());
  const auto events = Events(client.Post(kPath, Ask("{final}a%", {{"stream", true}})));
  EXPECT_EQ(events.back().name, "response.failed");
  EXPECT_EQ(events.back().data["response"]["error"]["code"], "server_error");
}

}  // namespace
}  // namespace assay::engine
