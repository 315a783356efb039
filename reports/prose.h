#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// A verdict's sentences are made when it is reached and stored as text. To say one in another language, the
// phrase it was made from is found again, with its values.
namespace assay::reports {

// The values that `text` has where `pattern` has {}; nothing if the words around them differ.
std::optional<std::vector<std::string>> ValuesOf(std::string_view pattern, std::string_view text);

// The sentence in Chinese, by the rows of ChineseVerdicts(); values are sentences too. Where no row fits, its
// parts are said one by one, and what no row has stays English.
std::string ChineseProse(std::string_view english);

}  // namespace assay::reports
