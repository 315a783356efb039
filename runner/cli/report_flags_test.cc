#include "runner/cli/report_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runner/cli/command.h"

namespace assay::runner {
namespace {

TEST(ReportHelp, ListsEachFormat) {
  for (const reports::Report& report : reports::ReportTable()) {
    EXPECT_NE(kReportHelp.find("  " + std::string(report.format) + "  "), std::string_view::npos)
        << report.format;
  }
}

TEST(PrintReport, AnswersAnUnknownFormatWithTheNearest) {
  const record::RunRecord record;
  const record::Verdict verdict;
  const Status printed = PrintReport({record, verdict}, "htlm");
  ASSERT_FALSE(printed);
  EXPECT_THAT(printed.error().message, ::testing::HasSubstr("did you mean html?"));
  EXPECT_THAT(printed.error().message, ::testing::HasSubstr("terminal, markdown, html"));
}

TEST(AddLanguageFlag, TakesEnAndZh) {
  for (const auto& [name, language] :
       {std::pair{"en", reports::Language::kEnglish}, {"zh", reports::Language::kChinese}}) {
    CLI::App app;
    reports::Language parsed{};
    AddLanguageFlag(app, parsed);
    app.parse(std::string("--lang ") + name);
    EXPECT_EQ(parsed, language) << name;
  }
  CLI::App app;
  reports::Language parsed{};
  AddLanguageFlag(app, parsed);
  EXPECT_THROW(app.parse("--lang fr"), CLI::ParseError);
}

}  // namespace
}  // namespace assay::runner
