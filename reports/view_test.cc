#include "reports/view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/example_run.h"

namespace assay::reports {
namespace {

// Two pairs of runs in turn; what is concluded is said of the comparison, whose key is no run's.
struct TwoArms {
  TwoArms() {
    run = testing::ExampleRun();
    const record::CellRecord example = run.cells[0];
    run.cells.clear();
    run.ab.emplace();
    run.ab->base = {"base", "git main", ""};
    run.ab->head = {"head", "git change", ""};
    for (const char* key : {"x.1-base", "x.1-head", "x.2-head", "x.2-base"}) {
      run.cells.push_back(example);
      run.cells.back().key = key;
      run.ab->runs.push_back({key[2] - '0', std::string(key).substr(4)});
    }
    record::Check check;
    check.cell = "x";
    check.group = "serving:128x32";
    check.metric = "tpot_p50_ms";
    check.rule = "performance";
    check.unit = "ms";
    check.outcome = record::Outcome::kFail;
    check.value = 5.5;
    check.reference = 5;
    check.change = 0.1;
    check.reason = "+10.0 %";
    verdict.outcome = record::Outcome::kFail;
    verdict.checks = {check};
  }
  record::RunRecord run;
  record::Verdict verdict;
};

TEST(View, OfTwoArmsHasOneCellWithTheComparison) {
  const TwoArms arms;
  const View view({arms.run, arms.verdict});
  ASSERT_EQ(view.cells.size(), 1u);
  EXPECT_EQ(view.cells[0]->key, "x.1-head");
  ASSERT_EQ(view.ChecksOf("x.1-head").size(), 1u);
  ASSERT_EQ(view.baseline.at("x.1-head").size(), 2u);
  EXPECT_EQ(view.baseline.at("x.1-head")[1]->key, "x.2-base");
  EXPECT_EQ(view.base_name, "git main");
}

TEST(View, OfTwoArmsIsPrintedWithBothNames) {
  const TwoArms arms;
  const std::string page = FindReport("md")->render({arms.run, arms.verdict});
  EXPECT_THAT(page, ::testing::HasSubstr("| shape | metric | git main | git change |"));
  EXPECT_THAT(page, ::testing::HasSubstr("| 128x32 | `tpot_p50_ms` | 5.000 ms |"));
}

}  // namespace
}  // namespace assay::reports
