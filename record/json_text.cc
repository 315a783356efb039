#include "record/json_text.h"

#include <algorithm>
#include <utility>

namespace assay::record {
namespace {

using Json = nlohmann::json;

bool HoldsObjects(const Json& json) {
  return std::any_of(json.begin(), json.end(), [](const Json& child) {
    return child.is_object() || (child.is_array() && HoldsObjects(child));
  });
}

void Append(const Json& json, int depth, std::string& out) {
  if (!json.is_structured() || !HoldsObjects(json)) {
    out += json.dump(-1, ' ', false, Json::error_handler_t::replace);
    return;
  }
  const std::string indent(static_cast<size_t>(depth + 1), ' ');
  out += json.is_object() ? '{' : '[';
  bool first = true;
  for (auto child = json.begin(); child != json.end(); ++child) {
    if (!std::exchange(first, false)) out += ',';
    out += '\n' + indent;
    if (json.is_object()) out += Json(child.key()).dump() + ": ";
    Append(*child, depth + 1, out);
  }
  out += '\n' + std::string(static_cast<size_t>(depth), ' ') + (json.is_object() ? '}' : ']');
}

}  // namespace

std::string JsonText(const Json& json) {
  std::string text;
  Append(json, 0, text);
  text += '\n';
  return text;
}

Result<Json> ParseJsonText(std::string_view text, std::string_view source) {
  try {
    return Json::parse(text);
  } catch (const Json::exception& e) {
    return Fail(ErrorKind::kUsage, "{}: not readable as JSON: {}", source, e.what());
  }
}

}  // namespace assay::record
