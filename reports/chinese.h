#pragma once

#include <span>
#include <string_view>

namespace assay::reports {

// One phrase in both languages. {} stands for a value; where the order differs, Chinese numbers them ({1}).
struct Phrase {
  std::string_view english, chinese;
};

std::span<const Phrase> ChinesePages();     // what renderers say
std::span<const Phrase> ChineseVerdicts();  // what the gate says: reasons, details, notes, headlines

// The phrase of a renderer in Chinese; itself where the table has none.
std::string_view ChinesePattern(std::string_view english);

}  // namespace assay::reports
