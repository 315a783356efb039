#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

// Typed reading of one JSON object. The first wrong field is remembered and the rest is skipped, so that a
// parser is a plain list of fields that ends in Check().
namespace assay::wire {

// The object that `text` is, or an error of `kind` that names `what` and the byte. nlohmann's exceptions stop
// here.
Result<nlohmann::json> ParseJsonObject(std::string_view text, ErrorKind kind, std::string_view what);

class JsonFields {
 public:
  // `path` is put before the names in errors: "messages[0]". Both must outlive this.
  JsonFields(const nlohmann::json& object, ErrorKind kind, std::string path = "")
      : object_(&object), kind_(kind), path_(std::move(path)) {}

  // The value of a field that is there and not null.
  const nlohmann::json* Find(std::string_view name) const;

  // Each leaves `out` alone when the field is absent or null.
  void Text(std::string_view name, std::string* out);
  void Bool(std::string_view name, bool* out);
  void Integer(std::string_view name, int64_t* out, int64_t least, int64_t most);
  void Integer(std::string_view name, std::optional<int64_t>* out, int64_t least, int64_t most);
  void Number(std::string_view name, std::optional<double>* out, double least, double most);

  // Remembers "{path}.{name}: {problem}" unless there is an error already.
  void Wrong(std::string_view name, std::string_view problem);
  // "a string is needed, not 3"
  void WrongType(std::string_view name, std::string_view needed);

  // Takes over the error of an object inside this one.
  void Adopt(const JsonFields& inner) {
    if (Ok()) error_ = inner.error_;
  }

  std::string Path(std::string_view name) const;
  bool Ok() const { return !error_; }
  Status Check() const;

 private:
  const nlohmann::json* object_;
  ErrorKind kind_;
  std::string path_;
  std::optional<Error> error_;
};

// How a value reads in an error: short, on one line.
std::string Excerpt(const nlohmann::json& value);

}  // namespace assay::wire
