#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "evals/progress.h"
#include "record/run_record.h"

namespace assay::evals {

struct ReproducibilityOptions {
  std::string model;
  bool any_model = false;  // answers may name another
  int64_t num_prompts = 16;
  int64_t input_len = 64, output_len = 32;
  double temperature = 1;  // 0 would not show whether a seed is honoured
  int64_t seed = 0;
  int32_t vocab_size = 0;  // prompts draw ids below this less `special_ids`
  std::vector<int32_t> special_ids;
  std::vector<std::string> headers;  // "Name: value", with every request
  double request_timeout_s = 600;
};

// Asks the same seeded requests one at a time and then all at once, and compares the texts: a seed that is
// ignored, a neighbour's tokens, another request's KV block or a wrongly reused prefix all show as texts that
// differ. Only a server that promises the same answer in any batch can be held to it.
Result<record::ReproducibilityRecord> RunReproducibility(const std::string& base_url,
                                                         const ReproducibilityOptions& options,
                                                         Progress& progress);

}  // namespace assay::evals
