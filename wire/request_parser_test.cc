#include <gtest/gtest.h>

#include "wire/chat.h"

namespace assay::wire {
namespace {

using nlohmann::json;

std::string Chat(const std::string& more) {
  return R"({"model": "m", "messages": [{"role": "user", "content": "hi"}])" + more + "}";
}

std::string Message(const std::string& message) {
  return R"({"messages": [)" + message + "]}";
}

TEST(ParseChatRequest, ReadsEveryField) {
  const auto request = ParseChatRequest(R"({
    "model": "gpt-oss", "stream": true,
    "stream_options": {"include_usage": true, "continuous_usage_stats": true},
    "messages": [{"role": "system", "content": "be brief"},
                 {"role": "user", "content": "hi", "name": "ann"},
                 {"role": "assistant", "content": "yes", "reasoning": "hm"}],
    "temperature": 0, "top_p": 1, "top_k": -1, "min_p": 0.5, "seed": -7, "max_tokens": 16, "min_tokens": 4,
    "ignore_eos": true, "stop": ["a", "b"], "stop_token_ids": [3, 2147483647], "reasoning_effort": "low",
    "n": 3, "logprobs": true, "top_logprobs": 2, "tools": [], "logit_bias": {"7": -100, "0": 1.5},
    "presence_penalty": -2, "frequency_penalty": 0.5, "repetition_penalty": 1.1,
    "include_stop_str_in_output": true, "skip_special_tokens": false, "include_reasoning": false,
    "user": "ann", "response_format": {"type": "text"}, "unknown": "fields are ignored"})");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->model, "gpt-oss");
  EXPECT_TRUE(request->stream);
  EXPECT_TRUE(request->stream_options.include_usage);
  EXPECT_TRUE(request->stream_options.continuous_usage_stats);
  EXPECT_EQ(request->messages,
            (std::vector<ChatMessage>{
                {"system", "be brief", "", ""}, {"user", "hi", "", "ann"}, {"assistant", "yes", "hm", ""}}));
  const Sampling& sampling = request->sampling;
  EXPECT_EQ(sampling.temperature, 0.0);
  EXPECT_EQ(sampling.top_p, 1.0);
  EXPECT_EQ(sampling.top_k, -1);
  EXPECT_EQ(sampling.min_p, 0.5);
  EXPECT_EQ(sampling.seed, -7);
  EXPECT_EQ(sampling.max_tokens, 16);
  EXPECT_EQ(sampling.min_tokens, 4);
  EXPECT_TRUE(sampling.ignore_eos);
  EXPECT_EQ(sampling.stop, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(sampling.stop_token_ids, (std::vector<int32_t>{3, 2147483647}));
  EXPECT_EQ(request->reasoning_effort, "low");
  EXPECT_EQ(sampling.n, 3);
  EXPECT_EQ(sampling.logprobs, 2);
  EXPECT_EQ(sampling.logit_bias, (std::vector<std::pair<int32_t, float>>{{0, 1.5f}, {7, -100.0f}}));
  EXPECT_EQ(sampling.presence_penalty, -2);
  EXPECT_EQ(sampling.frequency_penalty, 0.5);
  EXPECT_EQ(sampling.repetition_penalty, 1.1);
  EXPECT_TRUE(sampling.include_stop_str_in_output);
  EXPECT_FALSE(sampling.skip_special_tokens);
  EXPECT_FALSE(request->include_reasoning);
  EXPECT_EQ(request->user, "ann");
}

TEST(ParseChatRequest, ReadsToolsCallsAndTheirAnswers) {
  const auto request = ParseChatRequest(R"({"messages": [
      {"role": "user", "content": "2+2?"},
      {"role": "assistant", "content": null, "reasoning": "add them", "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "add", "arguments": "{\"a\":2}"}}]},
      {"role": "tool", "tool_call_id": "c1", "content": "4"}],
    "tools": [{"type": "function", "function": {"name": "add", "description": "Adds.",
      "parameters": {"type": "object", "properties": {"z": {}, "a": {}}}}}], "tool_choice": "auto"})");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->messages[1].tool_calls, (std::vector<ToolCall>{{"c1", "add", "{\"a\":2}"}}));
  EXPECT_EQ(request->messages[2].name, "add");
  ASSERT_EQ(request->tools.size(), 1u);
  EXPECT_EQ(request->tools[0].description, "Adds.");
  EXPECT_EQ(request->tools[0].parameters.dump(),  // in the client's order
            R"({"type":"object","properties":{"z":{},"a":{}}})");
  const auto none = ParseChatRequest(
      Chat(R"(, "tools": [{"type": "function", "function": {"name": "add"}}], "tool_choice": "none")"));
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_TRUE(none->tools.empty());
}

TEST(ParseChatRequest, LeavesAbsentAndNullFieldsToTheServer) {
  const auto request = ParseChatRequest(Chat(R"(, "temperature": null, "max_tokens": null, "stop": null,
                                               "stream": null, "stream_options": null, "seed": null)"));
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->sampling.temperature, std::nullopt);
  EXPECT_EQ(request->sampling.max_tokens, std::nullopt);
  EXPECT_EQ(request->sampling.seed, std::nullopt);
  EXPECT_TRUE(request->sampling.stop.empty());
  EXPECT_FALSE(request->stream);
}

TEST(ParseChatRequest, ReadsEquivalentSpellings) {
  EXPECT_EQ(ParseChatRequest(Chat(R"(, "max_completion_tokens": 9)"))->sampling.max_tokens, 9);
  EXPECT_EQ(ParseChatRequest(Chat(R"(, "max_tokens": 8, "max_completion_tokens": 9)"))->sampling.max_tokens,
            9);
  EXPECT_EQ(ParseChatRequest(Chat(R"(, "stop": "x")"))->sampling.stop, (std::vector<std::string>{"x"}));
  const std::string parts =
      R"({"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]})";
  EXPECT_EQ(ParseChatRequest(Message(parts))->messages[0].content, "ab");
  EXPECT_EQ(ParseChatRequest(Message(R"({"role": "user", "content": []})"))->messages[0].content, "");
  const std::string history = R"({"role": "assistant", "content": null, "reasoning_content": "r"})";
  EXPECT_EQ(ParseChatRequest(Message(history))->messages[0].reasoning, "r");
  EXPECT_EQ(ParseChatRequest(Message(R"({"role": "assistant"})"))->messages[0].content, "");
}

struct Refusal {
  const char* name;
  std::string body;
  std::string message;  // a part of it
};

class RefusedChatRequest : public testing::TestWithParam<Refusal> {};

TEST_P(RefusedChatRequest, NamesTheField) {
  const auto request = ParseChatRequest(GetParam().body);
  ASSERT_FALSE(request);
  EXPECT_EQ(request.error().kind, ErrorKind::kUsage);
  EXPECT_NE(request.error().message.find(GetParam().message), std::string::npos) << request.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    Rules, RefusedChatRequest,
    testing::Values(
        Refusal{"Empty", "", "request body: not valid JSON"},
        Refusal{"Truncated", R"({"model": "m")",
                "request body: not valid JSON: parse error at line 1, column 14"},
        Refusal{"InvalidUtf8", "{\"model\": \"\xFF\"}",
                "request body: not valid JSON: parse error at line 1"},
        Refusal{"LoneSurrogate", R"({"model": "\ud800"})", "request body: not valid JSON"},
        Refusal{"NumberTooLarge", R"({"temperature": 1e999})", "request body: not valid JSON"},
        Refusal{"List", "[]", "request body: a JSON object is needed, not a list"},
        Refusal{"ModelNumber", R"({"model": 3, "messages": []})", "model: a string is needed, not 3"},
        Refusal{"NoMessages", "{}", "messages: a list of messages is needed, not nothing"},
        Refusal{"MessagesText", R"({"messages": "hi"})",
                "messages: a list of messages is needed, not \"hi\""},
        Refusal{"EmptyMessages", R"({"messages": []})", "messages: at least one message is needed"},
        Refusal{"MessageText", R"({"messages": ["hi"]})", "messages[0]: an object is needed, not \"hi\""},
        Refusal{"NoRole", Message(R"({"content": "x"})"), "messages[0].role: must be system, developer"},
        Refusal{"UnknownRole", Message(R"({"role": "bot", "content": "x"})"), "got \"bot\""},
        Refusal{"RoleNumber", Message(R"({"role": 1})"), "messages[0].role: a string is needed, not 1"},
        Refusal{"NoContent", Message(R"({"role": "user"})"),
                "messages[0].content: a string or a list of text"},
        Refusal{"NullContent", Message(R"({"role": "user", "content": null})"),
                "messages[0].content: a string"},
        Refusal{"ContentNumber", Message(R"({"role": "user", "content": 5})"),
                "messages[0].content: a string"},
        Refusal{"PartText", Message(R"({"role": "user", "content": ["a"]})"),
                "messages[0].content[0]: an object"},
        Refusal{"PartImage", Message(R"({"role": "user", "content": [{"type": "image_url"}]})"),
                "messages[0].content[0].type: only \"text\" is supported, got \"image_url\""},
        Refusal{"PartWithoutText", Message(R"({"role": "user", "content": [{"type": "text"}]})"),
                "messages[0].content[0].text: a string is needed, not nothing"},
        Refusal{"SecondMessage",
                Message(R"({"role": "user", "content": "a"}, {"role": "user", "content": 1})"),
                "messages[1].content"},
        Refusal{"TemperatureText", Chat(R"(, "temperature": "0")"),
                "temperature: a number is needed, not \"0\""},
        Refusal{"TemperatureLow", Chat(R"(, "temperature": -0.1)"),
                "temperature: must be in [0, 2], got -0.1"},
        Refusal{"TemperatureHigh", Chat(R"(, "temperature": 2.5)"),
                "temperature: must be in [0, 2], got 2.5"},
        Refusal{"TopPZero", Chat(R"(, "top_p": 0)"), "top_p: must be in (0, 1], got 0"},
        Refusal{"TopPHigh", Chat(R"(, "top_p": 1.1)"), "top_p: must be in [0, 1], got 1.1"},
        Refusal{"TopKLow", Chat(R"(, "top_k": -2)"), "top_k: must be at least -1, got -2"},
        Refusal{"MinPHigh", Chat(R"(, "min_p": 2)"), "min_p: must be in [0, 1], got 2"},
        Refusal{"SeedHuge", Chat(R"(, "seed": 9223372036854775808)"), "seed: must be at least"},
        Refusal{"MaxTokensZero", Chat(R"(, "max_tokens": 0)"), "max_tokens: must be at least 1, got 0"},
        Refusal{"MaxTokensFraction", Chat(R"(, "max_tokens": 1.5)"),
                "max_tokens: a whole number is needed, not 1.5"},
        Refusal{"MaxTokensTrue", Chat(R"(, "max_tokens": true)"),
                "max_tokens: a whole number is needed, not true"},
        Refusal{"MaxCompletionTokensZero", Chat(R"(, "max_completion_tokens": 0)"),
                "max_completion_tokens: must be"},
        Refusal{"MinTokensLow", Chat(R"(, "min_tokens": -1)"), "min_tokens: must be at least 0, got -1"},
        Refusal{"MinAboveMax", Chat(R"(, "min_tokens": 9, "max_tokens": 8)"),
                "min_tokens: 9 is more than max_tokens, 8"},
        Refusal{"IgnoreEosText", Chat(R"(, "ignore_eos": "yes")"),
                "ignore_eos: true or false is needed, not \"yes\""},
        Refusal{"StopNumber", Chat(R"(, "stop": 3)"), "stop: a string or a list of strings is needed"},
        Refusal{"StopMixed", Chat(R"(, "stop": ["a", 3])"), "stop: a string or a list of strings is needed"},
        Refusal{"StopEmpty", Chat(R"(, "stop": "")"), "stop: an empty string would stop everywhere"},
        Refusal{"StopIdsNumber", Chat(R"(, "stop_token_ids": 3)"),
                "stop_token_ids: a list of token ids is needed"},
        Refusal{"StopIdsNegative", Chat(R"(, "stop_token_ids": [-1])"),
                "stop_token_ids: token ids are needed, got -1"},
        Refusal{"Effort", Chat(R"(, "reasoning_effort": "max")"),
                "reasoning_effort: must be low, medium or high"},
        Refusal{"StreamNumber", Chat(R"(, "stream": 1)"), "stream: true or false is needed, not 1"},
        Refusal{"OptionsWithoutStream", Chat(R"(, "stream_options": {"include_usage": true})"),
                "stream_options: needs \"stream\": true"},
        Refusal{"OptionsList", Chat(R"(, "stream": true, "stream_options": [])"),
                "stream_options: an object is needed"},
        Refusal{"OptionsType", Chat(R"(, "stream": true, "stream_options": {"include_usage": 1})"),
                "stream_options.include_usage: true or false is needed"},
        Refusal{"NoAnswers", Chat(R"(, "n": 0)"), "n: must be in [1, 128], got 0"},
        Refusal{"LogprobsNumber", Chat(R"(, "logprobs": 3)"), "logprobs: true or false is needed, not 3"},
        Refusal{"TopLogprobsAlone", Chat(R"(, "top_logprobs": 2)"), "top_logprobs: needs \"logprobs\": true"},
        Refusal{"TopLogprobsMany", Chat(R"(, "logprobs": true, "top_logprobs": 21)"),
                "top_logprobs: must be in [0, 20], got 21"},
        Refusal{"PenaltyHigh", Chat(R"(, "presence_penalty": 2.5)"), "presence_penalty: must be in [-2, 2]"},
        Refusal{"RepetitionZero", Chat(R"(, "repetition_penalty": 0)"),
                "repetition_penalty: must be more than 0"},
        Refusal{"BiasList", Chat(R"(, "logit_bias": [1])"), "logit_bias: an object of token id and bias"},
        Refusal{"BiasWord", Chat(R"(, "logit_bias": {"12x": 1})"),
                "logit_bias: a token id is needed, not \"12x\""},
        Refusal{"BiasHigh", Chat(R"(, "logit_bias": {"12": 101})"),
                "logit_bias: 12: a number in [-100, 100] is needed, not 101"},
        Refusal{"BestOf", Chat(R"(, "best_of": 2)"),
                "best_of: 2 is not supported; ask for n answers and choose"},
        Refusal{"ToolWithoutFunction", Chat(R"(, "tools": [{}])"),
                "tools[0].type: only \"function\" is supported"},
        Refusal{"ToolName", Chat(R"(, "tools": [{"type": "function", "function": {"name": "a b"}}])"),
                "tools[0].function.name: 1 to 64 letters, digits, _ or - are needed, not \"a b\""},
        Refusal{"ToolTwice", Chat(R"(, "tools": [{"type": "function", "function": {"name": "a"}},
                                                  {"type": "function", "function": {"name": "a"}}])"),
                "tools[1]: a is there already"},
        Refusal{"ToolSchema",
                Chat(R"(, "tools": [{"type": "function", "function": {"name": "a", "parameters": []}}])"),
                "tools[0].function.parameters: a JSON schema is needed"},
        Refusal{"ForcedTool", Chat(R"(, "tool_choice": "required")"),
                "tool_choice: \"auto\" or \"none\" is needed, not \"required\""},
        Refusal{"CallByUser", Message(R"({"role": "user", "content": "x", "tool_calls": []})"),
                "messages[0].tool_calls: only an assistant calls tools"},
        Refusal{"ToolWithoutCall", Message(R"({"role": "tool", "content": "7"})"),
                "messages[0].tool_call_id: a tool message names the call"},
        Refusal{"ToolOfNoCall", Message(R"({"role": "tool", "content": "7", "tool_call_id": "x"})"),
                "messages[0].tool_call_id: no earlier message calls a tool with id \"x\""},
        Refusal{"JsonFormat", Chat(R"(, "response_format": {"type": "json_object"})"),
                "response_format: an object is"}),
    [](const auto& row) { return row.param.name; });

TEST(ParseCompletionRequest, TakesTextOrTokens) {
  EXPECT_EQ(ParseCompletionRequest(R"({"prompt": "hi"})")->prompts[0].text, "hi");
  EXPECT_EQ(ParseCompletionRequest(R"({"prompt": ["hi"]})")->prompts[0].text, "hi");
  EXPECT_EQ(ParseCompletionRequest(R"({"prompt": [1, 0, 7]})")->prompts[0].ids,
            (std::vector<int32_t>{1, 0, 7}));
  const auto texts = ParseCompletionRequest(R"({"prompt": ["a", "b"], "logprobs": 0})");
  ASSERT_EQ(texts->prompts.size(), 2u);
  EXPECT_EQ(texts->prompts[1].text, "b");
  EXPECT_EQ(texts->sampling.logprobs, 0);
  const auto ids = ParseCompletionRequest(R"({"prompt": [[1], [2, 3]], "echo": true})");
  ASSERT_EQ(ids->prompts.size(), 2u);
  EXPECT_EQ(ids->prompts[1].ids, (std::vector<int32_t>{2, 3}));
  EXPECT_TRUE(ids->echo);
}

TEST(ParseCompletionRequest, TakesWhatServingBenchmarksSend) {
  const auto request = ParseCompletionRequest(R"({"model": "m", "prompt": "p", "repetition_penalty": 1.0,
      "max_tokens": 128, "logprobs": null, "stream": true, "stream_options": {"include_usage": true},
      "ignore_eos": true, "temperature": 0.0, "best_of": 1})");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->sampling.max_tokens, 128);
  EXPECT_TRUE(request->sampling.ignore_eos);
  EXPECT_TRUE(request->stream_options.include_usage);
}

class RefusedCompletionRequest : public testing::TestWithParam<Refusal> {};

TEST_P(RefusedCompletionRequest, NamesTheField) {
  const auto request = ParseCompletionRequest(GetParam().body);
  ASSERT_FALSE(request);
  EXPECT_EQ(request.error().kind, ErrorKind::kUsage);
  EXPECT_NE(request.error().message.find(GetParam().message), std::string::npos) << request.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    Rules, RefusedCompletionRequest,
    testing::Values(
        Refusal{"NoPrompt", "{}", "prompt: a string or a list of token ids is needed, not nothing"},
        Refusal{"NumberPrompt", R"({"prompt": 3})",
                "prompt: a string or a list of token ids is needed, not 3"},
        Refusal{"EmptyText", R"({"prompt": ""})", "prompt: must not be empty"},
        Refusal{"EmptyList", R"({"prompt": []})", "prompt: must not be empty"},
        Refusal{"EmptyInnerList", R"({"prompt": [[]]})", "prompt: must not be empty"},
        Refusal{"OneOfTwoEmpty", R"({"prompt": ["a", ""]})", "prompt: must not be empty"},
        Refusal{"TextThenNumber", R"({"prompt": ["a", 1]})",
                "prompt: a string or a list of token ids is needed, not 1"},
        Refusal{"MixedList", R"({"prompt": [1, "a"]})", "prompt: token ids are needed, got \"a\""},
        Refusal{"NegativeToken", R"({"prompt": [-5]})", "prompt: token ids are needed, got -5"},
        Refusal{"HugeToken", R"({"prompt": [2147483648]})", "prompt: token ids are needed, got 2147483648"},
        Refusal{"FractionToken", R"({"prompt": [1.5]})", "prompt: token ids are needed, got 1.5"},
        Refusal{"EchoWithLogprobs", R"({"prompt": "a", "echo": true, "logprobs": 1})",
                "echo: with logprobs would need those of the prompt"},
        Refusal{"LogprobsMany", R"({"prompt": "a", "logprobs": 21})", "logprobs: must be in [0, 20], got 21"},
        Refusal{"Suffix", R"({"prompt": "a", "suffix": "b"})", "suffix: \"b\" is not supported"}),
    [](const auto& row) { return row.param.name; });

TEST(ToJson, GivesARequestThatReadsBackTheSame) {
  ChatRequest request;
  request.model = "m";
  request.messages = {
      {"developer", "d", "", ""}, {"user", "\xE2\x82\xAC \"x\"\n", "", "ann"}, {"assistant", "a", "r", ""}};
  request.sampling = {.temperature = 0.0,
                      .top_p = 0.9,
                      .top_k = 0,
                      .min_p = 0.1,
                      .seed = 42,
                      .max_tokens = 100,
                      .min_tokens = 3,
                      .ignore_eos = true,
                      .stop = {"x"},
                      .stop_token_ids = {1, 2},
                      .include_stop_str_in_output = true,
                      .presence_penalty = 0.5,
                      .logit_bias = {{3, 1.0f}},
                      .n = 2};
  request.tools = {{"f", "d", nlohmann::ordered_json::object()}};
  request.messages[2].tool_calls = {{"c", "f", "{}"}};
  request.reasoning_effort = "high";
  request.stream = true;
  request.stream_options = {.include_usage = true, .continuous_usage_stats = true};
  const json written = ToJson(request);
  const auto read = ParseChatRequest(JsonText(written));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(ToJson(*read), written);
  EXPECT_EQ(written.size(), 20u);

  CompletionRequest tokens;
  tokens.model = "m";
  tokens.prompts = {{"", {3, 1, 2}}, {"text", {}}};
  tokens.echo = true;
  tokens.sampling = request.sampling;
  EXPECT_EQ(ToJson(ParseCompletionRequest(JsonText(ToJson(tokens))).value()), ToJson(tokens));
}

TEST(ToJson, LeavesOutWhatIsNotSet) {
  ChatRequest request;
  request.model = "m";
  request.messages = {{"user", "hi", "", ""}};
  EXPECT_EQ(ToJson(request),
            json::parse(R"({"model": "m", "messages": [{"role": "user", "content": "hi"}]})"));
}

TEST(JsonText, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(JsonText(json("a\xFFz")), "\"a\xEF\xBF\xBDz\"");
}

}  // namespace
}  // namespace assay::wire
