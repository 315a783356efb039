#include "reports/github_annotations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "testing/example_run.h"

namespace assay::reports {
namespace {

record::Check Failing(const std::string& cell, const std::string& reason) {
  record::Check check;
  check.cell = cell;
  check.group = "accuracy";
  check.metric = "gpqa_score";
  check.rule = "paired";
  check.outcome = record::Outcome::kFail;
  check.reason = reason;
  return check;
}

TEST(RenderGithubAnnotations, EscapesAsWorkflowCommandsAreRead) {
  record::RunRecord run = testing::ExampleRun();
  run.cells[0].config_file = "configs/a:b,c.yaml";
  record::Verdict verdict;
  verdict.checks = {Failing(run.cells[0].key, "100 %\n::error::injected")};
  const std::string text = RenderGithubAnnotations({run, verdict});
  EXPECT_THAT(text,
              ::testing::HasSubstr("::error file=configs/a%3Ab%2Cc.yaml,title=FAIL gpqa_score%2C against the "
                                   "baseline::tiny-moe.cpu.smoke: 100 %25%0A::error::injected\n"));
  EXPECT_EQ(SplitLines(text).size(), 2u);  // and the headline
}

TEST(RenderGithubAnnotations, NeverShowsMoreThanGitHubDoes) {
  const record::RunRecord run = testing::ExampleRun();
  record::Verdict verdict;
  for (int i = 0; i < 40; ++i) verdict.checks.push_back(Failing("", "worse"));
  const std::string text = RenderGithubAnnotations({run, verdict});
  size_t errors = 0;
  for (const std::string& line : SplitLines(text)) errors += StartsWith(line, "::error ");
  EXPECT_EQ(errors, 10u);
  EXPECT_THAT(text, ::testing::HasSubstr("::error title=assay::31 more"));
}

}  // namespace
}  // namespace assay::reports
