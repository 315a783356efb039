#include "engine/model/config.h"
#include "engine/model/json_fields.h"

namespace assay::engine {
namespace {

Status ReadStops(const JsonFields& fields, GenerationConfig& config) {
  if (!fields.Has("eos_token_id")) return fields.Wrong("eos_token_id", "is missing");
  const nlohmann::json& ids = fields.json().at("eos_token_id");
  const auto add = [&](const nlohmann::json& id) {
    if (!id.is_number_integer() || id < 0 || id > INT32_MAX) return false;
    config.eos_token_ids.push_back(id.get<int32_t>());
    return true;
  };
  bool good = true;
  if (ids.is_array()) {
    for (const nlohmann::json& id : ids) good = good && add(id);
  } else {
    good = add(ids);
  }
  if (!good || config.eos_token_ids.empty()) {
    return fields.Wrong("eos_token_id",
                        "must be a token id or a list of them, found " + ids.dump().substr(0, 40));
  }
  return {};
}

}  // namespace

// Sampling fields are optional here, as in every published file: absent means the neutral value of the
// struct.
Result<GenerationConfig> ParseGenerationConfig(const std::string& text, const std::string& source) {
  ASSIGN_OR_RETURN(const nlohmann::json object, ParseJsonObject(text, source));
  const JsonFields fields(object, source);
  GenerationConfig config;
  RETURN_IF_ERROR(ReadStops(fields, config));
  if (fields.Has("do_sample")) {
    ASSIGN_OR_RETURN(config.do_sample, fields.Boolean("do_sample"));
  }
  if (fields.Has("temperature")) {
    ASSIGN_OR_RETURN(config.temperature, fields.Number("temperature"));
    if (config.temperature < 0) return fields.Wrong("temperature", "must not be negative");
  }
  if (fields.Has("top_p")) {
    ASSIGN_OR_RETURN(config.top_p, fields.Number("top_p"));
    if (config.top_p <= 0 || config.top_p > 1) return fields.Wrong("top_p", "must be above 0 and at most 1");
  }
  if (fields.Has("top_k")) {
    ASSIGN_OR_RETURN(config.top_k, fields.Integer({"top_k"}));
    if (config.top_k < 0) return fields.Wrong("top_k", "must not be negative");
  }
  return config;
}

Result<GenerationConfig> LoadGenerationConfig(const Path& folder) {
  const Path path = folder / "generation_config.json";
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseGenerationConfig(text, path.string());
}

}  // namespace assay::engine
