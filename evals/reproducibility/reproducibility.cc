#include "evals/reproducibility/reproducibility.h"

#include <fmt/format.h>

#include <algorithm>

#include "evals/serving/serving.h"

namespace assay::evals {
namespace {

struct Pass {
  record::ServingRecord serving;
  std::vector<std::string> texts;
};

ServingOptions LoadOf(const ReproducibilityOptions& options, int64_t concurrency) {
  ServingOptions load;
  load.name = "reproducibility";
  load.model = options.model;
  load.any_model = options.any_model;
  load.input_len = options.input_len;
  load.output_len = options.output_len;
  load.num_prompts = options.num_prompts;
  load.temperature = options.temperature;
  load.body_patch = fmt::format(R"({{"seed": {}}})", options.seed);
  load.vocab_size = options.vocab_size;
  load.special_ids = options.special_ids;
  load.headers = options.headers;
  load.max_concurrency = concurrency;
  load.warmups = 0;
  load.seed = static_cast<uint64_t>(options.seed);
  load.request_timeout_s = options.request_timeout_s;
  return load;
}

Result<Pass> Ask(const std::string& base_url, const ServingOptions& load, Progress& progress) {
  Pass pass;
  ASSIGN_OR_RETURN(pass.serving, RunServing(base_url, load, progress, {}, &pass.texts));
  return pass;
}

size_t FirstDifference(const std::string& a, const std::string& b) {
  return static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

}  // namespace

Result<record::ReproducibilityRecord> RunReproducibility(const std::string& base_url,
                                                         const ReproducibilityOptions& options,
                                                         Progress& progress) {
  ASSIGN_OR_RETURN(const Pass alone, Ask(base_url, LoadOf(options, 1), progress));
  ASSIGN_OR_RETURN(const Pass together, Ask(base_url, LoadOf(options, options.num_prompts), progress));

  record::ReproducibilityRecord record;
  record.requests = options.num_prompts;
  record.input_len = options.input_len;
  record.output_len = options.output_len;
  record.temperature = options.temperature;
  record.seed = options.seed;
  record.duration_s = alone.serving.duration_s + together.serving.duration_s;
  record.complete = alone.serving.complete && together.serving.complete;
  if (!record.complete) return record;  // it was stopped: what is missing is no difference
  for (size_t i = 0; i < alone.texts.size(); ++i) {
    const bool failed =
        !alone.serving.requests[i].error.empty() || !together.serving.requests[i].error.empty();
    record.failed += failed;
    if (failed || alone.texts[i] == together.texts[i]) continue;
    record.differences.push_back(fmt::format("request {}: from character {} on", i,
                                             FirstDifference(alone.texts[i], together.texts[i])));
  }
  return record;
}

}  // namespace assay::evals
