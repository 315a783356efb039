#pragma once

#include "engine/model/json_fields.h"

namespace assay::engine {

// How the experts are stored. Everything else is bf16.
enum class ExpertFormat {
  kMxfp4,       // openai/gpt-oss: all experts of a layer in one tensor
  kBf16,        // dequantised, input axis first
  kQuarkMxfp4,  // AMD Quark: MXFP4, a tensor for each expert
};

// How gates and ups share the rows of gate_up_proj.
enum class GateUpOrder {
  kInterleaved,  // gate 0, up 0, gate 1, ...: as openai/gpt-oss
  kSeparate,     // all gates, then all ups
};

// What quantization_config says, as far as we run it.
struct Quantization {
  ExpertFormat experts = ExpertFormat::kMxfp4;
  GateUpOrder gate_up_order = GateUpOrder::kInterleaved;
  // Static FP8 (E4M3FN), one scale a tensor.
  bool fp8_activations = false;  // what goes into either product of an expert
  bool fp8_kv_cache = false;
};

// `config` is the whole config.json. No quantization_config means bf16. A scheme that we do not run is
// refused by the name of the field that asks for it.
Result<Quantization> ReadQuantization(const JsonFields& config, int64_t layers);

}  // namespace assay::engine
