#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace assay::record {

// One line for each object that holds no other (a sample, a request), indented otherwise: small, readable,
// and a diff of two records shows the questions that flipped.
std::string JsonText(const nlohmann::json& json);

// `source` names the text in the error, which has line and column.
Result<nlohmann::json> ParseJsonText(std::string_view text, std::string_view source);

}  // namespace assay::record
