#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

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

// How published checkpoints store the experts.
enum class WeightLayout {
  kMxfp4,       // openai/gpt-oss: blocks and scales, all experts in one tensor
  kBf16,        // dequantised, input axis first
  kQuark,       // MXFP4, a tensor for each expert
  kQuarkFp8,    // with static FP8 scales of activations
  kQuarkFp8Kv,  // and of keys and values
};

struct RandomCheckpoint {
  CheckpointShape shape;
  WeightLayout layout = WeightLayout::kMxfp4;
  uint64_t seed = 1;
  int64_t shards = 1;
  std::vector<int32_t> eos_token_ids;  // empty: the last of the vocabulary
};

struct WriteControl {
  int threads = 0;                           // 0: one for each core
  const std::atomic<bool>* stop = nullptr;   // set: give up with kInterrupted
  std::function<void(int64_t)> wrote_bytes;  // now and then, on a writing thread
};

// Writes config.json, generation_config.json and model.safetensors (or its shards and their index) with
// random weights, piece by piece: no tensor is ever whole in memory. The same shape and seed give the same
// bytes everywhere, and the same weights in every layout. Magnitudes are those of a trained model, so
// activations neither vanish nor explode.
Status WriteRandomCheckpoint(const Path& folder, const RandomCheckpoint& checkpoint,
                             const WriteControl& control = {});

// Of all weight files together.
int64_t RandomCheckpointBytes(const RandomCheckpoint& checkpoint);

std::string RandomConfigJson(const RandomCheckpoint& checkpoint);

}  // namespace assay::engine
