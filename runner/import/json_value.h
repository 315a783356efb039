#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

// Members of a result file that somebody else wrote.
namespace assay::runner {

// A finite number; nullopt when the member is missing or null, an error when it is something else.
inline Result<std::optional<double>> NumberAt(const nlohmann::json& object, const std::string& key,
                                              const std::string& source) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return std::optional<double>();
  if (!found->is_number() || !std::isfinite(found->get<double>())) {
    return Fail(ErrorKind::kUsage, "{}: {}: expected a number, got {}", source, key,
                found->dump().substr(0, 60));
  }
  return std::optional<double>(found->get<double>());
}

inline Result<double> RequiredNumberAt(const nlohmann::json& object, const std::string& key,
                                       const std::string& source) {
  ASSIGN_OR_RETURN(const std::optional<double> number, NumberAt(object, key, source));
  if (!number) return Fail(ErrorKind::kUsage, "{}: {} is missing", source, key);
  return *number;
}

inline std::string StringAt(const nlohmann::json& object, const std::string& key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// Null where an element is no number. Empty when the member is missing.
inline std::vector<std::optional<double>> NumbersAt(const nlohmann::json& object, const std::string& key) {
  std::vector<std::optional<double>> numbers;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return numbers;
  for (const nlohmann::json& element : *found) {
    numbers.push_back(element.is_number() ? std::optional<double>(element.get<double>()) : std::nullopt);
  }
  return numbers;
}

}  // namespace assay::runner
