#include "wire/error_shapes.h"

#include "base/text.h"
#include "wire/json_fields.h"

namespace assay::wire {
namespace {

using nlohmann::json;

const json* Find(const json& object, const char* name) {
  const auto field = object.find(name);
  return field == object.end() || field->is_null() ? nullptr : &*field;
}

std::string TextOf(const json& value) {
  return value.is_string() ? value.get<std::string>() : JsonText(value);
}

// HTTP status: `code` is a number, a text with one, or a word such as "context_length_exceeded".
int StatusOf(const json& error) {
  const json* code = Find(error, "code");
  if (code == nullptr) return ErrorBody().status;
  const std::string text = TextOf(*code);
  const bool digits = text.size() == 3 && text.find_first_not_of("0123456789") == std::string::npos;
  return digits && text >= "100" && text <= "599" ? std::stoi(text) : ErrorBody().status;
}

ErrorBody FromObject(const json& error) {
  ErrorBody body;
  body.status = StatusOf(error);
  if (const json* type = Find(error, "type")) body.type = TextOf(*type);
  const json* message = Find(error, "message");
  body.message = message != nullptr ? TextOf(*message) : JsonText(error);
  return body;
}

// FastAPI: one text, or a list of {"loc": ["body", "messages"], "msg": "Field required"}.
std::string DetailText(const json& detail) {
  if (!detail.is_array()) return TextOf(detail);
  std::vector<std::string> parts;
  for (const json& item : detail) {
    const json* message = item.is_object() ? Find(item, "msg") : nullptr;
    if (message == nullptr) {
      parts.push_back(TextOf(item));
      continue;
    }
    std::vector<std::string> place;
    if (const json* loc = Find(item, "loc"); loc != nullptr && loc->is_array()) {
      for (const json& step : *loc) place.push_back(TextOf(step));
    }
    parts.push_back(place.empty() ? TextOf(*message) : Join(place, ".") + ": " + TextOf(*message));
  }
  return Join(parts, "; ");
}

}  // namespace

std::optional<ErrorBody> FindError(const json& object) {
  if (const json* error = Find(object, "error")) {
    if (error->is_object()) return FromObject(*error);
    ErrorBody body;
    body.message = TextOf(*error);
    return body;
  }
  const json* kind = Find(object, "object");
  if (kind != nullptr && *kind == "error") return FromObject(object);
  const json* detail = Find(object, "detail");
  if (detail != nullptr && Find(object, "choices") == nullptr) {
    ErrorBody body;
    body.message = DetailText(*detail);
    return body;
  }
  return std::nullopt;
}

json ToJson(const ErrorBody& error) {
  return {{"error",
           {{"message", error.message}, {"type", error.type}, {"param", nullptr}, {"code", error.status}}}};
}

std::string ErrorMessage(std::string_view body) {
  if (const Result<json> object = ParseJsonObject(body, ErrorKind::kInfrastructure, "error body")) {
    if (const std::optional<ErrorBody> error = FindError(*object)) return error->message;
    if (const json* message = Find(*object, "message"); message != nullptr && message->is_string()) {
      return message->get<std::string>();
    }
  }
  return std::string(Trim(body));
}

}  // namespace assay::wire
