#pragma once

#include <array>
#include <utility>

#include "record/metric.h"
#include "record/verdict.h"

// How enums are written in JSON and reports; one table each.
namespace assay::record {

template <typename Enum>
inline constexpr std::array<std::pair<Enum, const char*>, 0> kNames{};

template <>
inline constexpr std::array kNames<Direction>{
    std::pair{Direction::kHigherIsBetter, "higher_is_better"},
    std::pair{Direction::kLowerIsBetter, "lower_is_better"},
};

template <>
inline constexpr std::array kNames<Outcome>{
    std::pair{Outcome::kPass, "PASS"},
    std::pair{Outcome::kInconclusive, "INCONCLUSIVE"},
    std::pair{Outcome::kFail, "FAIL"},
    std::pair{Outcome::kInvalid, "INVALID"},
    std::pair{Outcome::kInfrastructure, "INFRASTRUCTURE"},
};

template <typename Enum>
constexpr const char* NameOf(Enum value) {
  for (const auto& [known, name] : kNames<Enum>) {
    if (known == value) return name;
  }
  return "";
}

}  // namespace assay::record
