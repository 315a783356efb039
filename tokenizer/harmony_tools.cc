#include <fmt/format.h>

#include <set>

#include "base/text.h"
#include "tokenizer/harmony.h"

// Functions as gpt-oss was shown them in training: TypeScript types made from JSON schemas. Where a schema
// says more than the format has words for (anyOf, bounds), the model is not told.
namespace assay::tokenizer {
namespace {

using Schema = nlohmann::ordered_json;

const Schema* Find(const Schema& schema, const char* name) {
  const auto field = schema.is_object() ? schema.find(name) : schema.end();
  return field == schema.end() ? nullptr : &*field;
}

// The field's text, or "" when it is no text.
std::string TextOf(const Schema& schema, const char* name) {
  const Schema* field = Find(schema, name);
  return field != nullptr && field->is_string() ? field->get<std::string>() : "";
}

const Schema* List(const Schema& schema, const char* name) {
  const Schema* field = Find(schema, name);
  return field != nullptr && field->is_array() ? field : nullptr;
}

std::string Quoted(const std::string& text) {
  return "\"" + text + "\"";
}

// "default: 20", or "". A word of an enum stands without quotes.
std::string DefaultText(const Schema& schema) {
  const Schema* value = Find(schema, "default");
  if (value == nullptr) return "";
  if (!value->is_string()) return "default: " + value->dump(-1, ' ', false, Schema::error_handler_t::replace);
  const Schema* words = List(schema, "enum");
  const bool is_enum = words != nullptr && !words->empty();
  return "default: " + (is_enum ? value->get<std::string>() : Quoted(value->get<std::string>()));
}

std::string TypeText(const Schema& schema, const std::string& indent);

std::string NullableTypeText(const Schema& schema, const std::string& indent) {
  std::string type = TypeText(schema, indent);
  const Schema* nullable = Find(schema, "nullable");
  const bool or_null = nullable != nullptr && *nullable == true && type.find("null") == std::string::npos;
  return or_null ? type + " | null" : type;
}

std::string Comment(const std::vector<std::string>& parts) {
  std::vector<std::string> said;
  for (const std::string& part : parts) {
    if (!part.empty()) said.push_back(part);
  }
  return said.empty() ? "" : " // " + Join(said, " ");
}

std::string LinesAbove(const Schema& property, const std::string& indent) {
  std::string out;
  const std::string title = TextOf(property, "title");
  if (!title.empty()) out += fmt::format("{0}// {1}\n{0}//\n", indent, title);
  const bool variants = List(property, "oneOf") != nullptr;
  const std::string description = TextOf(property, "description");
  if (!variants && !description.empty()) out += fmt::format("{}// {}\n", indent, description);
  const Schema* examples = List(property, "examples");
  if (examples == nullptr || examples->empty()) return out;
  out += indent + "// Examples:\n";
  for (const Schema& example : *examples) {
    if (example.is_string()) out += fmt::format("{}// - \"{}\"\n", indent, example.get<std::string>());
  }
  return out;
}

// A property that is one of several types: each on a line of its own.
std::string VariantProperty(const std::string& name, const Schema& property, const Schema& variants,
                            const std::string& indent) {
  const std::string description = TextOf(property, "description");
  const bool repeated = !variants.empty() && TextOf(variants.front(), "description") == description;
  const bool above = !description.empty() && !repeated;
  std::string out;
  if (above) out += fmt::format("{}// {}\n", indent, description);
  const std::string default_text = DefaultText(property);
  if (!default_text.empty()) out += fmt::format("{}// {}\n", indent, default_text);
  out += indent + name + ":\n";
  bool first = true;
  for (const Schema& variant : variants) {
    std::string own = TextOf(variant, "description");
    if (own == description || (first && above)) own.clear();
    out += fmt::format("{} | {}{}\n", indent, NullableTypeText(variant, indent + "   "),
                       Comment({own, DefaultText(variant)}));
    first = false;
  }
  return out + indent + ",\n";
}

std::string ObjectText(const Schema& schema, const std::string& indent) {
  std::string out;
  const std::string description = TextOf(schema, "description");
  if (!description.empty()) out += fmt::format("{}// {}\n", indent, description);
  out += "{\n";
  std::set<std::string> required;
  if (const Schema* names = List(schema, "required")) {
    for (const Schema& name : *names) {
      if (name.is_string()) required.insert(name.get<std::string>());
    }
  }
  const Schema* properties = Find(schema, "properties");
  if (properties != nullptr && properties->is_object()) {
    for (const auto& [key, property] : properties->items()) {
      const std::string name = required.contains(key) ? key : key + "?";
      out += LinesAbove(property, indent);
      if (const Schema* variants = List(property, "oneOf")) {
        out += VariantProperty(name, property, *variants, indent);
      } else {
        out += fmt::format("{}{}: {},{}\n", indent, name, NullableTypeText(property, indent + "    "),
                           Comment({DefaultText(property)}));
      }
    }
  }
  return out + indent + "}";
}

std::string VariantsText(const Schema& variants, const std::string& indent) {
  std::string out;
  for (const Schema& variant : variants) {
    out += fmt::format("\n{} | {}{}", indent, NullableTypeText(variant, indent + "   "),
                       Comment({TextOf(variant, "description"), DefaultText(variant)}));
  }
  return out;
}

std::string StringText(const Schema& schema) {
  std::vector<std::string> words;
  if (const Schema* list = List(schema, "enum")) {
    for (const Schema& word : *list) {
      if (word.is_string()) words.push_back(Quoted(word.get<std::string>()));
    }
  }
  return words.empty() ? "string" : Join(words, " | ");
}

std::string TypeText(const Schema& schema, const std::string& indent) {
  if (const Schema* variants = List(schema, "oneOf")) return VariantsText(*variants, indent);
  if (const Schema* types = List(schema, "type")) {
    std::vector<std::string> names;
    for (const Schema& type : *types) {
      if (type.is_string()) names.push_back(type == "integer" ? "number" : type.get<std::string>());
    }
    if (!names.empty()) return Join(names, " | ");
  }
  const std::string type = TextOf(schema, "type");
  if (type == "object") return ObjectText(schema, indent);
  if (type == "string") return StringText(schema);
  if (type == "number" || type == "integer") return "number";
  if (type == "boolean") return "boolean";
  if (type != "array") return "any";
  const Schema* items = Find(schema, "items");
  return items != nullptr ? TypeText(*items, indent) + "[]" : "Array<any>";
}

}  // namespace

std::string HarmonyToolSection(std::span<const HarmonyTool> tools) {
  std::string out = "# Tools\n\n## functions\n\nnamespace functions {\n\n";
  for (const HarmonyTool& tool : tools) {
    if (!tool.description.empty()) {
      for (const std::string& line : SplitLines(tool.description)) out += fmt::format("// {}\n", line);
    }
    out += fmt::format("type {} = ({}) => any;\n\n", tool.name,
                       tool.parameters.is_null() ? "" : "_: " + TypeText(tool.parameters, ""));
  }
  return out + "} // namespace functions";
}

}  // namespace assay::tokenizer
