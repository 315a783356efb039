#include "testing/golden.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/report.h"
#include "reports/scenes_test_support.h"

namespace assay::reports {
namespace {

Path Golden(const testing::Scene& scene, std::string_view file) {
  return Path(ASSAY_SOURCE_DIR) / "reports/golden" / scene.name / file;
}

TEST(ReportTable, RendersTheGoldenPageOfEachScene) {
  for (const testing::Scene& scene : testing::AllScenes()) {
    const record::Verdict verdict = VerdictOf(scene);
    const ReportInput input = InputOf(scene, verdict);
    for (const Report& report : ReportTable()) {
      const bool always = report.format == "markdown" || report.format == "json";
      const std::string page = report.render(input);
      if (always || scene.name == "fail" || scene.name == "invalid")
        testing::ExpectGolden(page, Golden(scene, report.file_name));
    }
    testing::ExpectGolden(RenderTerminal(input, false) + "\n", Golden(scene, "terminal.txt"));
    ReportInput chinese = input;
    chinese.language = Language::kChinese;
    testing::ExpectGolden(FindReport("markdown")->render(chinese), Golden(scene, "report.zh.md"));
  }
}

TEST(ReportTable, RendersAnEmptyRun) {
  const record::RunRecord record;
  const record::Verdict verdict;
  for (const Report& report : ReportTable()) {
    EXPECT_FALSE(report.render({record, verdict}).empty()) << report.format;
  }
}

TEST(RenderTerminal, ColoursOnlyWhenAsked) {
  const testing::Scene scene = testing::FailScene();
  const record::Verdict verdict = VerdictOf(scene);
  EXPECT_THAT(RenderTerminal({scene.run, verdict}, false), ::testing::Not(::testing::HasSubstr("\x1b")));
  EXPECT_THAT(RenderTerminal({scene.run, verdict}, true), ::testing::HasSubstr("\x1b[1;31mFAIL"));
}

}  // namespace
}  // namespace assay::reports
