#pragma once

#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "record/struct_json.h"

// JSON Schema (draft 2020-12) of structs by their field tables, so that what is published is what is written.
// Further keys are allowed: readers pass over what they do not know.
namespace assay::record {

template <typename T>
struct SchemaOf;

template <typename T>
Json MakeSchema() {
  if constexpr (std::is_same_v<T, bool>) {
    return {{"type", "boolean"}};
  } else if constexpr (std::is_integral_v<T>) {
    return {{"type", "integer"}};
  } else if constexpr (std::is_floating_point_v<T>) {
    return {{"type", "number"}};
  } else if constexpr (std::is_same_v<T, std::string>) {
    return {{"type", "string"}};
  } else if constexpr (std::is_enum_v<T>) {
    Json names = Json::array();
    for (const auto& [value, name] : kNames<T>) names.push_back(name);
    return {{"enum", names}};
  } else if constexpr (HasFields<T>) {
    Json properties = Json::object(), required = Json::array();
    const auto add = [&](const auto& field) {
      using Member = std::remove_cvref_t<decltype(std::declval<T>().*(field.member))>;
      properties[field.name] = MakeSchema<Member>();
      if (field.required) required.push_back(field.name);
    };
    std::apply([&](const auto&... field) { (add(field), ...); }, kFields<T>);
    return {{"type", "object"}, {"properties", properties}, {"required", required}};
  } else {
    return SchemaOf<T>::Make();
  }
}

template <typename T>
struct SchemaOf<std::optional<T>> {
  static Json Make() { return MakeSchema<T>(); }  // left out when empty, never null
};
template <typename T>
struct SchemaOf<std::vector<T>> {
  static Json Make() { return {{"type", "array"}, {"items", MakeSchema<T>()}}; }
};
template <typename T>
struct SchemaOf<std::map<std::string, T>> {
  static Json Make() { return {{"type", "object"}, {"additionalProperties", MakeSchema<T>()}}; }
};

}  // namespace assay::record
