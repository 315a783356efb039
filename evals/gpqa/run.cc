#include <fmt/format.h>

#include <utility>

#include "base/hash.h"
#include "evals/gpqa/asking.h"
#include "evals/gpqa/dataset.h"
#include "evals/gpqa/question_text.h"

namespace assay::evals {
namespace {

Status CheckOptions(const GpqaOptions& options) {
  if (options.grader != "strict" && options.grader != "compat") {
    return Fail(ErrorKind::kUsage, "grader must be strict or compat, got '{}'", options.grader);
  }
  if (options.api != "chat" && options.api != "responses") {
    return Fail(ErrorKind::kUsage, "api must be chat or responses, got '{}'", options.api);
  }
  if (options.stop != "never" && options.stop != "when-certain") {
    return Fail(ErrorKind::kUsage, "stop must be never or when-certain, got '{}'", options.stop);
  }
  if (options.concurrency < 1) {
    return Fail(ErrorKind::kUsage, "concurrency must be at least 1, got {}", options.concurrency);
  }
  if (options.max_tokens < 1) {
    return Fail(ErrorKind::kUsage, "max_tokens must be at least 1, got {}", options.max_tokens);
  }
  return {};
}

bool EndsWhenCertain(const GpqaOptions& options) {
  return options.stop == "when-certain";
}

struct Prepared {
  GpqaPlan plan;
  std::string dataset, dataset_hash;
};

Result<Prepared> Prepare(const GpqaOptions& options) {
  RETURN_IF_ERROR(CheckOptions(options));
  Prepared prepared;
  ASSIGN_OR_RETURN(const NamedText csv,
                   ReadDataset(options.dataset, options.variant, options.dataset_sha256));
  ASSIGN_OR_RETURN(prepared.plan.questions, ParseQuestions(csv.text, csv.name));
  auto samples = PlanSamples(prepared.plan.questions, options.subset, options.repeats, options.seed);
  if (!samples) return FailWithin(csv.name, std::move(samples).error());
  prepared.plan.samples = std::move(*samples);
  ASSIGN_OR_RETURN(prepared.plan.prompt, LoadPrompt(options.prompt));
  const size_t n = prepared.plan.samples.size();
  if (EndsWhenCertain(options)) {
    prepared.plan.order = RandomOrder(n, options.seed);
  } else {
    for (size_t i = 0; i < n; ++i) prepared.plan.order.push_back(i);
  }
  prepared.dataset = Path(csv.name).filename().string();
  prepared.dataset_hash = Sha256(csv.text);
  return prepared;
}

record::AccuracyRecord RecordOf(const GpqaOptions& options, const Prepared& prepared) {
  record::AccuracyRecord accuracy;
  accuracy.dataset = prepared.dataset;
  accuracy.dataset_hash = prepared.dataset_hash;
  accuracy.grader = options.grader;
  accuracy.prompt_template = prepared.plan.prompt.name;
  accuracy.api = options.api;
  accuracy.reasoning_effort = options.reasoning_effort;
  accuracy.repeats = options.repeats;
  accuracy.questions = options.subset.value_or(static_cast<int64_t>(prepared.plan.questions.size()));
  accuracy.temperature = options.temperature;
  accuracy.max_tokens = options.max_tokens;
  accuracy.concurrency = options.concurrency;
  accuracy.has_text = options.include_text;
  return accuracy;
}

}  // namespace

Result<int64_t> CheckGpqa(const GpqaOptions& options) {
  ASSIGN_OR_RETURN(const Prepared prepared, Prepare(options));
  return static_cast<int64_t>(prepared.plan.samples.size());
}

Result<std::map<std::string, std::string>> WhatIsAsked(const GpqaOptions& options) {
  ASSIGN_OR_RETURN(const Prepared prepared, Prepare(options));
  return std::map<std::string, std::string>{
      {"dataset_sha256", prepared.dataset_hash},
      {"prompt_sha256", Sha256(prepared.plan.prompt.text)},
      {"model", options.model},
      {"api", options.api},
      {"grader", options.grader},
      {"reasoning_effort", options.reasoning_effort},
      {"temperature", fmt::format("{}", options.temperature)},
      {"max_tokens", fmt::format("{}", options.max_tokens)},
      {"sampling_seed", options.sampling_seed ? fmt::format("{}", *options.sampling_seed) : "none"},
  };
}

Status LeaveOutQuestions(const GpqaOptions& options, std::vector<std::string>& lines) {
  if (options.include_text) return {};
  ASSIGN_OR_RETURN(const Prepared prepared, Prepare(options));
  QuestionText questions;
  for (const Shown& shown : prepared.plan.samples)
    questions.Add(Render(prepared.plan.prompt, prepared.plan.questions[shown.question], shown.permutation));
  for (std::string& line : lines) line = questions.LeaveOut(line);
  return {};
}

Result<record::AccuracyRecord> RunGpqa(const std::string& base_url, const GpqaOptions& options,
                                       Progress& progress, const GpqaHooks& hooks) {
  ASSIGN_OR_RETURN(const Prepared prepared, Prepare(options));
  record::AccuracyRecord accuracy = RecordOf(options, prepared);
  std::vector<int64_t> looks;
  if (EndsWhenCertain(options) && hooks.looks && hooks.decided) {
    looks = hooks.looks(static_cast<int64_t>(prepared.plan.samples.size()));
    accuracy.sequential = record::Sequential{options.stop_error, looks, false, 0};
  }
  progress.done = 0;
  Asking asking(base_url, options, prepared.plan, progress, hooks, std::move(looks),
                [&](std::vector<record::QuestionSample> part) {
                  record::AccuracyRecord so_far = accuracy;
                  so_far.samples = std::move(part);
                  return hooks.decided(so_far);
                });
  RETURN_IF_ERROR(asking.Keep(hooks.kept));
  accuracy.kept = progress.done;

  const TimePoint start = RealClock().Now();
  asking.Run();
  accuracy.duration_s = Seconds(RealClock().Now() - start);
  accuracy.samples = asking.TakeSamples();
  accuracy.complete = accuracy.samples.size() == prepared.plan.samples.size();
  if (accuracy.sequential) {
    accuracy.sequential->stopped = asking.StoppedEarly();
    accuracy.sequential->sent = accuracy.kept + asking.Sent();
  }
  return accuracy;
}

}  // namespace assay::evals
