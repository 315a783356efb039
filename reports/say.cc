#include "reports/say.h"

#include "reports/chinese.h"
#include "reports/prose.h"

namespace assay::reports {

fmt::string_view Say::Pattern(fmt::string_view english) const {
  if (language_ == Language::kEnglish) return english;
  const std::string_view chinese = ChinesePattern({english.data(), english.size()});
  return {chinese.data(), chinese.size()};
}

std::string Say::Word(std::string_view english) const {
  return std::string(language_ == Language::kEnglish ? english : ChinesePattern(english));
}

std::string Say::Verdict(std::string_view english) const {
  return language_ == Language::kEnglish ? std::string(english) : ChineseProse(english);
}

}  // namespace assay::reports
