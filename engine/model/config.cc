#include "engine/model/config.h"

#include "engine/model/json_fields.h"
#include "kernels/swiglu/swiglu.h"

namespace assay::engine {
namespace {

constexpr int64_t kLargest = int64_t{1} << 31;  // of any size: products of two still fit

Status ReadSizes(const JsonFields& fields, ModelConfig& config) {
  struct Size {
    int64_t& value;
    std::initializer_list<const char*> names;
  };
  const Size sizes[] = {
      {config.vocab_size, {"vocab_size"}},
      {config.hidden_size, {"hidden_size"}},
      {config.intermediate_size, {"intermediate_size"}},
      {config.num_hidden_layers, {"num_hidden_layers"}},
      {config.num_attention_heads, {"num_attention_heads"}},
      {config.num_key_value_heads, {"num_key_value_heads"}},
      {config.head_dim, {"head_dim"}},
      {config.num_local_experts, {"num_local_experts", "num_experts"}},
      {config.num_experts_per_tok, {"num_experts_per_tok", "experts_per_token"}},
      {config.sliding_window, {"sliding_window"}},
      {config.max_position_embeddings, {"max_position_embeddings"}},
  };
  for (const Size& size : sizes) {
    ASSIGN_OR_RETURN(size.value, fields.Integer(size.names));
    if (size.value < 1 || size.value > kLargest) {
      return fields.Wrong(*size.names.begin(),
                          fmt::format("must be from 1 to {}, found {}", kLargest, size.value));
    }
  }
  return {};
}

Status ReadLayerTypes(const JsonFields& fields, ModelConfig& config) {
  if (!fields.Has("layer_types")) return fields.Wrong("layer_types", "is missing");
  const nlohmann::json& types = fields.json().at("layer_types");
  if (!types.is_array() || static_cast<int64_t>(types.size()) != config.num_hidden_layers) {
    return fields.Wrong("layer_types", fmt::format("must be a list of num_hidden_layers = {} entries",
                                                   config.num_hidden_layers));
  }
  for (const nlohmann::json& type : types) {
    if (type != "sliding_attention" && type != "full_attention") {
      return fields.Wrong("layer_types", "knows sliding_attention and full_attention, found " + type.dump());
    }
    config.sliding.push_back(type == "sliding_attention");
  }
  return {};
}

// Older checkpoints: rope_theta beside rope_scaling. Newer ones: both within rope_parameters.
Status ReadRope(const JsonFields& fields, ModelConfig& config) {
  const bool newer = fields.Has("rope_parameters");
  ASSIGN_OR_RETURN(const JsonFields rope, fields.Object(newer ? "rope_parameters" : "rope_scaling"));
  ASSIGN_OR_RETURN(config.rope_theta,
                   (newer || !fields.Has("rope_theta") ? rope : fields).Number("rope_theta"));
  ASSIGN_OR_RETURN(const std::string type, rope.Text({"rope_type", "type"}));
  if (type != "yarn") return rope.Wrong("rope_type", "must be yarn, found " + type);
  ASSIGN_OR_RETURN(config.rope_factor, rope.Number("factor"));
  ASSIGN_OR_RETURN(config.rope_beta_fast, rope.Number("beta_fast"));
  ASSIGN_OR_RETURN(config.rope_beta_slow, rope.Number("beta_slow"));
  ASSIGN_OR_RETURN(config.rope_original_max_position, rope.Integer({"original_max_position_embeddings"}));
  ASSIGN_OR_RETURN(config.rope_truncate, rope.Boolean("truncate"));
  for (const char* other : {"attention_factor", "mscale", "mscale_all_dim"}) {
    if (rope.Has(other)) return rope.Wrong(other, "is not supported");
  }
  if (config.rope_theta <= 1) return rope.Wrong("rope_theta", "must be above 1");
  if (config.rope_factor < 1) return rope.Wrong("factor", "must be at least 1");
  if (config.rope_beta_slow <= 0 || config.rope_beta_fast < config.rope_beta_slow) {
    return rope.Wrong("beta_fast", fmt::format("must be at least beta_slow and both above 0, found {} and {}",
                                               config.rope_beta_fast, config.rope_beta_slow));
  }
  if (config.rope_original_max_position < 1) {
    return rope.Wrong("original_max_position_embeddings", "must be at least 1");
  }
  return {};
}

// What another architecture or variant would say. It must not be run as if it were gpt-oss.
Status RefuseOthers(const JsonFields& fields) {
  ASSIGN_OR_RETURN(const std::string type, fields.Text({"model_type"}));
  if (type != "gpt_oss") return fields.Wrong("model_type", "must be gpt_oss, found " + type);
  ASSIGN_OR_RETURN(const std::string activation, fields.Text({"hidden_act"}));
  if (activation != "silu") return fields.Wrong("hidden_act", "must be silu, found " + activation);
  ASSIGN_OR_RETURN(const bool bias, fields.Boolean("attention_bias"));
  if (!bias) return fields.Wrong("attention_bias", "must be true");
  ASSIGN_OR_RETURN(const bool tied, fields.Boolean("tie_word_embeddings"));
  if (tied) return fields.Wrong("tie_word_embeddings", "must be false");
  if (fields.Has("swiglu_alpha")) {
    ASSIGN_OR_RETURN(const double alpha, fields.Number("swiglu_alpha"));
    if (alpha < 1.7019 || alpha > 1.7021) {
      return fields.Wrong("swiglu_alpha", fmt::format("must be {}, found {}", kernels::kSwigluAlpha, alpha));
    }
  }
  return {};
}

Status CheckShape(const JsonFields& fields, const ModelConfig& config) {
  const auto multiple = [&](const char* name, int64_t value, int64_t of, const char* why) -> Status {
    if (value % of == 0) return {};
    return fields.Wrong(name, fmt::format("must be a multiple of {} ({}), found {} = {} * {} + {}", of, why,
                                          value, value / of, of, value % of));
  };
  RETURN_IF_ERROR(multiple("hidden_size", config.hidden_size, 32, "an MXFP4 block"));
  RETURN_IF_ERROR(multiple("intermediate_size", config.intermediate_size, 32, "an MXFP4 block"));
  RETURN_IF_ERROR(multiple("head_dim", config.head_dim, 16, "a vector of the attention kernel"));
  RETURN_IF_ERROR(multiple("num_attention_heads", config.num_attention_heads, config.num_key_value_heads,
                           "num_key_value_heads"));
  if (config.head_dim > 256)
    return fields.Wrong("head_dim", fmt::format("must be at most 256, found {}", config.head_dim));
  if (config.num_experts_per_tok > config.num_local_experts || config.num_experts_per_tok > 32) {
    return fields.Wrong("num_experts_per_tok",
                        fmt::format("must be at most num_local_experts = {} and 32, found {}",
                                    config.num_local_experts, config.num_experts_per_tok));
  }
  if (config.num_local_experts > 65534) return fields.Wrong("num_local_experts", "must be at most 65534");
  if (config.rms_norm_eps <= 0) return fields.Wrong("rms_norm_eps", "must be above 0");
  if (config.swiglu_limit <= 0) return fields.Wrong("swiglu_limit", "must be above 0");
  return {};
}

}  // namespace

Result<ModelConfig> ParseModelConfig(const std::string& text, const std::string& source) {
  ASSIGN_OR_RETURN(const nlohmann::json object, ParseJsonObject(text, source));
  const JsonFields fields(object, source);
  ModelConfig config{};
  RETURN_IF_ERROR(RefuseOthers(fields));
  RETURN_IF_ERROR(ReadSizes(fields, config));
  RETURN_IF_ERROR(ReadLayerTypes(fields, config));
  ASSIGN_OR_RETURN(config.rms_norm_eps, fields.Number("rms_norm_eps"));
  ASSIGN_OR_RETURN(config.swiglu_limit, fields.Number("swiglu_limit"));
  RETURN_IF_ERROR(ReadRope(fields, config));
  RETURN_IF_ERROR(CheckShape(fields, config));
  ASSIGN_OR_RETURN(config.quantization, ReadQuantization(fields, config.num_hidden_layers));
  return config;
}

Result<ModelConfig> LoadModelConfig(const Path& folder) {
  const Path path = folder / "config.json";
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) {
    return Fail(ErrorKind::kUsage, "missing weights: {}: no such model folder", folder.string());
  }
  if (!std::filesystem::exists(path, ignored)) {
    return Fail(ErrorKind::kUsage, "missing weights: {}: no such file", path.string());
  }
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseModelConfig(text, path.string());
}

}  // namespace assay::engine
