#include "engine/model/json_fields.h"

#include <cmath>

namespace assay::engine {

tl::unexpected<Error> JsonFields::Wrong(const std::string& name, const std::string& what) const {
  return Fail(ErrorKind::kUsage, "{}: field {}{} {}", source_, prefix_, name, what);
}

Result<const nlohmann::json*> JsonFields::Find(std::initializer_list<const char*> names, const char* type,
                                               bool (*is_type)(const nlohmann::json&)) const {
  for (const char* name : names) {
    if (!Has(name)) continue;
    const nlohmann::json& value = object_.at(name);
    if (!is_type(value))
      return Wrong(name, fmt::format("must be {}, found {}", type, value.dump().substr(0, 40)));
    return &value;
  }
  return Wrong(*names.begin(), "is missing");
}

Result<int64_t> JsonFields::Integer(std::initializer_list<const char*> names) const {
  ASSIGN_OR_RETURN(const nlohmann::json* value, Find(names, "a whole number", [](const nlohmann::json& v) {
                     return v.is_number_integer() &&
                            !(v.is_number_unsigned() && v.get<uint64_t>() > uint64_t{1} << 62);
                   }));
  return value->get<int64_t>();
}

Result<double> JsonFields::Number(const char* name) const {
  ASSIGN_OR_RETURN(const nlohmann::json* value,
                   Find({name}, "a number", [](const nlohmann::json& v) { return v.is_number(); }));
  if (!std::isfinite(value->get<double>())) return Wrong(name, "is not finite");
  return value->get<double>();
}

Result<bool> JsonFields::Boolean(const char* name) const {
  ASSIGN_OR_RETURN(const nlohmann::json* value,
                   Find({name}, "true or false", [](const nlohmann::json& v) { return v.is_boolean(); }));
  return value->get<bool>();
}

Result<std::string> JsonFields::Text(std::initializer_list<const char*> names) const {
  ASSIGN_OR_RETURN(const nlohmann::json* value,
                   Find(names, "a text", [](const nlohmann::json& v) { return v.is_string(); }));
  return value->get<std::string>();
}

Result<JsonFields> JsonFields::Object(const char* name) const {
  ASSIGN_OR_RETURN(const nlohmann::json* value,
                   Find({name}, "an object", [](const nlohmann::json& v) { return v.is_object(); }));
  return JsonFields(*value, source_, prefix_ + name + ".");
}

Result<nlohmann::json> ParseJsonObject(const std::string& text, const std::string& source) {
  nlohmann::json value = nlohmann::json::parse(text, nullptr, false);
  if (value.is_discarded()) return Fail(ErrorKind::kUsage, "{}: is not valid JSON", source);
  if (!value.is_object()) return Fail(ErrorKind::kUsage, "{}: must be a JSON object", source);
  return value;
}

}  // namespace assay::engine
