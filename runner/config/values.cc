#include "runner/config/values.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/text.h"

namespace assay::runner {
namespace {

// The whole text as a number; inf and nan are none.
std::optional<double> ParseNumber(std::string_view text) {
  if (StartsWith(text, "+")) text.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number)) return std::nullopt;
  return number;
}

std::string RangeWords(const Range& range) {
  const bool bounded = !std::isinf(range.max);
  if (range.min_excluded) {
    return fmt::format("a number above {}{}", range.min,
                       bounded ? fmt::format(", at most {}", range.max) : "");
  }
  return bounded ? fmt::format("a number between {} and {}", range.min, range.max)
                 : fmt::format("a number, {} or more", range.min);
}

Json RangeSchema(const Range& range) {
  Json schema = {{"type", "number"}};
  schema[range.min_excluded ? "exclusiveMinimum" : "minimum"] = NumberJson(range.min);
  if (!std::isinf(range.max)) schema["maximum"] = NumberJson(range.max);
  return schema;
}

bool Inside(const Range& range, double number) {
  return number <= range.max && (range.min_excluded ? number > range.min : number >= range.min);
}

// What "0,568", "56.8%" or a number in quotes was most likely meant to be; "" when that is not clear.
std::string NumberAdvice(const YamlNode& node) {
  if (node.kind != YamlNode::Kind::kScalar) return "";
  if (node.quoted && ParseNumber(node.text)) return fmt::format("write {} without quotes", node.text);
  if (const std::string point = ReplaceAll(node.text, ",", "."); point != node.text && ParseNumber(point)) {
    return fmt::format("a decimal point is needed: write {}", point);
  }
  if (!node.text.empty() && node.text.back() == '%') {
    const std::string_view percent = Trim(std::string_view(node.text).substr(0, node.text.size() - 1));
    if (const auto number = ParseNumber(percent)) {
      return fmt::format("a fraction is meant: write {:.6g}", *number / 100);
    }
  }
  return "";
}

std::string LastTwoParts(const std::string& text) {
  const Path path = Path(text).lexically_normal();
  std::vector<std::string> parts;
  for (const Path& part : path) {
    if (!part.empty() && part != "/" && part != "." && part != "..") parts.push_back(part.string());
  }
  if (parts.size() > 2) parts.erase(parts.begin(), parts.end() - 2);
  return Join(parts, "/");
}

bool IsVariableName(std::string_view name) {
  const auto good = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
         std::all_of(name.begin(), name.end(), good);
}

bool IsSafe(std::string_view name, bool dots) {
  const auto letter = [](unsigned char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !name.empty() && letter(static_cast<unsigned char>(name[0])) &&
         std::all_of(name.begin(), name.end(), [&](unsigned char c) {
           return letter(c) || c == '_' || c == '-' || (dots && c == '.');
         });
}

}  // namespace

void AddWrongType(const std::string& type, const YamlNode& node, const Where& where, Reading& reading) {
  reading.mistakes.Add(
      node.mark, where.path,
      fmt::format("must be {}, got {}; for example {}", type, Describe(node), where.example));
}

std::optional<std::string> ReadScalar(const std::string& type, const YamlNode& node, const Where& where,
                                      Reading& reading) {
  if (node.kind == YamlNode::Kind::kScalar && !node.text.empty()) return node.text;
  AddWrongType(type, node, where, reading);
  return std::nullopt;
}

std::optional<double> ReadNumber(const std::string& type, Range range, const YamlNode& node,
                                 const Where& where, Reading& reading) {
  const auto number =
      node.kind == YamlNode::Kind::kScalar && !node.quoted ? ParseNumber(node.text) : std::nullopt;
  if (number && Inside(range, *number)) return number;
  std::string advice = number ? "" : NumberAdvice(node);
  if (number && range.min == 0 && range.max == 1 && *number > 1 && *number <= 100) {
    advice = fmt::format("a fraction is meant: write {:.6g} for {:.6g} %", *number / 100, *number);
  }
  if (advice.empty()) {
    AddWrongType(type, node, where, reading);
  } else {
    reading.mistakes.Add(node.mark, where.path,
                         fmt::format("must be {}, got {}; {}", type, Describe(node), advice));
  }
  return std::nullopt;
}

std::optional<int64_t> ReadInteger(const std::string& type, int64_t min, int64_t max, const YamlNode& node,
                                   const Where& where, Reading& reading) {
  if (node.kind == YamlNode::Kind::kScalar && !node.quoted) {
    const std::string& text = node.text;
    int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    const bool leading_zero = text.size() > 1 && text[0] == '0';  // octal to some readers of YAML
    if (whole && !leading_zero && number >= min && number <= max) return number;
  }
  if (const std::string advice = node.quoted ? NumberAdvice(node) : ""; !advice.empty()) {
    reading.mistakes.Add(node.mark, where.path,
                         fmt::format("must be {}, got {}; {}", type, Describe(node), advice));
  } else {
    AddWrongType(type, node, where, reading);
  }
  return std::nullopt;
}

std::optional<size_t> ReadChoice(const std::string& type, const std::vector<std::string>& choices,
                                 const YamlNode& node, const Where& where, Reading& reading) {
  const bool scalar = node.kind == YamlNode::Kind::kScalar;
  const auto found = std::find(choices.begin(), choices.end(), node.text);
  if (scalar && found != choices.end()) return found - choices.begin();
  const auto nearest = scalar ? NearestName(node.text, choices) : std::nullopt;
  if (nearest) {
    reading.mistakes.Add(node.mark, where.path,
                         fmt::format("must be {}, got {}; did you mean {}?", type, Describe(node), *nearest));
  } else {
    AddWrongType(type, node, where, reading);
  }
  return std::nullopt;
}

std::optional<std::string> NearestName(std::string_view word, const std::vector<std::string>& names) {
  constexpr size_t kFewest = 3;  // letters that say anything
  if (const auto nearest = NearestWord(word, names)) return nearest;
  const auto longer = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
    return word.size() >= kFewest && StartsWith(name, word);
  });
  return longer == names.end() ? std::nullopt : std::optional(*longer);
}

std::string ChoiceType(const std::vector<std::string>& choices) {
  return choices.size() == 1 ? choices[0] : "one of " + Join(choices, ", ");
}

std::string IntegerType(int64_t min, int64_t max) {
  if (max >= std::numeric_limits<int32_t>::max()) return fmt::format("a whole number, {} or more", min);
  return fmt::format("a whole number between {} and {}", min, max);
}

Json NumberJson(double number) {
  constexpr double kExact = 1e15;
  if (std::abs(number) < kExact && number == std::floor(number)) return static_cast<int64_t>(number);
  return number;
}

Value<double> Number(Range range) {
  Value<double> value;
  value.type = RangeWords(range);
  value.schema = RangeSchema(range);
  value.read = [type = value.type, range](const YamlNode& node, const Where& where, Reading& reading) {
    return ReadNumber(type, range, node, where, reading);
  };
  value.write = [](const double& number, Form) { return NumberJson(number); };
  return value;
}

Value<double> Fraction() {
  return Number({0, 1});
}

Value<double> RequestRate() {
  Value<double> value = Number({0, std::numeric_limits<double>::infinity(), true});
  value.type = "a number above 0, or inf";
  value.schema = {{"anyOf", {value.schema, {{"const", "inf"}}}}};
  value.read = [type = value.type](const YamlNode& node, const Where& where,
                                   Reading& reading) -> std::optional<double> {
    if (node.kind == YamlNode::Kind::kScalar && (node.text == "inf" || node.text == ".inf")) return 0.0;
    return ReadNumber(type, {0, std::numeric_limits<double>::infinity(), true}, node, where, reading);
  };
  value.write = [](const double& rate, Form) { return rate == 0 ? Json("inf") : NumberJson(rate); };
  return value;
}

Value<std::optional<double>> Temperature() {
  const Range range{0, 10};
  const Value<double> number = Number(range);
  Value<std::optional<double>> value;
  value.type = number.type + ", or default";
  value.schema = {{"anyOf", {number.schema, {{"const", "default"}}}}};
  value.read = [type = value.type, range](const YamlNode& node, const Where& where,
                                          Reading& reading) -> std::optional<std::optional<double>> {
    if (node.kind == YamlNode::Kind::kScalar && node.text == "default") return std::optional<double>();
    const auto read = ReadNumber(type, range, node, where, reading);
    return read ? std::optional(read) : std::nullopt;
  };
  value.write = [](const std::optional<double>& temperature, Form) {
    return temperature ? NumberJson(*temperature) : Json("default");
  };
  return value;
}

Value<bool> TrueOrFalse() {
  Value<bool> value = OneOfEnum<bool>({{"true", true}, {"false", false}});
  value.type = "true or false";
  value.schema = {{"type", "boolean"}};
  value.read = [type = value.type](const YamlNode& node, const Where& where,
                                   Reading& reading) -> std::optional<bool> {
    const bool plain = node.kind == YamlNode::Kind::kScalar && !node.quoted;
    if (plain && (node.text == "true" || node.text == "false")) return node.text == "true";
    AddWrongType(type, node, where, reading);
    return std::nullopt;
  };
  value.write = [](const bool& yes, Form) { return Json(yes); };
  return value;
}

Value<std::string> Text() {
  Value<std::string> value;
  value.type = "text";
  // Source text is kept, so a number is as good a text as any.
  value.schema = {{"type", {"string", "number", "boolean"}}};
  value.read = [type = value.type](const YamlNode& node, const Where& where, Reading& reading) {
    return ReadScalar(type, node, where, reading);
  };
  value.write = [](const std::string& text, Form) { return text.empty() ? Json() : Json(text); };
  return value;
}

std::string MadeSafe(std::string_view name, size_t max_length, bool dots) {
  std::string safe;
  for (const char c : ToLower(name)) {
    const bool good = IsSafe(std::string("a") + c, dots);
    if (good || (!safe.empty() && safe.back() != '-')) safe += good ? c : '-';
  }
  while (!safe.empty() && !IsSafe(safe.substr(0, 1), dots)) safe.erase(0, 1);
  safe = safe.substr(0, max_length);
  while (!safe.empty() && safe.back() == '-') safe.pop_back();
  return safe;
}

Value<std::string> SafeName(size_t max_length, bool dots) {
  Value<std::string> value = Text();
  value.type = fmt::format("a name of at most {} lower-case letters, digits, {}- and _", max_length,
                           dots ? "., " : "");
  value.schema = {{"type", "string"},
                  {"pattern", dots ? "^[a-z0-9][a-z0-9_.-]*$" : "^[a-z0-9][a-z0-9_-]*$"},
                  {"maxLength", max_length}};
  value.read = [type = value.type, max_length, dots](const YamlNode& node, const Where& where,
                                                     Reading& reading) -> std::optional<std::string> {
    const auto text = ReadScalar(type, node, where, reading);
    if (!text || (IsSafe(*text, dots) && text->size() <= max_length)) return text;
    const std::string safe = MadeSafe(*text, max_length, dots);
    reading.mistakes.Add(node.mark, where.path,
                         fmt::format("must be {}, got {}; for example {}", type, Describe(node),
                                     safe.empty() ? where.example : safe));
    return std::nullopt;
  };
  return value;
}

Value<std::string> ModelName() {
  Value<std::string> value = Text();
  value.type = "a folder or a model id";
  value.schema = {{"type", "string"}};
  value.read = [type = value.type](const YamlNode& node, const Where& where, Reading& reading) {
    return ReadScalar(type, node, where, reading);
  };
  value.write = [](const std::string& text, Form form) {
    if (text.empty()) return Json();
    return Json(form == Form::kMeasured ? LastTwoParts(text) : text);
  };
  return value;
}

Value<Path> FilePath() {
  Value<Path> value;
  const Value<std::string> text = ModelName();
  value.type = "a file";
  value.schema = text.schema;
  value.read = [type = value.type](const YamlNode& node, const Where& where,
                                   Reading& reading) -> std::optional<Path> {
    const auto read = ReadScalar(type, node, where, reading);
    return read ? std::optional<Path>(*read) : std::nullopt;
  };
  value.write = [text](const Path& path, Form form) { return text.write(path.string(), form); };
  return value;
}

Value<std::string> OneOf(std::vector<std::string> choices, std::string type) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string& choice : choices) pairs.emplace_back(choice, choice);
  return OneOfEnum<std::string>(std::move(pairs), std::move(type));
}

Value<std::map<std::string, std::string>> Environment() {
  using Map = std::map<std::string, std::string>;
  Value<Map> value;
  value.type = "a map of names to values";
  value.schema = {{"type", "object"},
                  {"propertyNames", {{"pattern", "^[A-Za-z_][A-Za-z0-9_]*$"}}},
                  {"additionalProperties", {{"type", {"string", "number", "boolean"}}}}};
  value.read = [type = value.type](const YamlNode& node, const Where& where,
                                   Reading& reading) -> std::optional<Map> {
    if (!node.IsMap()) {
      AddWrongType(type, node, where, reading);
      return std::nullopt;
    }
    Map map;
    for (const YamlEntry& entry : node.entries) {
      const std::string path = JoinPath(where.path, entry.key);
      if (!IsVariableName(entry.key)) {
        reading.mistakes.Add(entry.mark, path,
                             "is no name of an environment variable; use letters, digits and _");
      } else if (entry.value.kind != YamlNode::Kind::kScalar) {
        reading.mistakes.Add(
            entry.value.mark, path,
            fmt::format("must be text, a number, true or false, got {}; write \"\" for an empty value and "
                        "quotes around a list or map",
                        Describe(entry.value)));
      } else {
        map[entry.key] = entry.value.text;
      }
    }
    return map;
  };
  value.write = [](const Map& map, Form) {
    Json object = Json::object();
    for (const auto& [name, text] : map) object[name] = text;
    return object;
  };
  return value;
}

Value<YamlNode> Anything() {
  Value<YamlNode> value;
  value.type = "anything";
  value.schema = Json::object({{"description", ""}});
  value.read = [](const YamlNode& node, const Where&, Reading&) { return std::optional(node); };
  value.write = [](const YamlNode&, Form) { return Json(); };
  return value;
}

Value<std::map<std::string, double>> NumberMap(std::vector<std::string> names) {
  using Map = std::map<std::string, double>;
  Value<Map> value;
  value.type = "a map of names to numbers";
  value.schema = {{"type", "object"},
                  {"propertyNames", {{"enum", names}}},
                  {"additionalProperties", {{"type", "number"}, {"minimum", 0}}}};
  value.read = [type = value.type, names](const YamlNode& node, const Where& where,
                                          Reading& reading) -> std::optional<Map> {
    if (!node.IsMap()) {
      AddWrongType(type, node, where, reading);
      return std::nullopt;
    }
    Map map;
    for (const YamlEntry& entry : node.entries) {
      const std::string path = JoinPath(where.path, entry.key);
      if (std::find(names.begin(), names.end(), entry.key) == names.end()) {
        const auto nearest = NearestName(entry.key, names);
        reading.mistakes.Add(entry.mark, path,
                             nearest ? fmt::format("unknown name; did you mean {}?", *nearest)
                                     : fmt::format("unknown name; for example {}", where.example));
        continue;
      }
      const auto number = ReadNumber("a number, 0 or more", {}, entry.value, {path, "2"}, reading);
      if (number) map[entry.key] = *number;
    }
    return map;
  };
  value.write = [](const Map& map, Form) {
    Json object = Json::object();
    for (const auto& [name, number] : map) object[name] = NumberJson(number);
    return object;
  };
  return value;
}

}  // namespace assay::runner
