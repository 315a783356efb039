#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "record/enum_names.h"
#include "record/fields.h"

// Structs to JSON and back by their field tables. Unknown keys are passed over, so that an older assay reads
// a newer record of the same schema; a missing required one is an error that names its path.
namespace assay::record {

using Json = nlohmann::json;

template <typename T>
concept HasFields = std::tuple_size_v<std::remove_const_t<decltype(kFields<T>)>> >
0;

// ---- writing

// What is not a number is never written: the key is left out.
inline Json WriteNumber(double value, int decimals) {
  if (!std::isfinite(value)) return nullptr;
  if (decimals == kFullPrecision) return value;
  const double scale = std::pow(10.0, decimals);
  return std::round(value * scale) / scale;
}

inline Json WriteValue(bool value, int) {
  return value;
}
inline Json WriteValue(std::integral auto value, int) {
  return value;
}
inline Json WriteValue(std::floating_point auto value, int decimals) {
  return WriteNumber(static_cast<double>(value), decimals);
}
inline Json WriteValue(const std::string& value, int) {
  return IsValidUtf8(value) ? value : Printable(value);
}
template <typename T>
requires std::is_enum_v<T> Json WriteValue(T value, int) {
  return NameOf(value);
}
template <HasFields T>
Json WriteValue(const T& value, int);
template <typename T>
Json WriteValue(const std::optional<T>& value, int decimals);
template <typename T>
Json WriteValue(const std::vector<T>& values, int decimals);
template <typename T>
Json WriteValue(const std::map<std::string, T>& values, int decimals);

template <HasFields T>
Json WriteValue(const T& value, int) {
  Json object = Json::object();
  const auto write = [&](const auto& field) {
    Json member = WriteValue(value.*(field.member), field.decimals);
    const bool empty =
        member.is_null() || (!field.required && !member.is_primitive() && member.empty()) ||
        (!field.required && member.is_string() && member.template get_ref<std::string&>().empty());
    if (!empty) object.emplace(field.name, std::move(member));
  };
  std::apply([&](const auto&... field) { (write(field), ...); }, kFields<T>);
  return object;
}

template <typename T>
Json WriteValue(const std::optional<T>& value, int decimals) {
  return value ? WriteValue(*value, decimals) : Json(nullptr);
}

template <typename T>
Json WriteValue(const std::vector<T>& values, int decimals) {
  Json array = Json::array();
  for (const T& value : values) array.push_back(WriteValue(value, decimals));
  return array;
}

template <typename T>
Json WriteValue(const std::map<std::string, T>& values, int decimals) {
  Json object = Json::object();
  for (const auto& [key, value] : values) object.emplace(key, WriteValue(value, decimals));
  return object;
}

// ---- reading

// Where we are in the document; a chain on the stack, turned into text only for an error.
struct JsonPath {
  const JsonPath* parent = nullptr;
  std::string_view key = {};
  size_t index = 0;

  std::string Text() const {
    if (!parent) return "";
    const std::string above = parent->Text();
    if (key.empty()) return above + "[" + std::to_string(index) + "]";
    return above.empty() ? std::string(key) : above + "." + std::string(key);
  }
};

inline tl::unexpected<Error> NotA(const char* wanted, const Json& json, const JsonPath& path) {
  return Fail(ErrorKind::kUsage, "{}: expected {}, got {}", path.Text(), wanted,
              json.is_structured() ? json.type_name() : json.dump());
}

inline Status ReadValue(const Json& json, const JsonPath& path, bool& out) {
  if (!json.is_boolean()) return NotA("true or false", json, path);
  out = json.get<bool>();
  return {};
}

template <std::signed_integral T>
Status ReadValue(const Json& json, const JsonPath& path, T& out) {
  if (!json.is_number_integer()) return NotA("a whole number", json, path);
  const bool too_big = json.is_number_unsigned() &&
                       json.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<T>::max());
  const bool too_small = !json.is_number_unsigned() && json.get<int64_t>() < std::numeric_limits<T>::min();
  if (too_big || too_small) return NotA("a whole number in range", json, path);
  out = json.get<T>();
  return {};
}

template <std::floating_point T>
Status ReadValue(const Json& json, const JsonPath& path, T& out) {
  if (!json.is_number()) return NotA("a number", json, path);
  out = json.get<T>();
  return {};
}

inline Status ReadValue(const Json& json, const JsonPath& path, std::string& out) {
  if (!json.is_string()) return NotA("text", json, path);
  out = json.get<std::string>();
  return {};
}

template <typename T>
requires std::is_enum_v<T> Status ReadValue(const Json& json, const JsonPath& path, T& out) {
  for (const auto& [value, name] : kNames<T>) {
    if (json == name) {
      out = value;
      return {};
    }
  }
  return NotA("a known name", json, path);
}

template <HasFields T>
Status ReadValue(const Json& json, const JsonPath& path, T& out);
template <typename T>
Status ReadValue(const Json& json, const JsonPath& path, std::optional<T>& out);
template <typename T>
Status ReadValue(const Json& json, const JsonPath& path, std::vector<T>& out);
template <typename T>
Status ReadValue(const Json& json, const JsonPath& path, std::map<std::string, T>& out);

template <HasFields T>
Status ReadValue(const Json& json, const JsonPath& path, T& out) {
  if (!json.is_object()) return NotA("an object", json, path);
  Status status;
  const auto read = [&](const auto& field) {
    if (!status) return;
    const JsonPath here{&path, field.name};
    const auto found = json.find(field.name);
    if (found != json.end() && !found->is_null()) {
      status = ReadValue(*found, here, out.*(field.member));
    } else if (field.required) {
      status = Fail(ErrorKind::kUsage, "{}: missing", here.Text());
    }
  };
  std::apply([&](const auto&... field) { (read(field), ...); }, kFields<T>);
  return status;
}

template <typename T>
Status ReadValue(const Json& json, const JsonPath& path, std::optional<T>& out) {
  return ReadValue(json, path, out.emplace());
}

template <typename T>
Status ReadValue(const Json& json, const JsonPath& path, std::vector<T>& out) {
  if (!json.is_array()) return NotA("a list", json, path);
  out.clear();
  out.reserve(json.size());
  for (const Json& element : json) {
    const JsonPath here{&path, {}, out.size()};
    RETURN_IF_ERROR(ReadValue(element, here, out.emplace_back()));
  }
  return {};
}

template <typename T>
Status ReadValue(const Json& json, const JsonPath& path, std::map<std::string, T>& out) {
  if (!json.is_object()) return NotA("an object", json, path);
  out.clear();
  for (const auto& [key, value] : json.items()) {
    const JsonPath here{&path, key};
    RETURN_IF_ERROR(ReadValue(value, here, out[key]));
  }
  return {};
}

inline Status CheckSchema(const Json& json, std::string_view wanted, std::string_view source) {
  const auto found = json.is_object() ? json.find("schema") : json.end();
  if (!json.is_object() || found == json.end()) {
    return Fail(ErrorKind::kUsage, "{}: schema: missing; this is no {} file", source, wanted);
  }
  if (*found == wanted) return {};
  return Fail(ErrorKind::kUsage,
              "{}: schema: this assay reads {}, the file says {}; use the assay that wrote it", source,
              wanted, found->dump());
}

}  // namespace assay::record
