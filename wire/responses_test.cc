#include "wire/responses.h"

#include <gtest/gtest.h>

#include "wire/tokenize.h"

namespace assay::wire {
namespace {

using nlohmann::json;

TEST(ParseResponsesRequest, ReadsATextAndItsSettings) {
  const auto request = ParseResponsesRequest(R"({"model": "m", "input": "hi", "instructions": "be brief",
      "max_output_tokens": 9, "temperature": 0.5, "reasoning": {"effort": "low"}, "store": true,
      "metadata": {"run": "7"}, "stream": true, "user": "ann"})");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->messages,
            (std::vector<ChatMessage>{{"developer", "be brief", "", ""}, {"user", "hi", "", ""}}));
  EXPECT_EQ(request->sampling.max_tokens, 9);
  EXPECT_EQ(request->reasoning_effort, "low");
  EXPECT_TRUE(request->stream);
  EXPECT_EQ(request->user, "ann");
  EXPECT_EQ(request->settings["metadata"], json::parse(R"({"run": "7"})"));
  EXPECT_EQ(request->settings["max_output_tokens"], 9);
  EXPECT_EQ(request->settings["store"], false);
  EXPECT_EQ(request->settings["truncation"], "disabled");
}

TEST(ParseResponsesRequest, ReadsTheItemsThatAResponseGives) {
  const auto request = ParseResponsesRequest(R"({"input": [
      {"role": "user", "content": [{"type": "input_text", "text": "2+"}, {"type": "input_text", "text": "2?"}]},
      {"type": "reasoning", "id": "rs_1", "summary": [], "content": [{"type": "reasoning_text", "text": "add"}]},
      {"type": "function_call", "call_id": "c1", "name": "add", "arguments": "{}"},
      {"type": "function_call_output", "call_id": "c1", "output": "4"},
      {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant",
       "content": [{"type": "output_text", "text": "four", "annotations": []}]}],
    "tools": [{"type": "function", "name": "add", "parameters": {"type": "object"}, "strict": true}]})");
  ASSERT_TRUE(request) << request.error().message;
  const auto& messages = request->messages;
  ASSERT_EQ(messages.size(), 5u);
  EXPECT_EQ(messages[0], (ChatMessage{"user", "2+2?", "", ""}));
  EXPECT_EQ(messages[1], (ChatMessage{"assistant", "", "add", ""}));
  EXPECT_EQ(messages[2].tool_calls, (std::vector<ToolCall>{{"c1", "add", "{}"}}));
  EXPECT_EQ(messages[3], (ChatMessage{"tool", "4", "", "add"}));
  EXPECT_EQ(messages[4], (ChatMessage{"assistant", "four", "", ""}));
  ASSERT_EQ(request->tools.size(), 1u);
  EXPECT_EQ(request->tools[0].name, "add");
}

struct Refusal {
  const char* name;
  const char* body;
  const char* message;
};

class RefusedResponsesRequest : public testing::TestWithParam<Refusal> {};

TEST_P(RefusedResponsesRequest, NamesTheFieldAndTheRemedy) {
  const auto request = ParseResponsesRequest(GetParam().body);
  ASSERT_FALSE(request);
  EXPECT_EQ(request.error().kind, ErrorKind::kUsage);
  EXPECT_NE(request.error().message.find(GetParam().message), std::string::npos) << request.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    Rules, RefusedResponsesRequest,
    testing::Values(
        Refusal{"NoInput", "{}", "input: a string or a list of items is needed, not nothing"},
        Refusal{"EmptyInput", R"({"input": []})", "input: at least one item is needed"},
        Refusal{"ItemText", R"({"input": ["x"]})", "input[0]: an object is needed, not \"x\""},
        Refusal{"ItemType", R"({"input": [{"type": "item_reference", "id": "x"}]})",
                "input[0].type: must be message, reasoning"},
        Refusal{"Role", R"({"input": [{"role": "tool", "content": "x"}]})",
                "input[0].role: must be system, developer, user or assistant, got \"tool\""},
        Refusal{"Image", R"({"input": [{"role": "user", "content": [{"type": "input_image"}]}]})",
                "input[0].content[0].type: only text is supported"},
        Refusal{"OutputOfNoCall",
                R"({"input": [{"type": "function_call_output", "call_id": "c", "output": ""}]})",
                "input[0].call_id: no earlier item calls a function with \"c\""},
        Refusal{"Previous", R"({"input": "x", "previous_response_id": "resp_1"})",
                "previous_response_id: \"resp_1\" is not supported; no response is stored; send the earlier"},
        Refusal{"Background", R"({"input": "x", "background": true})", "background: true is not supported"},
        Refusal{"Truncation", R"({"input": "x", "truncation": "auto"})", "shorten the input"},
        Refusal{"JsonFormat", R"({"input": "x", "text": {"format": {"type": "json_object"}}})",
                "text.format: only"},
        Refusal{"Effort", R"({"input": "x", "reasoning": {"effort": "minimal"}})",
                "reasoning.effort: must be low, medium or high, got \"minimal\""},
        Refusal{"BuiltInTool", R"({"input": "x", "tools": [{"type": "web_search"}]})",
                "tools[0].type: only \"function\" is supported, got \"web_search\""},
        Refusal{"Tokens", R"({"input": "x", "max_output_tokens": 0})",
                "max_output_tokens: must be at least 1"}),
    [](const auto& row) { return row.param.name; });

TEST(ResponseJson, HasEveryKindOfItemAndTheUsage) {
  Response response;
  response.head = {"resp_1", "m", 1700000000};
  response.settings = {{"tools", json::array()}};
  response.status = "incomplete";
  response.incomplete_reason = "max_output_tokens";
  using Kind = ResponseItem::Kind;
  response.output = {{Kind::kReasoning, "rs_1", "why", "", "", "completed"},
                     {Kind::kFunctionCall, "fc_1", "{}", "call_1", "add", "completed"},
                     {Kind::kMessage, "msg_1", "four", "", "", "incomplete"}};
  response.usage = Usage{5, 7, 4, 3};
  EXPECT_EQ(ToJson(response), json::parse(R"({"id":"resp_1","object":"response","created_at":1700000000,
      "model":"m","status":"incomplete","error":null,"incomplete_details":{"reason":"max_output_tokens"},
      "tools":[],"output":[
        {"id":"rs_1","type":"reasoning","status":"completed","summary":[],
         "content":[{"type":"reasoning_text","text":"why"}]},
        {"id":"fc_1","type":"function_call","status":"completed","call_id":"call_1","name":"add","arguments":"{}"},
        {"id":"msg_1","type":"message","status":"incomplete","role":"assistant",
         "content":[{"type":"output_text","text":"four","annotations":[],"logprobs":[]}]}],
      "usage":{"input_tokens":5,"input_tokens_details":{"cached_tokens":4},
        "output_tokens":7,"output_tokens_details":{"reasoning_tokens":3},"total_tokens":12}})"));
}

TEST(ParseTokenizeRequest, TakesAPromptOrMessages) {
  const auto prompt = ParseTokenizeRequest(R"({"prompt": "", "return_token_strs": true})");
  ASSERT_TRUE(prompt) << prompt.error().message;
  EXPECT_EQ(prompt->prompt, "");
  EXPECT_TRUE(prompt->return_token_strs);
  const auto chat = ParseTokenizeRequest(R"({"messages": [{"role": "user", "content": "hi"}]})");
  ASSERT_TRUE(chat) << chat.error().message;
  EXPECT_EQ(chat->prompt, std::nullopt);
  EXPECT_EQ(chat->messages[0].content, "hi");
  EXPECT_EQ(ParseTokenizeRequest("{}").error().message, "prompt: a prompt or messages are needed");
  EXPECT_EQ(ParseTokenizeRequest(R"({"prompt": "x", "messages": []})").error().message,
            "messages: give them or a prompt, not both");
}

TEST(ParseDetokenizeRequest, TakesIds) {
  EXPECT_EQ(ParseDetokenizeRequest(R"({"tokens": [1, 2]})")->tokens, (std::vector<int32_t>{1, 2}));
  EXPECT_EQ(ParseDetokenizeRequest("{}").error().message,
            "tokens: a list of token ids is needed, not nothing");
  EXPECT_EQ(ParseDetokenizeRequest(R"({"tokens": [-1]})").error().message,
            "tokens: token ids are needed, got -1");
}

StreamChunk Chunk(const json& event) {
  const auto chunk = ParseResponsesChunk(event.dump());
  EXPECT_TRUE(chunk) << chunk.error().message;
  return chunk.value_or(StreamChunk{});
}

TEST(ParseResponsesChunk, TakesTextAndReasoningApart) {
  const StreamChunk text = Chunk({{"type", "response.output_text.delta"}, {"delta", "B"}});
  EXPECT_TRUE(text.has_choice);
  EXPECT_EQ(text.content, "B");
  for (const char* type : {"response.reasoning_text.delta", "response.reasoning_summary_text.delta"}) {
    const StreamChunk reasoning = Chunk({{"type", type}, {"delta", "maybe A"}});
    EXPECT_EQ(reasoning.content, "");
    EXPECT_EQ(reasoning.reasoning, "maybe A");
  }
  for (const char* type : {"response.created", "response.output_item.added", "response.output_text.done"}) {
    EXPECT_FALSE(Chunk({{"type", type}, {"text", "B"}}).has_choice) << type;
  }
}

TEST(ParseResponsesChunk, EndsWithTheWholeTextAndTheUsage) {
  const json output = json::parse(R"([
      {"type": "reasoning", "content": [{"type": "reasoning_text", "text": "A?"}]},
      {"type": "message", "content": [{"type": "output_text", "text": "Answer"}, {"type": "refusal", "refusal": "no"},
                                      {"type": "output_text", "text": ": B"}]}])");
  json response = {{"model", "m"},
                   {"status", "completed"},
                   {"error", nullptr},
                   {"output", output},
                   {"usage",
                    {{"input_tokens", 90},
                     {"output_tokens", 12},
                     {"input_tokens_details", {{"cached_tokens", 3}}},
                     {"output_tokens_details", {{"reasoning_tokens", 7}}}}}};
  const StreamChunk end = Chunk({{"type", "response.completed"}, {"response", response}});
  EXPECT_EQ(end.whole_content, "Answer: B");
  EXPECT_EQ(end.content, "");
  EXPECT_EQ(end.finish_reason, "stop");
  EXPECT_EQ(end.model, "m");
  EXPECT_EQ(end.usage, (Usage{90, 12, 3, 7}));
  response["incomplete_details"] = {{"reason", "max_output_tokens"}};
  EXPECT_EQ(Chunk({{"type", "response.incomplete"}, {"response", response}}).finish_reason, "length");
  response["incomplete_details"] = {{"reason", "content_filter"}};
  EXPECT_EQ(Chunk({{"type", "response.incomplete"}, {"response", response}}).finish_reason, "content_filter");
}

TEST(ParseResponsesChunk, KnowsEveryShapeOfFailure) {
  const json failed = {{"type", "response.failed"},
                       {"response", {{"error", {{"code", "server_error"}, {"message", "out of memory"}}}}}};
  ASSERT_TRUE(Chunk(failed).error);
  EXPECT_EQ(Chunk(failed).error->message, "out of memory");
  EXPECT_EQ(Chunk({{"type", "error"}, {"message", "too many"}}).error->message, "too many");
  EXPECT_EQ(Chunk({{"error", {{"message", "boom"}}}}).error->message, "boom");
  EXPECT_FALSE(ParseResponsesChunk("{\"type\": \"response.completed\"}"));
  EXPECT_FALSE(ParseResponsesChunk("{\"type\": \"response.output_text.delta\", \"delta\": 3}"));
}

TEST(ToResponsesJson, AsksAsOpenAisClientDoes) {
  ChatRequest request;
  request.model = "m";
  request.messages.push_back({"user", "why?", "", ""});
  request.sampling.temperature = 1;
  request.sampling.max_tokens = 77;
  request.reasoning_effort = "high";
  request.stream = true;
  EXPECT_EQ(ToResponsesJson(request),
            json::parse(R"({"model": "m", "input": [{"role": "user", "content": "why?"}],
      "temperature": 1.0, "max_output_tokens": 77, "reasoning": {"effort": "high"}, "stream": true})"));
  const auto read = ParseResponsesRequest(ToResponsesJson(request).dump());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->messages, request.messages);
}

}  // namespace
}  // namespace assay::wire
