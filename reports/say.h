#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

// The words of a report. Renderers write English; another language is a table of the same phrases
// (reports/chinese.h), so that there is one renderer for all.
namespace assay::reports {

enum class Language { kEnglish, kChinese };

class Say {
 public:
  explicit Say(Language language) : language_(language) {}

  // A phrase of the renderers, with its values filled in.
  template <typename... Args>
  std::string operator()(fmt::format_string<Args...> english, Args&&... args) const {
    return fmt::vformat(Pattern(fmt::string_view(english)), fmt::make_format_args(args...));
  }

  // A phrase that stands in a table of its own: a name, a column.
  std::string Word(std::string_view english) const;

  // A sentence that the verdict brings along. Verdicts are written in English; a sentence without a phrase of
  // its own stays as it is.
  std::string Verdict(std::string_view english) const;

  Language language() const { return language_; }

 private:
  fmt::string_view Pattern(fmt::string_view english) const;

  Language language_;
};

}  // namespace assay::reports
