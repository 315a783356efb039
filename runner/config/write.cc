#include <algorithm>

#include "base/hash.h"
#include "runner/config/config_file.h"

namespace assay::runner {
namespace {

// Stands before what is hashed: a change of a default, which the hash leaves out, needs a new one.
constexpr char kHashVersion[] = "assay/config-hash/1";

bool IsPlain(const std::string& text) {
  static const std::vector<std::string> words = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"};
  const auto letter = [](unsigned char c) { return std::isalpha(c) != 0; };
  return !text.empty() && letter(static_cast<unsigned char>(text[0])) &&
         std::all_of(text.begin(), text.end(),
                     [&](unsigned char c) {
                       return letter(c) || std::isdigit(c) != 0 ||
                              std::string_view("_-./").find(static_cast<char>(c)) != std::string_view::npos;
                     }) &&
         std::find(words.begin(), words.end(), text) == words.end();
}

// A double-quoted YAML scalar reads JSON's escapes.
std::string Scalar(const Json& value) {
  return value.is_string() && IsPlain(value.get<std::string>()) ? value.get<std::string>() : value.dump();
}

std::string FlowList(const Json& list) {
  std::string text;
  for (const Json& item : list) text += (text.empty() ? "" : ", ") + Scalar(item);
  return "[" + text + "]";
}

void AppendMap(const Json& map, const std::string& indent, std::string first_indent, std::string& out) {
  for (const auto& [key, value] : map.items()) {
    out += first_indent + Scalar(key) + ":";
    first_indent = indent;
    const bool has_maps = value.is_array() && !value.empty() && value.front().is_object();
    if (has_maps) {
      out += "\n";
      for (const Json& item : value) AppendMap(item, indent + "    ", indent + "  - ", out);
    } else if (value.is_object() && !value.empty()) {
      out += "\n";
      AppendMap(value, indent + "  ", indent + "  ", out);
    } else if (value.is_array()) {
      out += " " + FlowList(value) + "\n";
    } else {
      out += " " + (value.is_object() ? "{}" : Scalar(value)) + "\n";
    }
  }
}

}  // namespace

std::string ToYaml(const Config& config) {
  std::string text;
  AppendMap(WriteSection(ConfigSection(), ToConfigFile(config), Form::kFull), "", "", text);
  return text;
}

std::string ConfigHash(const Config& config) {
  ConfigFile file = ToConfigFile(config);
  if (!file.engine.argv.empty()) file.engine.argv[0] = Path(file.engine.argv[0]).filename().string();
  const Json measured = {{"engine", WriteSection(EngineSection(), file.engine, Form::kMeasured)},
                         {"evals", WriteSection(EvalsSection(), file.evals, Form::kMeasured)}};
  return Sha256(std::string(kHashVersion) + "\n" +
                measured.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace assay::runner
