#include "evals/serving/conversations.h"

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "wire/json_fields.h"

namespace assay::evals {
namespace {

using nlohmann::json;

constexpr int64_t kLongest = 10'000'000;  // tokens

const std::string* TurnText(const json& turn) {
  const auto value = turn.is_object() ? turn.find("value") : turn.end();
  return value == turn.end() || !value->is_string() ? nullptr : value->get_ptr<const std::string*>();
}

}  // namespace

Result<std::vector<Conversation>> LoadShareGpt(const Path& file) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  const json list = json::parse(text, nullptr, false);
  const auto wrong = [&](std::string_view problem) {
    return Fail(
        ErrorKind::kUsage,
        "{}: {}; ShareGPT's form is [{{\"conversations\": [{{\"from\": \"human\", \"value\": ...}}, ...]"
        "}}, ...]",
        file.string(), problem);
  };
  if (list.is_discarded()) return wrong("is not valid JSON");
  if (!list.is_array()) return wrong("is not a JSON list");
  std::vector<Conversation> conversations;
  for (size_t i = 0; i < list.size(); ++i) {
    const auto turns = list[i].is_object() ? list[i].find("conversations") : list[i].end();
    if (!list[i].is_object() || turns == list[i].end() || !turns->is_array()) {
      return wrong(fmt::format("entry {} has no list of conversations", i));
    }
    if (turns->size() < 2) continue;
    const std::string *prompt = TurnText((*turns)[0]), *answer = TurnText((*turns)[1]);
    if (prompt == nullptr || answer == nullptr) {
      return wrong(fmt::format("a turn of entry {} has no text in value", i));
    }
    conversations.push_back({*prompt, *answer, std::nullopt});
  }
  if (conversations.empty()) return wrong("holds no conversation of two turns");
  return conversations;
}

Result<std::vector<Conversation>> LoadCustom(const Path& file) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  std::vector<Conversation> conversations;
  size_t number = 0;
  for (const std::string& line : SplitLines(text)) {
    ++number;
    if (Trim(line).empty()) continue;
    const std::string place = fmt::format("{}:{}", file.string(), number);
    ASSIGN_OR_RETURN(const json object, wire::ParseJsonObject(line, ErrorKind::kUsage, place));
    wire::JsonFields fields(object, ErrorKind::kUsage);
    Conversation conversation;
    fields.Text("prompt", &conversation.prompt);
    fields.Integer("output_tokens", &conversation.output_tokens, 1, kLongest);
    if (conversation.prompt.empty()) fields.Wrong("prompt", "a text that is not empty is needed");
    if (const Status status = fields.Check(); !status) {
      return Fail(ErrorKind::kUsage, "{}: {}", place, status.error().message);
    }
    conversations.push_back(std::move(conversation));
  }
  if (conversations.empty()) return Fail(ErrorKind::kUsage, "{}: holds no prompt", file.string());
  return conversations;
}

}  // namespace assay::evals
