#include "wire/json_fields.h"

#include <limits>

#include "base/text.h"
#include "wire/chat.h"

namespace assay::wire {
namespace {

constexpr size_t kExcerpt = 60;

// nlohmann's "[json.exception.parse_error.101] parse error at line 1, column 9: syntax error ..." without the
// brackets.
std::string_view Reason(std::string_view what) {
  const size_t end = what.find("] ");
  return end == std::string_view::npos ? what : what.substr(end + 2);
}

}  // namespace

Result<nlohmann::json> ParseJsonObject(std::string_view text, ErrorKind kind, std::string_view what) {
  try {
    nlohmann::json value = nlohmann::json::parse(text);
    if (!value.is_object()) return Fail(kind, "{}: a JSON object is needed, not {}", what, Excerpt(value));
    return value;
  } catch (const nlohmann::json::exception& error) {
    return Fail(kind, "{}: not valid JSON: {}", what, Printable(Reason(error.what())));
  }
}

const nlohmann::json* JsonFields::Find(std::string_view name) const {
  const auto field = object_->find(name);
  return field == object_->end() || field->is_null() ? nullptr : &*field;
}

void JsonFields::Text(std::string_view name, std::string* out) {
  const nlohmann::json* value = Find(name);
  if (value == nullptr) return;
  if (!value->is_string()) return WrongType(name, "a string");
  *out = value->get_ref<const std::string&>();
}

void JsonFields::Bool(std::string_view name, bool* out) {
  const nlohmann::json* value = Find(name);
  if (value == nullptr) return;
  if (!value->is_boolean()) return WrongType(name, "true or false");
  *out = value->get<bool>();
}

void JsonFields::Integer(std::string_view name, int64_t* out, int64_t least, int64_t most) {
  std::optional<int64_t> value;
  Integer(name, &value, least, most);
  if (value) *out = *value;
}

void JsonFields::Integer(std::string_view name, std::optional<int64_t>* out, int64_t least, int64_t most) {
  const nlohmann::json* value = Find(name);
  if (value == nullptr) return;
  if (!value->is_number_integer()) return WrongType(name, "a whole number");
  const bool huge = value->is_number_unsigned() &&
                    value->get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  const int64_t number = huge ? 0 : value->get<int64_t>();
  if (!huge && number >= least && number <= most) {
    *out = number;
  } else if (most == std::numeric_limits<int64_t>::max()) {
    Wrong(name, fmt::format("must be at least {}, got {}", least, Excerpt(*value)));
  } else {
    Wrong(name, fmt::format("must be in [{}, {}], got {}", least, most, Excerpt(*value)));
  }
}

void JsonFields::Number(std::string_view name, std::optional<double>* out, double least, double most) {
  const nlohmann::json* value = Find(name);
  if (value == nullptr) return;
  if (!value->is_number()) return WrongType(name, "a number");
  const auto number = value->get<double>();
  if (number < least || number > most) {
    return Wrong(name, fmt::format("must be in [{}, {}], got {}", least, most, Excerpt(*value)));
  }
  *out = number;
}

void JsonFields::Wrong(std::string_view name, std::string_view problem) {
  if (Ok()) error_ = Error{kind_, fmt::format("{}: {}", Path(name), problem)};
}

void JsonFields::WrongType(std::string_view name, std::string_view needed) {
  const nlohmann::json* value = Find(name);
  const std::string got = value == nullptr ? "nothing" : Excerpt(*value);
  Wrong(name, fmt::format("{} is needed, not {}", needed, got));
}

std::string JsonFields::Path(std::string_view name) const {
  return path_.empty() || name.empty() ? path_ + std::string(name) : path_ + "." + std::string(name);
}

Status JsonFields::Check() const {
  if (error_) return tl::unexpected<Error>(*error_);
  return {};
}

std::string Excerpt(const nlohmann::json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  const std::string text = JsonText(value);
  return text.size() <= kExcerpt ? text : Printable(text.substr(0, kExcerpt)) + "...";
}

}  // namespace assay::wire
