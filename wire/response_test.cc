#include <gtest/gtest.h>

#include <limits>

#include "wire/chat.h"

namespace assay::wire {
namespace {

using nlohmann::json;

const ResponseHead kHead = {"chatcmpl-1", "m", 1700000000};

struct ChunkCase {
  const char* name;
  const char* data;
  StreamChunk chunk;
};

class ChatChunk : public testing::TestWithParam<ChunkCase> {};

TEST_P(ChatChunk, IsRead) {
  const auto chunk = ParseChatChunk(GetParam().data);
  ASSERT_TRUE(chunk) << chunk.error().message;
  const StreamChunk& want = GetParam().chunk;
  EXPECT_EQ(chunk->has_choice, want.has_choice);
  EXPECT_EQ(chunk->role, want.role);
  EXPECT_EQ(chunk->content, want.content);
  EXPECT_EQ(chunk->reasoning, want.reasoning);
  EXPECT_EQ(chunk->finish_reason, want.finish_reason);
  EXPECT_EQ(chunk->usage, want.usage);
  ASSERT_EQ(chunk->error.has_value(), want.error.has_value());
  if (want.error) {
    EXPECT_EQ(chunk->error->status, want.error->status);
    EXPECT_EQ(chunk->error->type, want.error->type);
    EXPECT_EQ(chunk->error->message, want.error->message);
  }
}

StreamChunk Choice(const std::string& content, const std::string& reasoning = "",
                   std::optional<std::string> finish_reason = {}) {
  StreamChunk chunk;
  chunk.has_choice = true;
  chunk.content = content;
  chunk.reasoning = reasoning;
  chunk.finish_reason = std::move(finish_reason);
  return chunk;
}

StreamChunk RoleChoice() {
  StreamChunk chunk = Choice("");
  chunk.role = "assistant";
  return chunk;
}

StreamChunk WithUsage(StreamChunk chunk, const Usage& usage) {
  chunk.usage = usage;
  return chunk;
}

StreamChunk Failed(int status, const std::string& type, const std::string& message) {
  StreamChunk chunk;
  chunk.error = ErrorBody{status, type, message};
  return chunk;
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, ChatChunk,
    testing::Values(
        ChunkCase{
            "Role",
            R"({"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]})",
            RoleChoice()},
        ChunkCase{"Content", R"({"choices":[{"delta":{"content":"x"}}],"usage":null})", Choice("x")},
        ChunkCase{"Reasoning", R"({"choices":[{"delta":{"reasoning":"r"}}]})", Choice("", "r")},
        ChunkCase{"OldReasoning", R"({"choices":[{"delta":{"reasoning_content":"r","content":null}}]})",
                  Choice("", "r")},
        ChunkCase{"BothReasoningNames",
                  R"({"choices":[{"delta":{"reasoning":"r","reasoning_content":"r"}}]})", Choice("", "r")},
        ChunkCase{"Finish", R"({"choices":[{"delta":{},"finish_reason":"stop","stop_reason":200002}]})",
                  Choice("", "", "stop")},
        ChunkCase{"FinishWithText", R"({"choices":[{"delta":{"content":"x"},"finish_reason":"length"}]})",
                  Choice("x", "", "length")},
        ChunkCase{"NullDelta", R"({"choices":[{"delta":null}]})", Choice("")},
        ChunkCase{"NoDelta", R"({"choices":[{}]})", Choice("")},
        ChunkCase{"ToolCall", R"({"choices":[{"delta":{"tool_calls":[{"index":0}]}}]})", Choice("")},
        ChunkCase{"Usage",
                  R"({"choices":[],"usage":{"prompt_tokens":5,"total_tokens":12,"completion_tokens":7,
                     "prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":3}}})",
                  WithUsage({}, Usage{5, 7, 4, 3})},
        ChunkCase{"UsageWithoutChoices",
                  R"({"usage":{"prompt_tokens":5,"completion_tokens":7,
                     "prompt_tokens_details":null}})",
                  WithUsage({}, Usage{5, 7, {}, {}})},
        ChunkCase{"ContinuousUsage",
                  R"({"choices":[{"delta":{"content":"x"}}],"usage":{"completion_tokens":2}})",
                  WithUsage(Choice("x"), Usage{0, 2, {}, {}})},
        ChunkCase{"NullChoices", R"({"choices":null})", {}}, ChunkCase{"Empty", "{}", {}},
        ChunkCase{"NullError", R"({"error":null,"choices":[{"delta":{"content":"x"}}]})", Choice("x")},
        ChunkCase{"ErrorObject",
                  R"({"error":{"message":"boom","type":"BadRequestError","param":null,"code":400}})",
                  Failed(400, "BadRequestError", "boom")},
        ChunkCase{"ErrorWithTextCode", R"({"error":{"message":"boom","code":"503"}})",
                  Failed(503, "InternalServerError", "boom")},
        ChunkCase{"ErrorWithWordCode", R"({"error":{"message":"long","code":"context_length_exceeded"}})",
                  Failed(500, "InternalServerError", "long")},
        ChunkCase{"ErrorWithoutMessage", R"({"error":{"code":500}})",
                  Failed(500, "InternalServerError", "{\"code\":500}")},
        ChunkCase{"ErrorText", R"({"error":"boom"})", Failed(500, "InternalServerError", "boom")},
        ChunkCase{"OldErrorShape", R"({"object":"error","message":"boom","type":"NotFoundError","code":404})",
                  Failed(404, "NotFoundError", "boom")}),
    [](const auto& row) { return row.param.name; });

struct BadChunk {
  const char* name;
  const char* data;
  const char* message;
};

class RefusedChunk : public testing::TestWithParam<BadChunk> {};

TEST_P(RefusedChunk, NamesTheField) {
  const auto chunk = ParseChatChunk(GetParam().data);
  ASSERT_FALSE(chunk);
  EXPECT_EQ(chunk.error().kind, ErrorKind::kInfrastructure);
  EXPECT_NE(chunk.error().message.find(GetParam().message), std::string::npos) << chunk.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, RefusedChunk,
    testing::Values(
        BadChunk{"Done", "[DONE]", "stream event: not valid JSON"},
        BadChunk{"Number", "3", "stream event: a JSON object is needed, not 3"},
        BadChunk{"Cut", R"({"choices":[{"delta":{"con)", "stream event: not valid JSON"},
        BadChunk{"ChoicesObject", R"({"choices":{}})", "choices: a list is needed, not an object"},
        BadChunk{"ChoiceText", R"({"choices":["x"]})", "choices[0]: an object is needed"},
        BadChunk{"DeltaText", R"({"choices":[{"delta":"x"}]})", "choices[0].delta: an object is needed"},
        BadChunk{"ContentNumber", R"({"choices":[{"delta":{"content":3}}]})",
                 "choices[0].delta.content: a string is needed, not 3"},
        BadChunk{"FinishNumber", R"({"choices":[{"finish_reason":3}]})", "choices[0].finish_reason"},
        BadChunk{"UsageText", R"({"usage":"x"})", "usage: an object is needed"},
        BadChunk{"NegativeUsage", R"({"usage":{"completion_tokens":-1}})",
                 "usage.completion_tokens: must be at least 0, got -1"},
        BadChunk{"CachedText", R"({"usage":{"prompt_tokens_details":{"cached_tokens":"x"}}})",
                 "usage.prompt_tokens_details.cached_tokens"}),
    [](const auto& row) { return row.param.name; });

TEST(ParseCompletionChunk, ReadsText) {
  const auto chunk = ParseCompletionChunk(R"({"choices":[{"index":0,"text":"x","finish_reason":"length"}]})");
  ASSERT_TRUE(chunk) << chunk.error().message;
  EXPECT_EQ(chunk->content, "x");
  EXPECT_EQ(chunk->finish_reason, "length");
}

TEST(ChatChunkJson, WritesWhatVllmWrites) {
  EXPECT_EQ(
      ChatChunkJson(kHead, RoleChoice()),
      json::parse(R"({"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m",
              "choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]})"));
  EXPECT_EQ(ChatChunkJson(kHead, Choice("", "r"))["choices"][0]["delta"],
            json::parse(R"({"reasoning":"r"})"));
  EXPECT_EQ(
      ChatChunkJson(kHead, Choice("", "", "stop"))["choices"][0],
      json::parse(R"({"index":0,"delta":{},"logprobs":null,"finish_reason":"stop","stop_reason":null})"));
  const json last = ChatChunkJson(kHead, WithUsage({}, Usage{5, 7, {}, {}}));
  EXPECT_EQ(last["choices"], json::array());
  EXPECT_EQ(last["usage"], json::parse(R"({"prompt_tokens":5,"completion_tokens":7,"total_tokens":12})"));
  EXPECT_EQ(ChatChunkJson(kHead, Failed(404, "NotFoundError", "no")),
            json::parse(R"({"error":{"message":"no","type":"NotFoundError","param":null,"code":404}})"));
}

TEST(ChatChunkJson, IsReadBackByTheParser) {
  const StreamChunk chunk = WithUsage(Choice("x", "", "length"), Usage{1, 2, 3, 4});
  const auto chat = ParseChatChunk(JsonText(ChatChunkJson(kHead, chunk)));
  ASSERT_TRUE(chat) << chat.error().message;
  EXPECT_EQ(chat->content, "x");
  EXPECT_EQ(chat->finish_reason, "length");
  EXPECT_EQ(chat->usage, (Usage{1, 2, 3, 4}));
  EXPECT_EQ(chat->model, "m");
  const auto text = ParseCompletionChunk(JsonText(CompletionChunkJson(kHead, chunk)));
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(text->content, "x");
}

wire::Choice Answered(const std::string& content, const std::string& reasoning, const std::string& finish) {
  wire::Choice choice;
  choice.content = content;
  choice.reasoning = reasoning;
  choice.finish_reason = finish;
  return choice;
}

TEST(ChatChunkJson, NamesAToolCallOnceAndThenItsArguments) {
  StreamChunk chunk = Choice("");
  chunk.index = 1;
  chunk.tool_calls = {{0, "call_1", "add", ""}};
  EXPECT_EQ(ChatChunkJson(kHead, chunk)["choices"][0],
            json::parse(R"({"index":1,"logprobs":null,"finish_reason":null,"delta":{"tool_calls":[
              {"index":0,"id":"call_1","type":"function","function":{"name":"add","arguments":""}}]}})"));
  chunk.tool_calls = {{0, "", "", "{\"a\":"}};
  EXPECT_EQ(ChatChunkJson(kHead, chunk)["choices"][0]["delta"],
            json::parse(R"({"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":"}}]})"));
}

TEST(ChatResponseJson, HasSeveralChoicesAndCallsWithNullContent) {
  wire::Choice call = Answered("", "", "tool_calls");
  call.tool_calls = {{"call_1", "add", "{}"}};
  call.stop_reason = 200012;
  const json written = ChatResponseJson(kHead, {Answered("a", "", "stop"), call}, {});
  EXPECT_EQ(written["choices"][0]["index"], 0);
  EXPECT_EQ(written["choices"][1],
            json::parse(R"({"index":1,"logprobs":null,"finish_reason":"tool_calls","stop_reason":200012,
              "message":{"role":"assistant","content":null,"reasoning":null,"tool_calls":[
              {"id":"call_1","type":"function","function":{"name":"add","arguments":"{}"}}]}})"));
}

// 0xE4 alone is half a character: its text is U+FFFD, its bytes are what they are.
const std::vector<PositionLogprobs> kPositions = {
    {{"a", "a", -0.5}, {{"a", "a", -0.5}, {"b", "b", -2}}, 0},
    {{"\uFFFD", "\xE4", -std::numeric_limits<double>::infinity()}, {{"\uFFFD", "\xE5", -1}}, 1}};

TEST(ChatLogprobsJson, HasTokensBytesAndNoInfinity) {
  EXPECT_EQ(ChatLogprobsJson(kPositions), json::parse(R"({"content":[
      {"token":"a","logprob":-0.5,"bytes":[97],"top_logprobs":[
        {"token":"a","logprob":-0.5,"bytes":[97]},{"token":"b","logprob":-2.0,"bytes":[98]}]},
      {"token":"\uFFFD","logprob":-9999.0,"bytes":[228],"top_logprobs":[
        {"token":"\uFFFD","logprob":-1.0,"bytes":[229]}]}]})"));
}

TEST(CompletionLogprobsJson, HasColumnsWithAnEntryForEachToken) {
  EXPECT_EQ(CompletionLogprobsJson(kPositions), json::parse(R"({"text_offset":[0,1],
      "token_logprobs":[-0.5,-9999.0],"tokens":["a","\uFFFD"],
      "top_logprobs":[{"a":-0.5,"b":-2.0},{"\uFFFD":-9999.0}]})"));
}

TEST(ChatResponseJson, IsReadBackByTheParser) {
  const Usage usage = {5, 7, {}, 4};
  const json written = ChatResponseJson(kHead, {Answered("the answer", "why", "stop")}, usage);
  EXPECT_EQ(written["object"], "chat.completion");
  EXPECT_EQ(written["choices"][0]["message"],
            json::parse(R"({"role":"assistant","content":"the answer","reasoning":"why","tool_calls":[]})"));
  const auto read = ParseChatResponse(JsonText(written));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->id, "chatcmpl-1");
  EXPECT_EQ(read->content, "the answer");
  EXPECT_EQ(read->reasoning, "why");
  EXPECT_EQ(read->finish_reason, "stop");
  EXPECT_EQ(read->usage, usage);
}

TEST(ChatResponseJson, HasNullContentWhenCutOffWhileReasoning) {
  const json written = ChatResponseJson(kHead, {Answered("", "why", "length")}, {});
  EXPECT_TRUE(written["choices"][0]["message"]["content"].is_null());
  const auto read = ParseChatResponse(JsonText(written));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->content, "");
  EXPECT_EQ(read->finish_reason, "length");
}

TEST(CompletionResponseJson, IsReadBackByTheParser) {
  const json written =
      CompletionResponseJson({"cmpl-1", "m", 1}, {Answered("text", "", "length")}, {1, 2, {}, {}});
  EXPECT_EQ(written["object"], "text_completion");
  const auto read = ParseCompletionResponse(JsonText(written));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->content, "text");
  EXPECT_EQ(read->usage, (Usage{1, 2, {}, {}}));
}

TEST(ParseChatResponse, RefusesWhatHasNoAnswer) {
  EXPECT_EQ(ParseChatResponse(R"({"choices":[]})").error().message, "choices: at least one choice is needed");
  EXPECT_EQ(ParseChatResponse("{}").error().message, "choices: at least one choice is needed");
  EXPECT_EQ(ParseChatResponse(R"({"choices":[{}]})").error().message,
            "choices[0].message: an object is needed, not nothing");
  EXPECT_EQ(ParseChatResponse(R"({"error":{"message":"boom"}})").error().message,
            "the server answered with an error: boom");
  EXPECT_EQ(ParseChatResponse("").error().kind, ErrorKind::kInfrastructure);
}

TEST(ErrorMessage, ReadsEveryShape) {
  EXPECT_EQ(ErrorMessage(R"({"error":{"message":"boom"}})"), "boom");
  EXPECT_EQ(ErrorMessage(R"({"error":"boom"})"), "boom");
  EXPECT_EQ(ErrorMessage(R"({"object":"error","message":"boom"})"), "boom");
  EXPECT_EQ(ErrorMessage(R"({"message":"boom"})"), "boom");
  EXPECT_EQ(ErrorMessage(R"({"detail":"Not Found"})"), "Not Found");
  EXPECT_EQ(ErrorMessage(R"({"detail":[{"loc":["body","messages",0],"msg":"Field required"},{"msg":"b"}]})"),
            "body.messages.0: Field required; b");
  EXPECT_EQ(ErrorMessage("  502 Bad Gateway\r\n"), "502 Bad Gateway");
  EXPECT_EQ(ErrorMessage(R"({"status":"ok"})"), R"({"status":"ok"})");
  EXPECT_EQ(ErrorMessage(""), "");
}

TEST(ModelList, IsReadBackByTheParser) {
  const json written = ModelListJson({{"a", 4096}, {"b", 0}}, 1700000000);
  EXPECT_EQ(written["data"][0],
            json::parse(R"({"id":"a","object":"model","created":1700000000,"owned_by":"assay",
      "root":"a","parent":null,"max_model_len":4096,"permission":[]})"));
  const auto models = ParseModelList(JsonText(written));
  ASSERT_TRUE(models) << models.error().message;
  ASSERT_EQ(models->size(), 2u);
  EXPECT_EQ((*models)[0].id, "a");
  EXPECT_EQ((*models)[0].max_model_len, 4096);
}

TEST(ParseModelList, TakesServersThatSayLess) {
  EXPECT_EQ(ParseModelList(R"({"data":[{"id":"x","meta":{"n_ctx_train":9}}]})")->front().max_model_len, 0);
  EXPECT_TRUE(ParseModelList(R"({"data":[]})")->empty());
}

TEST(ParseModelList, NamesWhatIsWrong) {
  EXPECT_EQ(ParseModelList("{}").error().message, "data: a list of models is needed, not nothing");
  EXPECT_EQ(ParseModelList(R"({"data":[{"id":3}]})").error().message,
            "data[0].id: a string is needed, not 3");
  EXPECT_EQ(ParseModelList(R"({"data":[{}]})").error().message, "data[0].id: a model name is needed");
  EXPECT_EQ(ParseModelList(R"({"data":["x"]})").error().message, "data[0]: an object is needed, not \"x\"");
  EXPECT_EQ(ParseModelList(R"({"error":"Unauthorized"})").error().message,
            "model list: the server answered with an error: Unauthorized");
}

}  // namespace
}  // namespace assay::wire
