#include "engine/model/quantization.h"

#include <fnmatch.h>

#include <optional>
#include <vector>

namespace assay::engine {
namespace {

constexpr const char* kWhatRuns =
    "(experts in bf16 or MXFP4, their inputs and the KV cache in static FP8, all else in bf16)";

bool Matches(const std::string& pattern, const std::string& name) {
  return pattern == name || ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

Result<std::vector<std::string>> TextList(const JsonFields& fields, const char* name) {
  std::vector<std::string> texts;
  if (!fields.Has(name)) return texts;
  const nlohmann::json& list = fields.json().at(name);
  if (!list.is_array()) return fields.Wrong(name, "must be a list");
  for (const nlohmann::json& text : list) {
    if (!text.is_string()) return fields.Wrong(name, "must be a list of texts");
    texts.push_back(text.get<std::string>());
    if (texts.back().starts_with("re:")) {
      return fields.Wrong(
          name, fmt::format("has a regular expression, {}; only names and globs are read", text.dump()));
    }
  }
  return texts;
}

// `field` must be there and be `value`.
Status Expect(const JsonFields& fields, const char* field, const nlohmann::json& value) {
  if (!fields.Has(field)) return fields.Wrong(field, "is missing");
  const nlohmann::json& found = fields.json().at(field);
  if (found == value) return {};
  return fields.Wrong(
      field, fmt::format("must be {}, found {} {}", value.dump(), found.dump().substr(0, 40), kWhatRuns));
}

// `field` may be left out, and is null in some exports.
Status ExpectIfGiven(const JsonFields& fields, const char* field, const nlohmann::json& value) {
  return fields.Has(field) ? Expect(fields, field, value) : Status{};
}

Status ExpectMxfp4(const JsonFields& spec) {
  RETURN_IF_ERROR(Expect(spec, "dtype", "fp4"));
  RETURN_IF_ERROR(Expect(spec, "qscheme", "per_group"));
  RETURN_IF_ERROR(Expect(spec, "group_size", 32));
  RETURN_IF_ERROR(Expect(spec, "scale_format", "e8m0"));
  RETURN_IF_ERROR(ExpectIfGiven(spec, "symmetric", true));
  return ExpectIfGiven(spec, "is_dynamic", false);
}

Status ExpectStaticFp8(const JsonFields& spec) {
  RETURN_IF_ERROR(Expect(spec, "dtype", "fp8_e4m3"));
  RETURN_IF_ERROR(Expect(spec, "qscheme", "per_tensor"));
  RETURN_IF_ERROR(Expect(spec, "is_dynamic", false));
  return ExpectIfGiven(spec, "symmetric", true);
}

class Quark {
 public:
  Quark(const JsonFields& fields, std::vector<std::string> exclude)
      : fields_(fields), exclude_(std::move(exclude)) {}

  // Both products of an expert, in every layer.
  Status ReadExperts(int64_t layers, Quantization& to) const {
    std::optional<bool> fp8;
    for (int64_t layer = 0; layer < layers; ++layer) {
      for (const char* which : {"gate_up_proj", "down_proj"}) {
        const std::string name = fmt::format("model.layers.{}.mlp.experts.0.{}", layer, which);
        if (IsExcluded(name)) return fields_.Wrong("exclude", "names the experts, which must be MXFP4");
        ASSIGN_OR_RETURN(const JsonFields scheme, SchemeOf(name));
        ASSIGN_OR_RETURN(const JsonFields weight, scheme.Object("weight"));
        RETURN_IF_ERROR(ExpectMxfp4(weight));
        const bool has_inputs = scheme.Has("input_tensors");
        if (has_inputs) {
          ASSIGN_OR_RETURN(const JsonFields inputs, scheme.Object("input_tensors"));
          RETURN_IF_ERROR(ExpectStaticFp8(inputs));
        }
        if (fp8 && *fp8 != has_inputs) {
          return scheme.Wrong("input_tensors", "must be the same for all experts, and " + name + " differs");
        }
        fp8 = has_inputs;
      }
    }
    to.fp8_activations = fp8.value_or(false);
    return {};
  }

  // What we have only in bf16.
  Status RefuseOthers(int64_t layers) const {
    std::vector<std::string> names = {"lm_head"};
    for (int64_t layer = 0; layer < layers; ++layer) {
      for (const char* which : {"q_proj", "k_proj", "v_proj", "o_proj"})
        names.push_back(fmt::format("model.layers.{}.self_attn.{}", layer, which));
    }
    for (const std::string& name : names) {
      if (IsExcluded(name)) continue;
      ASSIGN_OR_RETURN(const JsonFields scheme, SchemeOf(name));
      if (scheme.Has("weight")) {
        return scheme.Wrong("weight", fmt::format("quantises {}, which must be bf16 {}", name, kWhatRuns));
      }
    }
    return {};
  }

  Status ReadKvCache(Quantization& to) const {
    if (!fields_.Has("export")) return {};
    ASSIGN_OR_RETURN(const JsonFields exported, fields_.Object("export"));
    ASSIGN_OR_RETURN(const std::vector<std::string> group, TextList(exported, "kv_cache_group"));
    if (group.empty()) return {};
    ASSIGN_OR_RETURN(const JsonFields layers, fields_.Object("layer_quant_config"));
    for (const std::string& pattern : group) {
      ASSIGN_OR_RETURN(const JsonFields scheme, layers.Object(pattern.c_str()));
      ASSIGN_OR_RETURN(const JsonFields outputs, scheme.Object("output_tensors"));
      RETURN_IF_ERROR(ExpectStaticFp8(outputs));
    }
    to.fp8_kv_cache = true;
    return {};
  }

 private:
  bool IsExcluded(const std::string& name) const {
    for (const std::string& pattern : exclude_) {
      if (Matches(pattern, name)) return true;
    }
    return false;
  }

  // The entry of layer_quant_config that matches, or the global one.
  Result<JsonFields> SchemeOf(const std::string& name) const {
    if (fields_.Has("layer_quant_config")) {
      ASSIGN_OR_RETURN(const JsonFields layers, fields_.Object("layer_quant_config"));
      for (const auto& [pattern, scheme] : layers.json().items()) {
        if (Matches(pattern, name)) return layers.Object(pattern.c_str());
      }
    }
    return fields_.Object("global_quant_config");
  }

  const JsonFields& fields_;
  std::vector<std::string> exclude_;
};

Status ReadGateUpOrder(const JsonFields& fields, Quantization& to) {
  if (!fields.Has("gate_up_order")) return {};
  ASSIGN_OR_RETURN(const std::string order, fields.Text({"gate_up_order"}));
  if (order != "interleaved" && order != "separate") {
    return fields.Wrong("gate_up_order", "must be interleaved or separate, found " + order);
  }
  to.gate_up_order = order == "separate" ? GateUpOrder::kSeparate : GateUpOrder::kInterleaved;
  return {};
}

Result<Quantization> ReadQuark(const JsonFields& fields, int64_t layers) {
  if (fields.Has("layer_type_quant_config") && !fields.json().at("layer_type_quant_config").empty()) {
    return fields.Wrong("layer_type_quant_config", "must be empty");
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> exclude, TextList(fields, "exclude"));
  const Quark quark(fields, exclude);
  Quantization quantization{ExpertFormat::kQuarkMxfp4, {}, false, false};
  RETURN_IF_ERROR(quark.ReadExperts(layers, quantization));
  RETURN_IF_ERROR(quark.RefuseOthers(layers));
  RETURN_IF_ERROR(quark.ReadKvCache(quantization));
  RETURN_IF_ERROR(ReadGateUpOrder(fields, quantization));
  return quantization;
}

}  // namespace

Result<Quantization> ReadQuantization(const JsonFields& config, int64_t layers) {
  if (!config.Has("quantization_config")) return Quantization{ExpertFormat::kBf16, {}, false, false};
  ASSIGN_OR_RETURN(const JsonFields fields, config.Object("quantization_config"));
  ASSIGN_OR_RETURN(const std::string method, fields.Text({"quant_method"}));
  if (method == "mxfp4") return Quantization{};
  if (method == "quark") return ReadQuark(fields, layers);
  return fields.Wrong("quant_method", "must be mxfp4 or quark, found " + method);
}

}  // namespace assay::engine
