#include "engine/model/json_fields.h"

#include <cmath>
#include <set>
#include <vector>

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
  // A reader would take one of two equal keys without a word, and recurse into any depth.
  constexpr int kDeepest = 32;
  std::vector<std::set<std::string>> keys;  // of the objects that are open
  std::string twice;
  bool too_deep = false;
  using Event = nlohmann::json::parse_event_t;
  const auto watch = [&](int depth, Event event, nlohmann::json& parsed) {
    too_deep = too_deep || depth > kDeepest;
    if (event == Event::object_start) keys.emplace_back();
    if (event == Event::object_end) keys.pop_back();
    if (event == Event::key && !keys.back().insert(parsed.get<std::string>()).second) {
      twice = parsed.get<std::string>();
    }
    return !too_deep;
  };
  nlohmann::json value = nlohmann::json::parse(text, watch, false);
  if (too_deep) return Fail(ErrorKind::kUsage, "{}: is nested more than {} deep", source, kDeepest);
  if (value.is_discarded()) return Fail(ErrorKind::kUsage, "{}: is not valid JSON", source);
  if (!value.is_object()) return Fail(ErrorKind::kUsage, "{}: must be a JSON object", source);
  if (!twice.empty()) return Fail(ErrorKind::kUsage, "{}: has {} twice", source, twice);
  return value;
}

}  // namespace assay::engine
