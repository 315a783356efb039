#include "testing/golden.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/report.h"
#include "testing/example_scenes.h"

namespace assay::reports {
namespace {

record::Verdict VerdictOf(const testing::Scene& scene) {
  const Path file = Path(ASSAY_SOURCE_DIR) / "gate/golden" / (scene.name + ".json");
  const Result<std::string> text = ReadFile(file);
  EXPECT_TRUE(text) << text.error().message;
  const Result<record::Verdict> verdict = record::ParseVerdict(*text, file.string());
  EXPECT_TRUE(verdict) << verdict.error().message;
  return *verdict;
}

Path Golden(const testing::Scene& scene, std::string_view file) {
  return Path(ASSAY_SOURCE_DIR) / "reports/golden" / scene.name / file;
}

TEST(ReportTable, RendersTheGoldenPageOfEachScene) {
  for (const testing::Scene& scene : testing::AllScenes()) {
    const record::Verdict verdict = VerdictOf(scene);
    for (const Report& report : ReportTable()) {
      testing::ExpectGolden(report.render(scene.run, verdict), Golden(scene, report.file_name));
    }
    testing::ExpectGolden(RenderTerminal(scene.run, verdict, false) + "\n", Golden(scene, "terminal.txt"));
  }
}

TEST(ReportTable, RendersAnEmptyRun) {
  for (const Report& report : ReportTable()) EXPECT_FALSE(report.render({}, {}).empty()) << report.format;
}

TEST(RenderTerminal, ColoursOnlyWhenAsked) {
  const testing::Scene scene = testing::FailScene();
  const record::Verdict verdict = VerdictOf(scene);
  EXPECT_THAT(RenderTerminal(scene.run, verdict, false), ::testing::Not(::testing::HasSubstr("\x1b")));
  EXPECT_THAT(RenderTerminal(scene.run, verdict, true), ::testing::HasSubstr("\x1b[1;31mFAIL"));
}

}  // namespace
}  // namespace assay::reports
