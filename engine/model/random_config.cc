#include <nlohmann/json.hpp>

#include "engine/model/random_checkpoint.h"

namespace assay::engine {
namespace {

using Json = nlohmann::ordered_json;

Json LayerTypes(int64_t layers) {
  Json types = Json::array();
  for (int64_t i = 0; i < layers; ++i) types.push_back(i % 2 == 0 ? "sliding_attention" : "full_attention");
  return types;
}

// What AMD's exporter writes, as far as loaders read it.
Json Quark(bool fp8_activations, bool fp8_kv_cache) {
  const Json fp4 = {{"dtype", "fp4"},         {"qscheme", "per_group"}, {"group_size", 32}, {"ch_axis", -1},
                    {"scale_format", "e8m0"}, {"is_dynamic", false},    {"symmetric", true}};
  const Json fp8 = {
      {"dtype", "fp8_e4m3"}, {"qscheme", "per_tensor"}, {"is_dynamic", false}, {"symmetric", true}};
  const Json kept = {{"weight", nullptr}, {"input_tensors", nullptr}, {"output_tensors", fp8}};
  Json layers = Json::object(), group = Json::array();
  if (fp8_kv_cache) {
    layers = {{"*k_proj", kept}, {"*v_proj", kept}};
    group = {"*k_proj", "*v_proj"};
  }
  return {{"quant_method", "quark"},
          {"global_quant_config",
           {{"weight", fp4},
            {"input_tensors", fp8_activations ? fp8 : Json(nullptr)},
            {"output_tensors", nullptr},
            {"bias", nullptr}}},
          {"layer_quant_config", layers},
          {"layer_type_quant_config", Json::object()},
          {"exclude", {"*self_attn*", "*router*", "model.embed_tokens", "lm_head"}},
          {"export", {{"kv_cache_group", group}, {"pack_method", "reorder"}}}};
}

Json Quantization(WeightLayout layout) {
  switch (layout) {
    case WeightLayout::kBf16:
      return nullptr;
    case WeightLayout::kMxfp4:
      return {{"quant_method", "mxfp4"},
              {"modules_to_not_convert",
               {"model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens", "lm_head"}}};
    default:
      return Quark(layout != WeightLayout::kQuark, layout == WeightLayout::kQuarkFp8Kv);
  }
}

}  // namespace

std::string RandomConfigJson(const RandomCheckpoint& checkpoint) {
  const CheckpointShape& c = checkpoint.shape;
  Json config = {{"architectures", {"GptOssForCausalLM"}},
                 {"model_type", "gpt_oss"},
                 {"attention_bias", true},
                 {"hidden_act", "silu"},
                 {"tie_word_embeddings", false},
                 {"vocab_size", c.vocab_size},
                 {"hidden_size", c.hidden_size},
                 {"intermediate_size", c.intermediate_size},
                 {"num_hidden_layers", c.num_hidden_layers},
                 {"num_attention_heads", c.num_attention_heads},
                 {"num_key_value_heads", c.num_key_value_heads},
                 {"head_dim", c.head_dim},
                 {"num_local_experts", c.num_local_experts},
                 {"num_experts_per_tok", c.num_experts_per_tok},
                 {"sliding_window", c.sliding_window},
                 {"max_position_embeddings", c.max_position_embeddings},
                 {"layer_types", LayerTypes(c.num_hidden_layers)},
                 {"rms_norm_eps", 1e-5},
                 {"swiglu_limit", 7.0},
                 {"rope_theta", 150000.0},
                 {"rope_scaling",
                  {{"rope_type", "yarn"},
                   {"factor", 32.0},
                   {"beta_fast", 32.0},
                   {"beta_slow", 1.0},
                   {"original_max_position_embeddings", 4096},
                   {"truncate", false}}}};
  if (Json quantization = Quantization(checkpoint.layout); !quantization.is_null()) {
    config["quantization_config"] = std::move(quantization);
  }
  return config.dump(2) + "\n";
}

}  // namespace assay::engine
