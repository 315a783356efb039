#include "wire/plain_chunk.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace assay::wire {
namespace {

// What vLLM, llama.cpp and SGLang send, and the events that decide how a request ended.
const std::vector<std::string> kCompletionEvents = {
    R"({"id":"cmpl-1","object":"text_completion","created":1764547200,"model":"openai/gpt-oss-20b","choices":[{"index":0,"text":" hello","logprobs":null,"finish_reason":null,"stop_reason":null}],"usage":null})",
    R"({"id":"cmpl-1","object":"text_completion","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":7,"total_tokens":12,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":4}}})",
    R"({"choices":[{"text":"","index":0,"logprobs":null,"finish_reason":"length"}],"created":1,"model":"gpt-3.5-turbo","system_fingerprint":"b1","object":"text_completion","usage":{"completion_tokens":1,"prompt_tokens":1,"total_tokens":2},"id":"chatcmpl-x","timings":{"prompt_ms":12.5,"predicted_per_second":1e2}})",
    "{\"choices\":[{\"text\":\" \xE4\xB8\xAD\xF0\x9F\x99\x82 \\u4e2d\\n\\\"\"}]}",
    R"({"choices":[{"text":"a"},{"text":"b"}]})",
};
const std::vector<std::string> kChatEvents = {
    R"({"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]})",
    R"({"choices":[{"index":0,"delta":{"reasoning":"so","reasoning_content":"so"},"finish_reason":null}],"usage":{"prompt_tokens":3,"completion_tokens":9,"completion_tokens_details":{"reasoning_tokens":9}}})",
    R"({"choices":[{"index":0,"delta":{"content":"Answer: B"},"finish_reason":"stop"}]})",
    R"({"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"t","function":{"name":"f","arguments":"{}"}}]}}]})",
};
const std::vector<std::string> kOddEvents = {
    R"({"error":{"code":500,"message":"KV cache is full"}})",
    R"({"object":"error","message":"x"})",
    R"({"detail":"not found"})",
    R"({"choices":[{"text":"a"}],"choices":[{"text":"b"}]})",
    R"({"choices":[{"text":"a","text":"b"}]})",
    R"({"choices":[{"text":"\ud83d\ude42"}]})",
    R"({"choices":[{"text":"\ude42"}]})",
    R"({"choices":[{"text":3}]})",
    R"({"choices":[3]})",
    R"({"choices":{}})",
    R"({"choices":[],"usage":{"completion_tokens":2.5}})",
    R"({"choices":[],"usage":{"completion_tokens":-1}})",
    R"({"choices":[],"usage":{"completion_tokens":18446744073709551616}})",
    R"({"choices":[],"usage":[]})",
    R"({"choices":[{"delta":"x"}]})",
    R"({"model":7,"choices":[{"text":"a"}]})",
    R"([{"choices":[]}])",
    R"({"choices":[]} x)",
    R"({"choices":[{"text":"a"}])",
    "{\"choices\":[{\"text\":\"\xE4\xB8\"}]}",
    "{\"choices\":[{\"text\":\"\xED\xA0\x80\"}]}",
    "\xEF\xBB\xBF{\"choices\":[{\"text\":\"a\"}]}",
    "",
    "[DONE]",
};

Result<StreamChunk> Full(std::string_view data, ChunkKind kind) {
  return kind == ChunkKind::kChat ? ParseChatChunk(data) : ParseCompletionChunk(data);
}

// True when the plain reader took it, and then it must have read what the full parser reads.
bool AgreesWhereItReads(const std::string& data, ChunkKind kind) {
  ChunkView plain;
  if (!ReadPlainChunk(data, kind, &plain)) return false;
  const auto full = Full(data, kind);
  EXPECT_TRUE(full.has_value()) << data;
  if (!full) return true;
  EXPECT_FALSE(full->error.has_value()) << data;
  const ChunkView view = ViewOf(*full);
  EXPECT_EQ(plain.has_choice, view.has_choice) << data;
  EXPECT_EQ(plain.role, view.role) << data;
  EXPECT_EQ(plain.content, view.content) << data;
  EXPECT_EQ(plain.reasoning, view.reasoning) << data;
  EXPECT_EQ(plain.finish_reason, view.finish_reason) << data;
  EXPECT_EQ(plain.model, view.model) << data;
  EXPECT_EQ(plain.usage, view.usage) << data;
  return true;
}

TEST(ReadPlainChunk, ReadsWhatServersSend) {
  for (const std::string& event : kCompletionEvents) {
    EXPECT_TRUE(AgreesWhereItReads(event, ChunkKind::kCompletions)) << event;
  }
  for (const std::string& event : kChatEvents) {
    EXPECT_TRUE(AgreesWhereItReads(event, ChunkKind::kChat)) << event;
  }
}

TEST(ReadPlainChunk, LeavesErrorsAndOddFormsToTheFullParser) {
  for (const std::string& event : kOddEvents) {
    for (const ChunkKind kind : {ChunkKind::kChat, ChunkKind::kCompletions}) AgreesWhereItReads(event, kind);
  }
  for (size_t i = 0; i < 5; ++i) {
    ChunkView view;
    EXPECT_FALSE(ReadPlainChunk(kOddEvents[i], ChunkKind::kCompletions, &view)) << kOddEvents[i];
  }
}

// Cuts, swaps, doubles and flips bytes and pieces of real events; most come out broken, many do not.
TEST(ReadPlainChunk, SaysWhatTheFullParserSaysOfDamagedEvents) {
  std::vector<std::string> seeds = kCompletionEvents;
  seeds.insert(seeds.end(), kChatEvents.begin(), kChatEvents.end());
  seeds.insert(seeds.end(), kOddEvents.begin(), kOddEvents.end());
  const std::vector<std::string> pieces = {"\"text\":\"x\",",
                                           "\"choices\":[],",
                                           "null",
                                           "{}",
                                           "[]",
                                           "\\u00e9",
                                           "\\ud800",
                                           "\\",
                                           "\"",
                                           "-0",
                                           "1e400",
                                           "\"error\":null,",
                                           "\"error\":{},",
                                           "\"model\":\"n\",",
                                           "\xC3\xA9",
                                           "\xFF",
                                           ",",
                                           "  \n"};
  std::mt19937 random(7);
  const auto below = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
  int read = 0;
  for (int round = 0; round < 40000; ++round) {
    std::string event = seeds[below(seeds.size())];
    for (size_t change = below(3) + 1; change > 0 && !event.empty(); --change) {
      const size_t at = below(event.size());
      switch (below(5)) {
        case 0:
          event.erase(at, below(4) + 1);
          break;
        case 1:
          event.insert(at, pieces[below(pieces.size())]);
          break;
        case 2:
          event[at] = static_cast<char>(random());
          break;
        case 3:
          event.insert(at, event.substr(below(event.size()), below(30)));
          break;
        default:
          event[at] = event[below(event.size())];
      }
    }
    for (const ChunkKind kind : {ChunkKind::kChat, ChunkKind::kCompletions}) {
      read += AgreesWhereItReads(event, kind) ? 1 : 0;
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(read, 5000) << "damage must leave enough events to compare";
}

}  // namespace
}  // namespace assay::wire
