#include <gtest/gtest.h>

#include <regex>

#include "base/text.h"
#include "reports/report.h"
#include "reports/scenes_test_support.h"

namespace assay::reports {
namespace {

// Names, commands and what servers wrote stay as they are: they stand in code.
std::string WithoutCode(const std::string& page) {
  std::string text;
  bool block = false;
  for (const std::string& line : SplitLines(page)) {
    if (StartsWith(line, "```")) block = !block;
    if (!block) text += std::regex_replace(line, std::regex("(`+)[^`]*\\1|<[^>]*>"), "") + "\n";
  }
  return text;
}

// Four English words in a row are a sentence that nobody translated.
TEST(ChinesePage, HasNoEnglishSentence) {
  const std::regex sentence("[A-Za-z]{2,}( [A-Za-z]{2,}){3,}");
  for (const testing::Scene& scene : testing::AllScenes()) {
    const record::Verdict verdict = VerdictOf(scene);
    ReportInput input = InputOf(scene, verdict);
    input.language = Language::kChinese;
    const std::string text = WithoutCode(FindReport("md")->render(input));
    for (std::sregex_iterator found(text.begin(), text.end(), sentence), end; found != end; ++found) {
      ADD_FAILURE() << scene.name << ": \"" << found->str()
                    << "\" has no phrase in reports/chinese_pages.cc or chinese_verdicts.cc";
    }
  }
}

TEST(ChinesePage, SaysWhatTheEnglishOneSays) {
  const testing::Scene scene = testing::FailScene();
  const record::Verdict verdict = VerdictOf(scene);
  ReportInput input = InputOf(scene, verdict);
  input.language = Language::kChinese;
  const std::string page = FindReport("md")->render(input);
  for (const char* text :
       {"执行摘要", "推荐动作", "风险标记", "准确率下降", "0.8549 (383/448)", "-8.3 分", "**FAIL**"})
    EXPECT_NE(page.find(text), std::string::npos) << text;
}

}  // namespace
}  // namespace assay::reports
