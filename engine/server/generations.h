#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "engine/scheduler/scheduler.h"
#include "engine/server/answer.h"
#include "engine/server/choice_text.h"
#include "engine/server/http_server.h"
#include "engine/server/metrics.h"
#include "engine/server/request_rules.h"
#include "engine/server/token_mailbox.h"

namespace assay::engine {

// One choice of an answer: what the scheduler is asked, and how its tokens become text.
struct Task {
  GenerationRequest request;
  ChoiceText text;
};

// What a client has asked for, ready to be computed.
struct Job {
  std::vector<Task> tasks;  // by index of the choice
  size_t answers_each = 1;  // tasks with one prompt stand together
  bool chat = true;         // usage counts reasoning
  wire::Sampling sampling;
  std::unique_ptr<Answer> answer;
};

// The jobs under way, between the scheduler that computes tokens and the clients that wait for them. On the
// server's thread; tokens come over from the scheduler's in batches.
class Generations {
 public:
  // The scheduler must end before this and `http` do.
  Generations(HttpServer& http, Scheduler& scheduler, Metrics& metrics, const RequestRules& rules);

  void Start(Job job, const std::shared_ptr<Exchange>& client);
  // Ends every answer with an error.
  void Stop();

 private:
  struct Choice {
    uint64_t scheduler_id = 0;
    ChoiceText text;
    int64_t prompt_tokens = 0, tokens = 0;
    double queued = 0, prefilled = 0, between = 0;  // seconds; the last is the sum over its tokens
    bool ended = false;
  };
  struct Work {
    TimePoint received;
    wire::Sampling sampling;
    std::vector<Choice> choices;
    size_t answers_each = 1;
    bool chat = true;
    bool first_token_seen = false;
    size_t unfinished = 0;
    int64_t prompt_tokens = 0, cached_tokens = 0;  // of all prompts
    std::vector<bool> prompt_seen;
    std::unique_ptr<Answer> answer;
  };
  using WorkMap = std::unordered_map<uint64_t, Work>;

  void DeliverTokens();
  void Deliver(WorkMap::iterator at, size_t index, const GeneratedToken& token, TimePoint now);
  void Fail(WorkMap::iterator at, const GeneratedToken& token, TimePoint now);
  void EndChoice(const Work& work, Choice& choice, const std::string& reason, TimePoint now);
  void Abort(WorkMap::iterator at, TimePoint now);
  void OnGone(uint64_t key);
  static void CountPrompt(Work& work, size_t index, const GeneratedToken& token);
  static wire::Usage UsageOf(const Work& work, const Choice& choice);
  static wire::Usage UsageOf(const Work& work);

  Scheduler& scheduler_;
  Metrics& metrics_;
  const RequestRules& rules_;
  TokenMailbox mailbox_;
  WorkMap works_;
  uint64_t next_key_ = 0;
};

}  // namespace assay::engine
