#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>

#include "base/result.h"

namespace assay::engine {

// Fields of a JSON object. A missing one or one of the wrong type is an error that names file and field:
// "models/x/config.json: field head_dim is missing".
class JsonFields {
 public:
  // `prefix` is "" or "rope_scaling.".
  JsonFields(const nlohmann::json& object, std::string source, std::string prefix = "")
      : object_(object), source_(std::move(source)), prefix_(std::move(prefix)) {}

  bool Has(const std::string& name) const { return object_.contains(name) && !object_.at(name).is_null(); }
  // The first of `names` that is there: published checkpoints spell some fields in two ways.
  Result<int64_t> Integer(std::initializer_list<const char*> names) const;
  Result<double> Number(const char* name) const;
  Result<bool> Boolean(const char* name) const;
  Result<std::string> Text(std::initializer_list<const char*> names) const;
  Result<JsonFields> Object(const char* name) const;

  const nlohmann::json& json() const { return object_; }
  tl::unexpected<Error> Wrong(const std::string& name, const std::string& what) const;

 private:
  Result<const nlohmann::json*> Find(std::initializer_list<const char*> names, const char* type,
                                     bool (*is_type)(const nlohmann::json&)) const;

  const nlohmann::json& object_;
  std::string source_, prefix_;
};

// The object in a file's text.
Result<nlohmann::json> ParseJsonObject(const std::string& text, const std::string& source);

}  // namespace assay::engine
