#pragma once

#include <array>
#include <functional>
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

// A CSV with GPQA's columns, matched by exact header. Errors: missing column (named), empty file, a row with
// a wrong number of fields (its line), duplicate Record ID.
Result<std::vector<Question>> LoadQuestions(const Path& csv);

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

// The user message of the gpt-oss template.
std::string GptOssPrompt(const Question& question, const std::array<int, 4>& permutation);

// Letters from a response, "" when unparsed. `strict`: the last explicit declaration. `compat`: what
// gpt-oss's grader returns, first-character fallback included (so it may be any character).
std::string GradeStrict(std::string_view response);
std::string GradeCompat(std::string_view response);

struct GpqaOptions {
  Path dataset;
  std::optional<int64_t> subset;
  int repeats = 1;
  uint64_t seed = 0;
  std::string model;
  std::string reasoning_effort = "low";
  double temperature = 1.0;
  std::optional<int64_t> sampling_seed;  // request i sends sampling_seed + i
  int64_t max_tokens = 4096;
  int concurrency = 32;
  int retries = 2;  // of a request that failed in transport or with 5xx
  double request_timeout_s = 600;
  double idle_timeout_s = 120;
  std::string grader = "strict";  // which grader decides `correct`
};

// Asks every planned sample at base_url (".../v1" is appended) over /v1/chat/completions, streaming. Returns
// an error only when the data set cannot be used; a request that failed is a failed sample. `on_sample` (may
// be empty) sees each sample as it finishes, so that it can be kept on disk.
Result<record::AccuracyRecord> RunGpqa(const std::string& base_url, const GpqaOptions& options,
                                       Progress& progress,
                                       const std::function<void(const record::QuestionSample&)>& on_sample);

}  // namespace assay::evals
