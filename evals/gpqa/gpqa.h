#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "evals/progress.h"
#include "record/run_record.h"

namespace assay::evals {

struct Question {
  std::string id;  // Record ID
  std::string text;
  std::array<std::string, 4> choices;  // base order: correct, incorrect 1..3
  std::string domain, band;
};

// The order of openai/gpt-oss: Random(seed); a subset is sampled first, then the list is repeated whole, then
// each element draws sample(range(4), 4).
struct Shown {
  size_t question;  // index into the list given
  int repeat;
  std::array<int, 4> permutation;  // shown[i] = choices[permutation[i]]
  char expected;                   // A..D
};
Result<std::vector<Shown>> PlanSamples(const std::vector<Question>& questions, std::optional<int64_t> subset,
                                       int repeats, uint64_t seed);

// In which order the planned samples are asked when asking may end early:
// random.Random(seed).sample(range(n), n) of Python, so that what was asked so far is a fair draw from the
// whole at any moment.
std::vector<size_t> RandomOrder(size_t n, uint64_t seed);

// The letter in a response and the rule that decided. `strict`: the last explicit declaration; no letter and
// no rule when there is none. `compat`: what gpt-oss's grader returns, first-character fallback included (so
// it may be any character).
struct Grade {
  std::string letter;
  std::string_view rule;
};
Grade GradeStrict(std::string_view response);
Grade GradeCompat(std::string_view response);
// Every compat rule, by its place in gpt-oss's list (0 to 12), that has a hit anywhere in the response.
std::vector<int> CompatHits(std::string_view response);

struct GpqaOptions {
  Path dataset;                // a CSV; a folder or a zip together with `variant`
  std::string variant;         // diamond | main | extended
  std::string dataset_sha256;  // of the file `dataset`; "" takes any
  std::optional<int64_t> subset;
  int repeats = 1;
  uint64_t seed = 0;
  std::string model;
  bool any_model = false;                // answers may name another
  std::string prompt = "gpt-oss";        // a template's name or its file (prompt.h)
  std::string api = "chat";              // chat | responses
  std::string api_key;                   // sent as a bearer token when not empty
  std::string reasoning_effort = "low";  // "default": none is sent
  double temperature = 1.0;
  std::optional<int64_t> sampling_seed;  // request i sends sampling_seed + i
  int64_t max_tokens = 4096;
  int concurrency = 32;
  int retries = 2;  // of a request that failed in transport or with 5xx
  double request_timeout_s = 600;
  double idle_timeout_s = 120;
  std::string grader = "strict";  // which grader decides `correct`
  bool include_text = false;      // keep prompts and answers in the samples
  std::string stop = "never";     // when-certain: ask in RandomOrder and end when Hooks::decided says so
  double stop_error = 0.05;       // how often that may differ from the whole run, each way
};

struct GpqaHooks {
  // Each sample as it finishes, so that it can be kept on disk. May be empty.
  std::function<void(const record::QuestionSample&)> on_sample = {};
  // Samples that an earlier, killed attempt already has: they are not asked again.
  std::vector<record::QuestionSample> kept = {};
  // Once a larger share of all samples has failed (and ten of them) the eval is INVALID whatever comes:
  // asking ends.
  double max_failed_share = 1;
  // With stop: when-certain. Of so many planned samples, after which numbers of them it is looked ...
  std::function<std::vector<int64_t>(int64_t planned)> looks = {};
  // ... whether the verdict is clear. The record so far holds exactly the first so many of the asking order.
  std::function<bool(const record::AccuracyRecord&)> decided = {};
};

// Reads the data set, the prompt and the plan as RunGpqa will: what is wrong with them is known before a
// server is started.
Result<int64_t> CheckGpqa(const GpqaOptions& options);

// What an answer depends on, by name: the hashes of data set and prompt, the model, how it is asked and
// graded. Samples of two attempts belong together only where all of it is equal.
Result<std::map<std::string, std::string>> WhatIsAsked(const GpqaOptions& options);

// Takes what servers log of the questions out of lines of theirs, unless text is wanted.
Status LeaveOutQuestions(const GpqaOptions& options, std::vector<std::string>& lines);

// Asks every planned sample at base_url ("/v1/..." is appended), streaming. Returns an error only when the
// data set cannot be used; a request that failed is a failed sample.
Result<record::AccuracyRecord> RunGpqa(const std::string& base_url, const GpqaOptions& options,
                                       Progress& progress, const GpqaHooks& hooks = {});

}  // namespace assay::evals
