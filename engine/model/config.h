#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "engine/model/quantization.h"

namespace assay::engine {

// config.json of a gpt-oss checkpoint. Nothing is defaulted silently: a missing field is an error that names
// it.
struct ModelConfig {
  int64_t vocab_size, hidden_size, intermediate_size, num_hidden_layers;
  int64_t num_attention_heads, num_key_value_heads, head_dim;
  int64_t num_local_experts, num_experts_per_tok;
  int64_t sliding_window, max_position_embeddings;
  std::vector<bool> sliding;  // [layers], from layer_types
  double rms_norm_eps, swiglu_limit;
  double rope_theta;
  // YaRN
  double rope_factor, rope_beta_fast, rope_beta_slow;
  int64_t rope_original_max_position;
  bool rope_truncate;
  Quantization quantization;
};
Result<ModelConfig> LoadModelConfig(const Path& folder);
// `source` names the text in errors.
Result<ModelConfig> ParseModelConfig(const std::string& text, const std::string& source);

struct GenerationConfig {
  std::vector<int32_t> eos_token_ids;
  bool do_sample = false;
  double temperature = 1, top_p = 1;
  int64_t top_k = 0;
};
Result<GenerationConfig> LoadGenerationConfig(const Path& folder);
Result<GenerationConfig> ParseGenerationConfig(const std::string& text, const std::string& source);

}  // namespace assay::engine
