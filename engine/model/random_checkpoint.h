#pragma once

#include <cstdint>

#include "base/file.h"
#include "base/result.h"

namespace assay::engine {

// Sizes of a checkpoint to make; what is not named here is as gpt-oss has it.
struct CheckpointShape {
  int64_t vocab_size = 256, hidden_size = 64, intermediate_size = 64, num_hidden_layers = 2;
  int64_t num_attention_heads = 4, num_key_value_heads = 2, head_dim = 16;
  int64_t num_local_experts = 8, num_experts_per_tok = 4;
  int64_t sliding_window = 128, max_position_embeddings = 131072;
};

// Writes config.json, generation_config.json and model.safetensors (or `shards` files and their index) with
// random weights in the MXFP4 layout of openai/gpt-oss. The same shape and seed give the same bytes
// everywhere. Magnitudes are those of a trained model, so activations neither vanish nor explode.
Status WriteRandomCheckpoint(const Path& folder, const CheckpointShape& shape, uint64_t seed,
                             int64_t shards = 1);

}  // namespace assay::engine
