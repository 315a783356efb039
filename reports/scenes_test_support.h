#pragma once

#include <gtest/gtest.h>

#include "base/file.h"
#include "reports/report.h"
#include "testing/example_scenes.h"

namespace assay::reports {

// A verdict of a scene, kept beside the pages so that they change with the reports and not with every word of
// the gate; gate/golden has what it says now.
inline record::Verdict VerdictOf(const testing::Scene& scene) {
  const Path file = Path(ASSAY_SOURCE_DIR) / "reports/testdata/verdicts" / (scene.name + ".json");
  const Result<std::string> text = ReadFile(file);
  EXPECT_TRUE(text) << text.error().message;
  const Result<record::Verdict> verdict = record::ParseVerdict(*text, file.string());
  EXPECT_TRUE(verdict) << verdict.error().message;
  return *verdict;
}

inline ReportInput InputOf(const testing::Scene& scene, const record::Verdict& verdict) {
  ReportInput input{scene.run, verdict};
  for (const record::CellRecord& cell : scene.baseline) input.baseline[cell.key].push_back(&cell);
  if (scene.name == "fail") {
    input.links = {"https://ci.example/builds/7#job", "https://ci.example/builds/7/artifacts", "out/pr"};
    input.base_name = "main";
    input.head_name = "PR";
  }
  return input;
}

}  // namespace assay::reports
