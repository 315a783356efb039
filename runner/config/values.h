#pragma once

#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "runner/config/yaml_tree.h"

// What a key of a config may hold. A Value knows how to read it, write it, and name it in messages, in the
// reference and in the JSON Schema, so that these cannot disagree.
namespace assay::runner {

using Json = nlohmann::ordered_json;

struct SectionInfo;

struct Reading {
  Mistakes& mistakes;
  bool partial = false;  // a base for `extends`: keys may be missing
};

struct Where {
  std::string path;     // "engine.env"
  std::string example;  // what a right value looks like
};

// kFull: as the user would write it. kMeasured: what decides the measurement, without paths of this machine.
enum class Form { kFull, kMeasured };

template <typename T>
struct Value {
  std::string type;  // completes "must be ...": "a number between 0 and 1"
  Json schema;
  std::function<std::optional<T>(const YamlNode&, const Where&, Reading&)> read;  // nullopt: mistake added
  std::function<Json(const T&, Form)> write;
  std::shared_ptr<const SectionInfo> section;  // of a map with known keys, or of a list of such maps
};

struct Range {
  double min = 0;
  double max = std::numeric_limits<double>::infinity();
  bool min_excluded = false;
};

// Adds "must be <type>, got ...; for example <example>".
void AddWrongType(const std::string& type, const YamlNode& node, const Where& where, Reading& reading);

// Scalars by their source text; nullopt after a mistake was added.
std::optional<std::string> ReadScalar(const std::string& type, const YamlNode& node, const Where& where,
                                      Reading& reading);
std::optional<double> ReadNumber(const std::string& type, Range range, const YamlNode& node,
                                 const Where& where, Reading& reading);
std::optional<int64_t> ReadInteger(const std::string& type, int64_t min, int64_t max, const YamlNode& node,
                                   const Where& where, Reading& reading);
std::optional<size_t> ReadChoice(const std::string& type, const std::vector<std::string>& choices,
                                 const YamlNode& node, const Where& where, Reading& reading);
// The name that was most likely meant: a typing mistake, or a name cut short ("ttft_p50" for "ttft_p50_ms").
std::optional<std::string> NearestName(std::string_view word, const std::vector<std::string>& names);
std::string ChoiceType(const std::vector<std::string>& choices);
std::string IntegerType(int64_t min, int64_t max);
// 600.0 as 600, 0.568 as it is.
Json NumberJson(double number);

Value<double> Number(Range range);
Value<double> Fraction();  // 0..1; "56.8" and "0,568" are answered with what was most likely meant
Value<std::optional<double>> Temperature();  // "default" is none
Value<double> RequestRate();                 // > 0, or inf, which is kept as 0
Value<bool> TrueOrFalse();
Value<std::string> Text();
constexpr size_t kMaxConfigName = 40;  // of configs and shapes
// Letters that may stand in a cell key, a file name and a metric name: [a-z0-9] then [a-z0-9_-], and dots if
// `dots`.
Value<std::string> SafeName(size_t max_length, bool dots);
// The nearest name of that kind; "" when nothing of it may stay.
std::string MadeSafe(std::string_view name, size_t max_length, bool dots);
// A folder or a model id; measured by its last two parts, so that where it lies does not matter.
Value<std::string> ModelName();
Value<Path> FilePath();
// `type` stands for a list of choices that is too long for a message.
Value<std::string> OneOf(std::vector<std::string> choices, std::string type = "");
// Names are those of environment variables; each value is kept as its source text.
Value<std::map<std::string, std::string>> Environment();
// A value that is not looked into.
Value<YamlNode> Anything();
Value<std::map<std::string, double>> NumberMap(std::vector<std::string> names);

template <typename I>
constexpr int64_t kLargest = sizeof(I) < sizeof(int64_t) ? static_cast<int64_t>(std::numeric_limits<I>::max())
                                                         : std::numeric_limits<int64_t>::max();

template <typename I>
Value<I> Integer(int64_t min, int64_t max = kLargest<I>) {
  Value<I> value;
  value.type = IntegerType(min, max);
  value.schema = {{"type", "integer"}, {"minimum", min}};
  if (max < kLargest<I>) value.schema["maximum"] = max;
  value.read = [type = value.type, min, max](const YamlNode& node, const Where& where, Reading& reading) {
    const auto number = ReadInteger(type, min, max, node, where, reading);
    return number ? std::optional<I>(static_cast<I>(*number)) : std::nullopt;
  };
  value.write = [](const I& number, Form) { return Json(number); };
  return value;
}

template <typename E>
Value<E> OneOfEnum(std::vector<std::pair<std::string, E>> choices, std::string type = "") {
  std::vector<std::string> names;
  for (const auto& choice : choices) names.push_back(choice.first);
  Value<E> value;
  value.type = type.empty() ? ChoiceType(names) : std::move(type);
  value.schema = {{"enum", names}};
  value.read = [type = value.type, names, choices](const YamlNode& node, const Where& where,
                                                   Reading& reading) {
    const auto index = ReadChoice(type, names, node, where, reading);
    return index ? std::optional<E>(choices[*index].second) : std::nullopt;
  };
  value.write = [choices](const E& chosen, Form) {
    for (const auto& [name, choice] : choices) {
      if (choice == chosen) return Json(name);
    }
    return Json();
  };
  return value;
}

template <typename T>
Value<std::vector<T>> ListOf(Value<T> item, std::string type) {
  Value<std::vector<T>> value;
  value.type = std::move(type);
  value.schema = {{"type", "array"}, {"items", item.schema}};
  value.section = item.section;
  value.read = [type = value.type, item](const YamlNode& node, const Where& where,
                                         Reading& reading) -> std::optional<std::vector<T>> {
    if (node.kind != YamlNode::Kind::kList) {
      AddWrongType(type, node, where, reading);
      return std::nullopt;
    }
    std::vector<T> items;
    for (size_t i = 0; i < node.items.size(); ++i) {
      const std::string path = where.path + "[" + std::to_string(i) + "]";
      if (auto read = item.read(node.items[i], {path, where.example}, reading)) {
        items.push_back(std::move(*read));
      }
    }
    return items;
  };
  value.write = [item](const std::vector<T>& items, Form form) {
    Json list = Json::array();
    for (const T& each : items) list.push_back(item.write(each, form));
    return list;
  };
  return value;
}

}  // namespace assay::runner
