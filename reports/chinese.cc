#include "reports/chinese.h"

#include <unordered_map>

namespace assay::reports {

std::string_view ChinesePattern(std::string_view english) {
  static const auto table = [] {
    std::unordered_map<std::string_view, std::string_view> phrases;
    for (const Phrase& phrase : ChinesePages()) phrases.emplace(phrase.english, phrase.chinese);
    return phrases;
  }();
  const auto found = table.find(english);
  return found == table.end() ? english : found->second;
}

}  // namespace assay::reports
