#include "tokenizer/definition.h"

#include "base/text.h"

namespace assay::tokenizer {
namespace {

using nlohmann::json;

// ByteLevel with use_regex: GPT-2's pattern.
constexpr const char* kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

constexpr size_t kExcerpt = 100;

std::string Excerpt(const json& value) {
  const std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  return text.size() <= kExcerpt ? text : Printable(text.substr(0, kExcerpt)) + "...";
}

tl::unexpected<Error> Unsupported(std::string_view part, const json& value, std::string_view supported) {
  return Fail(ErrorKind::kUsage, "{}: {} is not supported, only {} is", part, Excerpt(value), supported);
}

// The field, or null (JSON) when the object has none.
const json& At(const json& object, const char* name) {
  static const json kNull;
  const auto field = object.find(name);
  return field == object.end() ? kNull : *field;
}

bool HasType(const json& value, const char* type) {
  return value.is_object() && At(value, "type") == type;
}

// Absent and null count as false.
bool IsFalse(const json& value) {
  return value.is_null() || value == false;
}

// The parts of a {"type": "Sequence"}, or the value alone.
std::vector<json> PartsOf(const json& value, const char* list) {
  if (!HasType(value, "Sequence") || !At(value, list).is_array()) return {value};
  return At(value, list).get<std::vector<json>>();
}

Status CheckModel(const json& model) {
  if (!model.is_object()) return Fail(ErrorKind::kUsage, "model: missing");
  const json& type = At(model, "type");  // absent in old files
  if (!type.is_null() && type != "BPE") return Unsupported("model.type", type, "\"BPE\"");
  const json& dropout = At(model, "dropout");
  if (!dropout.is_null() && dropout != 0.0) return Unsupported("model.dropout", dropout, "null");
  for (const char* name : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    const json& affix = At(model, name);
    if (!affix.is_null() && affix != "") return Unsupported(fmt::format("model.{}", name), affix, "null");
  }
  for (const char* name : {"byte_fallback", "ignore_merges"}) {
    const json& flag = At(model, name);
    if (!flag.is_null() && !flag.is_boolean())
      return Unsupported(fmt::format("model.{}", name), flag, "true or false");
  }
  if (!IsFalse(At(model, "byte_fallback"))) {
    return Unsupported("model.byte_fallback", At(model, "byte_fallback"), "false");
  }
  return {};
}

Status CheckIsOff(const json& rest, const char* part) {
  const json& value = At(rest, part);
  if (value.is_null()) return {};
  return Unsupported(part, value, "null");
}

Status CheckNormalizer(const json& normalizer) {
  for (const json& part : PartsOf(normalizer, "normalizers")) {
    if (!part.is_null()) return Unsupported("normalizer", part, "null");
  }
  return {};
}

Result<std::string> ReadSplit(const json& split) {
  const json& pattern = At(split, "pattern");
  if (!pattern.is_object() || !At(pattern, "Regex").is_string()) {
    return Unsupported("pre_tokenizer.Split.pattern", pattern, "{\"Regex\": ...}");
  }
  if (At(split, "behavior") != "Isolated") {
    return Unsupported("pre_tokenizer.Split.behavior", At(split, "behavior"), "\"Isolated\"");
  }
  if (!IsFalse(At(split, "invert")))
    return Unsupported("pre_tokenizer.Split.invert", At(split, "invert"), "false");
  return At(pattern, "Regex").get<std::string>();
}

Status ReadPreTokenizer(const json& pre_tokenizer, std::vector<std::string>* patterns) {
  const std::vector<json> parts = PartsOf(pre_tokenizer, "pretokenizers");
  for (size_t i = 0; i < parts.size(); ++i) {
    const json& part = parts[i];
    const bool last = i + 1 == parts.size();
    if (HasType(part, "Split") && !last) {
      ASSIGN_OR_RETURN(std::string pattern, ReadSplit(part));
      patterns->push_back(std::move(pattern));
    } else if (HasType(part, "ByteLevel") && last) {
      if (!IsFalse(At(part, "add_prefix_space"))) {
        return Unsupported("pre_tokenizer.ByteLevel.add_prefix_space", At(part, "add_prefix_space"), "false");
      }
      const json& use_regex = At(part, "use_regex");  // absent in old files: true
      if (use_regex.is_null() || use_regex == true) {
        patterns->push_back(kGpt2Pattern);
      } else if (use_regex != false) {
        return Unsupported("pre_tokenizer.ByteLevel.use_regex", use_regex, "true or false");
      }
      return {};
    } else {
      return Unsupported("pre_tokenizer", part, "ByteLevel, or Split and then ByteLevel");
    }
  }
  return Unsupported("pre_tokenizer", pre_tokenizer, "ByteLevel, or Split and then ByteLevel");
}

// A template for one text that is only the text.
bool AddsNothing(const json& processor) {
  const json& single = At(processor, "single");
  return single.is_array() && single.size() == 1 && single[0].is_object() && single[0].contains("Sequence");
}

Status CheckPostProcessor(const json& post_processor) {
  for (const json& part : PartsOf(post_processor, "processors")) {
    if (part.is_null() || HasType(part, "ByteLevel")) continue;
    if (HasType(part, "TemplateProcessing") && AddsNothing(part)) continue;
    return Unsupported("post_processor", part, "null, ByteLevel or a template that adds no token");
  }
  return {};
}

Result<AddedToken> ReadAddedToken(const json& token, std::string_view part) {
  if (!token.is_object() || !At(token, "content").is_string() || !At(token, "id").is_number_unsigned() ||
      At(token, "id") > (1 << 24)) {
    return Unsupported(part, token, "an object with a text \"content\" and a number \"id\"");
  }
  for (const char* flag : {"single_word", "lstrip", "rstrip"}) {
    if (!IsFalse(At(token, flag)))
      return Unsupported(fmt::format("{}.{}", part, flag), At(token, flag), "false");
  }
  for (const char* flag : {"special", "normalized"}) {
    const json& value = At(token, flag);
    if (!value.is_null() && !value.is_boolean()) {
      return Unsupported(fmt::format("{}.{}", part, flag), value, "true or false");
    }
  }
  AddedToken added;
  added.id = At(token, "id").get<int32_t>();
  added.content = At(token, "content").get<std::string>();
  added.special = At(token, "special") == true;
  added.normalized = At(token, "normalized") == true;
  return added;
}

}  // namespace

Result<Definition> ReadDefinition(const json& rest) {
  RETURN_IF_ERROR(CheckModel(At(rest, "model")));
  RETURN_IF_ERROR(CheckIsOff(rest, "truncation"));
  RETURN_IF_ERROR(CheckIsOff(rest, "padding"));
  RETURN_IF_ERROR(CheckNormalizer(At(rest, "normalizer")));
  RETURN_IF_ERROR(CheckPostProcessor(At(rest, "post_processor")));
  if (!HasType(At(rest, "decoder"), "ByteLevel"))
    return Unsupported("decoder", At(rest, "decoder"), "ByteLevel");
  Definition definition;
  definition.ignore_merges = At(At(rest, "model"), "ignore_merges") == true;
  RETURN_IF_ERROR(ReadPreTokenizer(At(rest, "pre_tokenizer"), &definition.patterns));
  const json& added_tokens = At(rest, "added_tokens");
  if (!added_tokens.is_null() && !added_tokens.is_array())
    return Unsupported("added_tokens", added_tokens, "a list");
  for (size_t i = 0; i < added_tokens.size(); ++i) {
    ASSIGN_OR_RETURN(AddedToken token, ReadAddedToken(added_tokens[i], fmt::format("added_tokens[{}]", i)));
    definition.added_tokens.push_back(std::move(token));
  }
  return definition;
}

}  // namespace assay::tokenizer
