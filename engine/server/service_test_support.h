#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "engine/scheduler/scheduler.h"
#include "engine/server/http_server.h"
#include "engine/server/scripted_model.h"
#include "engine/server/service.h"
#include "testing/temp_dir.h"

namespace assay::engine {

// tokenizer.json with one token for each byte and harmony's control tokens.
inline void WriteByteTokenizer(const Path& folder) {
  const auto utf8 = [](uint32_t code) {
    std::string out;
    if (code < 0x80) {
      out += static_cast<char>(code);
    } else {
      out += static_cast<char>(0xC0 | (code >> 6));
      out += static_cast<char>(0x80 | (code & 0x3F));
    }
    return out;
  };
  nlohmann::json vocabulary = nlohmann::json::object();
  uint32_t next = 256;  // GPT-2's alphabet: unprintable bytes move to U+0100 and on
  for (uint32_t byte = 0; byte < 256; ++byte) {
    const bool printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    vocabulary[utf8(printable ? byte : next++)] = byte;
  }
  nlohmann::json added = nlohmann::json::array();
  const struct {
    TestToken id;
    const char* text;
  } controls[] = {{kStart, "<|start|>"},         {kEnd, "<|end|>"},
                  {kMessage, "<|message|>"},     {kChannel, "<|channel|>"},
                  {kConstrain, "<|constrain|>"}, {kCall, "<|call|>"},
                  {kReturn, "<|return|>"},       {kEndOfText, "<|endoftext|>"}};
  for (const auto& control : controls) {
    added.push_back({{"id", static_cast<int>(control.id)},
                     {"content", control.text},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", true}});
  }
  const nlohmann::json split = {{"type", "Split"},
                                {"pattern", {{"Regex", "\\p{L}+|\\p{N}{1,3}|[^\\p{L}\\p{N}]"}}},
                                {"behavior", "Isolated"},
                                {"invert", false}};
  const nlohmann::json bytes = {
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", false}};
  const nlohmann::json file = {
      {"version", "1.0"},
      {"truncation", nullptr},
      {"padding", nullptr},
      {"added_tokens", added},
      {"normalizer", nullptr},
      {"pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", {split, bytes}}}},
      {"post_processor", nullptr},
      {"decoder",
       {{"type", "ByteLevel"}, {"add_prefix_space", true}, {"trim_offsets", true}, {"use_regex", true}}},
      {"model",
       {{"type", "BPE"},
        {"dropout", nullptr},
        {"unk_token", nullptr},
        {"continuing_subword_prefix", nullptr},
        {"end_of_word_suffix", nullptr},
        {"fuse_unk", false},
        {"byte_fallback", false},
        {"ignore_merges", true},
        {"vocab", vocabulary},
        {"merges", nlohmann::json::array()}}}};
  std::ofstream(folder / "tokenizer.json") << file.dump();
}

// Requests for a script.
inline nlohmann::json Chat(const std::string& script, const nlohmann::json& more = nlohmann::json::object()) {
  nlohmann::json body = {{"model", "scripted"},
                         {"messages", {{{"role", "user"}, {"content", "say:" + script + "|"}}}}};
  body.update(more);
  return body;
}
inline nlohmann::json Completion(const std::string& script,
                                 const nlohmann::json& more = nlohmann::json::object()) {
  nlohmann::json body = {{"model", "scripted"}, {"prompt", "say:" + script + "|"}};
  body.update(more);
  return body;
}

// A whole engine in this process, with a scripted model, listening on a port of its own.
class TestServer {
 public:
  struct Options {
    int64_t num_blocks = 4096;
    HttpLimits limits;
    ServiceOptions service;
    std::function<void()> before_forward;
  };

  TestServer() : TestServer(Options{}) {}
  explicit TestServer(Options options)
      : tokenizer_(MakeTokenizer()),
        model_(kTestVocabulary, options.num_blocks, kBlockSize, ScriptRule),
        blocks_(options.num_blocks) {
    model_.before_forward = std::move(options.before_forward);
    SchedulerOptions scheduler;
    scheduler.num_blocks = options.num_blocks;
    scheduler.block_size = kBlockSize;
    scheduler.max_num_seqs = 256;
    scheduler_ = Scheduler::Start(model_, scheduler);
    http_ = std::move(*HttpServer::Bind("127.0.0.1", 0, options.limits));
    options.service.model_name = "scripted";
    options.service.vocab_size = kTestVocabulary;
    options.service.cache = {options.num_blocks, kBlockSize};
    options.service.generation.eos_token_ids = {kReturn, kCall, kEndOfText};
    const auto tokens = tokenizer::FindHarmonyTokens(tokenizer_);
    CHECK(tokens.has_value());
    service_ = std::make_unique<Service>(*http_, *scheduler_, tokenizer_, *tokens, options.service);
    CHECK(http_->Listen().has_value());
    thread_ = std::thread([this] { http_->Run(); });
  }

  ~TestServer() {
    Stop();
    thread_.join();
    scheduler_.reset();
  }

  void Stop() {
    http_->Post([this] {
      service_->Stop();
      http_->Stop(std::chrono::milliseconds(500));
    });
  }

  int Port() const { return http_->Port(); }
  const Scheduler& Engine() const { return *scheduler_; }

  // Waits until the scheduler holds no request and every block is free; false after ten seconds.
  bool BecomesFree() const {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (std::chrono::steady_clock::now() < limit) {
      const SchedulerStats stats = scheduler_->Stats();
      if (stats.free_blocks == blocks_ && stats.running + stats.waiting == 0) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }

 private:
  static constexpr int64_t kBlockSize = 16;

  static tokenizer::Tokenizer MakeTokenizer() {
    const testing::TempDir folder;
    WriteByteTokenizer(folder.path());
    auto tokenizer = tokenizer::Tokenizer::Load(folder.path());
    if (!tokenizer) CheckFailed(__FILE__, __LINE__, tokenizer.error().message);
    return std::move(*tokenizer);
  }

  tokenizer::Tokenizer tokenizer_;
  FakeModel model_;
  int64_t blocks_;
  std::unique_ptr<Scheduler> scheduler_;
  std::unique_ptr<HttpServer> http_;
  std::unique_ptr<Service> service_;
  std::thread thread_;
};

}  // namespace assay::engine
