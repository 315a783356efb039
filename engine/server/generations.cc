#include "engine/server/generations.h"

#include <utility>

#include "engine/server/errors.h"

namespace assay::engine {
namespace {

ChoiceEnd EndOf(const GeneratedToken& token, const ChoiceText& text, const wire::Sampling& sampling,
                const RequestRules& rules) {
  ChoiceEnd end;
  if (token.finish == FinishReason::kStop) {
    end = {"stop", StopReason(token.id, sampling, rules)};
  } else if (text.Stopped()) {
    end = {"stop", text.StoppedBy()};
  } else {
    end = {"length", nullptr};
  }
  if (end.finish_reason == "stop" && text.Calls() > 0) end.finish_reason = "tool_calls";
  return end;
}

}  // namespace

Generations::Generations(HttpServer& http, Scheduler& scheduler, Metrics& metrics, const RequestRules& rules)
    : scheduler_(scheduler),
      metrics_(metrics),
      rules_(rules),
      mailbox_([this, &http] { http.Post([this] { DeliverTokens(); }); }) {}

void Generations::Start(Job job, const std::shared_ptr<Exchange>& client) {
  const uint64_t key = next_key_++;
  Work& work = works_[key];
  work.received = RealClock().Now();
  work.sampling = std::move(job.sampling);
  work.answers_each = job.answers_each;
  work.chat = job.chat;
  work.unfinished = job.tasks.size();
  work.prompt_seen.resize(job.tasks.size() / job.answers_each);
  work.answer = std::move(job.answer);
  client->OnGone([this, key] { OnGone(key); });
  for (size_t i = 0; i < job.tasks.size(); ++i) {
    Choice& choice = work.choices.emplace_back(Choice{.text = std::move(job.tasks[i].text)});
    choice.prompt_tokens = static_cast<int64_t>(job.tasks[i].request.prompt.size());
    if (i % job.answers_each == 0) work.prompt_tokens += choice.prompt_tokens;
    choice.scheduler_id =
        scheduler_.Submit(std::move(job.tasks[i].request),
                          [this, key, i](const GeneratedToken& token) { mailbox_.Put(key, i, token); });
  }
}

void Generations::DeliverTokens() {
  const TimePoint now = RealClock().Now();
  for (const TokenMailbox::Letter& letter : mailbox_.TakeAll()) {
    const auto at = works_.find(letter.key);
    if (at != works_.end()) Deliver(at, letter.choice, letter.token, now);
  }
}

void Generations::Deliver(WorkMap::iterator at, size_t index, const GeneratedToken& token, TimePoint now) {
  Work& work = at->second;
  Choice& choice = work.choices[index];
  if (choice.ended) return;
  if (token.finish == FinishReason::kError || token.finish == FinishReason::kAbort) {
    return Fail(at, token, now);
  }
  if (!std::exchange(work.first_token_seen, true)) metrics_.FirstToken(Seconds(now - work.received));
  CountPrompt(work, index, token);
  choice.tokens = token.output_tokens;
  if (token.output_tokens == 1) {
    choice.queued = token.queue_seconds;
    choice.prefilled = token.prefill_seconds;
  } else {
    metrics_.NextToken(token.since_previous_seconds);
    choice.between += token.since_previous_seconds;
  }

  TextDelta delta = choice.text.Add(token);
  work.answer->Add(index, std::move(delta), UsageOf(work, choice));
  if (token.finish == FinishReason::kNone && !choice.text.Stopped()) return;

  const ChoiceEnd end = EndOf(token, choice.text, work.sampling, rules_);
  if (token.finish == FinishReason::kNone) scheduler_.Abort(choice.scheduler_id);
  work.answer->Finish(index, end, UsageOf(work, choice));
  EndChoice(work, choice, end.finish_reason == "length" ? "length" : "stop", now);
  if (--work.unfinished > 0) return;
  work.answer->Close(UsageOf(work));
  works_.erase(at);
}

// One choice that fails takes the others with it: the client is told of one error.
void Generations::Fail(WorkMap::iterator at, const GeneratedToken& token, TimePoint now) {
  Work& work = at->second;
  const bool failed = token.finish == FinishReason::kError;
  work.answer->Fail(failed ? MakeError(500, token.error) : MakeError(503, "the request was ended"));
  for (Choice& choice : work.choices) {
    if (choice.ended) continue;
    scheduler_.Abort(choice.scheduler_id);
    EndChoice(work, choice, failed ? "error" : "abort", now);
  }
  works_.erase(at);
}

void Generations::EndChoice(const Work& work, Choice& choice, const std::string& reason, TimePoint now) {
  choice.ended = true;
  EndedRequest ended;
  ended.finished_reason = reason;
  ended.prompt_tokens = choice.prompt_tokens;
  ended.generated_tokens = choice.tokens;
  ended.whole_seconds = Seconds(now - work.received);
  ended.queue_seconds = choice.queued;
  ended.prefill_seconds = choice.prefilled;
  ended.decode_seconds = choice.between;
  metrics_.Ended(ended);
}

void Generations::Abort(WorkMap::iterator at, TimePoint now) {
  for (Choice& choice : at->second.choices) {
    if (choice.ended) continue;
    scheduler_.Abort(choice.scheduler_id);
    EndChoice(at->second, choice, "abort", now);
  }
  works_.erase(at);
}

void Generations::OnGone(uint64_t key) {
  const auto at = works_.find(key);
  if (at != works_.end()) Abort(at, RealClock().Now());
}

void Generations::Stop() {
  while (!works_.empty()) {
    const auto at = works_.begin();
    at->second.answer->Fail(MakeError(503, "the engine is stopping"));
    Abort(at, RealClock().Now());
  }
}

// Answers to one prompt find what the first of them has left in the prefix cache, which saved the client
// nothing: what counts for a prompt is what its first answer found.
void Generations::CountPrompt(Work& work, size_t index, const GeneratedToken& token) {
  if (index % work.answers_each != 0) return;
  const size_t prompt = index / work.answers_each;
  if (work.prompt_seen[prompt]) return;
  work.prompt_seen[prompt] = true;
  work.cached_tokens += token.cached_tokens;
}

wire::Usage Generations::UsageOf(const Work& work, const Choice& choice) {
  wire::Usage usage;
  usage.prompt_tokens = work.prompt_tokens;
  usage.cached_tokens = work.cached_tokens;
  usage.completion_tokens = choice.tokens;
  if (work.chat) usage.reasoning_tokens = choice.text.ReasoningTokens();
  return usage;
}

wire::Usage Generations::UsageOf(const Work& work) {
  wire::Usage usage = UsageOf(work, work.choices.front());
  for (size_t i = 1; i < work.choices.size(); ++i) {
    const wire::Usage one = UsageOf(work, work.choices[i]);
    usage.completion_tokens += one.completion_tokens;
    if (work.chat) *usage.reasoning_tokens += *one.reasoning_tokens;
  }
  return usage;
}

}  // namespace assay::engine
