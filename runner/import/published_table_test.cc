// A table of a pull request as it was published: eight GPQA scores and 32 serving figures, main beside the
// change. Nobody noticed that its throughputs cannot be compared.
#include <gtest/gtest.h>

#include <algorithm>

#include "gate/judge.h"
#include "runner/import/import.h"

namespace assay::runner {
namespace {

using record::Check;
using record::Outcome;

class PublishedTable : public ::testing::Test {
 protected:
  static record::RunRecord Side(const char* name) {
    const Path file = Path(ASSAY_SOURCE_DIR) / "runner/import/testdata" / name;
    auto record = Import({file}, {});
    EXPECT_TRUE(record) << record.error().message;
    return std::move(*record);
  }

  PublishedTable() : main_(Side("published-main.csv")), change_(Side("published-change.csv")) {
    std::vector<gate::CellPolicy> policies;
    for (const record::CellRecord& cell : change_.cells) {
      gate::Policy policy;
      policy.performance.primary = {"output_throughput_tok_s", "ttft_mean_ms", "tpot_mean_ms"};
      gate::Baseline baseline{"published", {}};
      for (const record::CellRecord& other : main_.cells) {
        if (other.key == cell.key) baseline.cells.push_back(other);
      }
      policies.push_back({cell.key, policy, baseline});
    }
    verdict_ = gate::Judge(change_, policies);
  }

  const Check* Find(const std::string& cell, const std::string& metric) const {
    const auto found = std::find_if(verdict_.checks.begin(), verdict_.checks.end(), [&](const Check& check) {
      return check.cell == cell && check.metric == metric;
    });
    return found == verdict_.checks.end() ? nullptr : &*found;
  }
  std::string Reason(const std::string& cell, const std::string& metric) const {
    const Check* check = Find(cell, metric);
    return check ? check->reason : "no check " + metric;
  }
  bool Judged(const std::string& cell, const std::string& metric) const {
    const Check* check = Find(cell, metric);
    return check && check->rule == "performance" && check->primary;
  }

  record::RunRecord main_, change_;
  record::Verdict verdict_;
};

TEST_F(PublishedTable, EveryScoreIsOneOf1584Samples) {
  const int64_t correct[] = {887, 907, 886, 876};
  for (int i = 0; i < 4; ++i) {
    const std::string cell = "gpqa-" + std::to_string(i + 1);
    const Check* grid = Find(cell, "V9_score_grid.gpqa");
    ASSERT_NE(grid, nullptr);
    EXPECT_EQ(grid->outcome, Outcome::kPass) << grid->reason;
    EXPECT_EQ(Count(*change_.cells[static_cast<size_t>(i)].accuracy).correct, correct[i]);
    EXPECT_EQ(Find(cell, "V6_completed.gpqa")->outcome, Outcome::kInconclusive) << "listed, never passed";
    EXPECT_FALSE(Find(cell, "V6_completed.gpqa")->primary);
  }
}

// 198 questions five times: only 0.5707 is a k of 990.
TEST_F(PublishedTable, AWrongNumberOfSamplesIsFoundOut) {
  record::RunRecord claimed = change_;
  claimed.cells.resize(1);
  claimed.cells[0].accuracy->stated->samples = 990;
  gate::Policy policy;
  policy.baseline.kind = gate::BaselinePolicyKind::kNone;
  const record::Verdict verdict =
      gate::Judge(claimed, {{claimed.cells[0].key, policy, {.source = "", .cells = {}, .requested = false}}});
  EXPECT_EQ(verdict.outcome, Outcome::kInvalid) << verdict.headline;
}

TEST_F(PublishedTable, NoPairOfScoresDiffersAndTheReportSaysWhatItCouldHaveSeen) {
  const double lower95[] = {-0.042847, -0.026399, -0.025871, -0.046671};  // scipy
  for (int i = 0; i < 4; ++i) {
    const Check* check = Find("gpqa-" + std::to_string(i + 1), "gpqa_score");
    ASSERT_NE(check, nullptr);
    EXPECT_EQ(check->rule, "unpaired");
    EXPECT_EQ(check->outcome, lower95[i] > -0.03 ? Outcome::kPass : Outcome::kInconclusive) << check->reason;
    EXPECT_NE(check->reason.find("is not significant"), std::string::npos) << check->reason;
    EXPECT_NEAR(check->mde.value(), 0.0438, 3e-4);
    EXPECT_NE(check->reason.find("one of 4.4 would have been found"), std::string::npos) << check->reason;
  }
}

TEST_F(PublishedTable, TheOneComparablePairPasses) {
  const std::string cell = "serving-1024-aiter";
  for (const char* metric : {"output_throughput_tok_s", "ttft_mean_ms", "tpot_mean_ms"}) {
    ASSERT_TRUE(Judged(cell, metric)) << Reason(cell, metric);
    EXPECT_EQ(Find(cell, metric)->outcome, Outcome::kPass) << Reason(cell, metric);
  }
  for (const Check& check : verdict_.checks) {
    if (check.cell != cell) continue;
    EXPECT_NE(check.outcome, Outcome::kInvalid) << check.metric << ": " << check.reason;
  }
}

// +34.8 % and +42.0 % of requests in flight: other points of the latency-throughput curve.
TEST_F(PublishedTable, UnequalLoadIsNoComparison) {
  for (const auto& [cell, change] :
       {std::pair{"serving-1024-triton", 0.34768}, {"serving-8192-aiter", 0.42025}}) {
    const std::string name = std::string("V4_same_in_flight.") + std::string(cell).substr(8, 4);
    const Check* check = Find(cell, name);
    ASSERT_NE(check, nullptr) << name;
    EXPECT_EQ(check->outcome, Outcome::kInvalid);
    EXPECT_NEAR(check->value.value(), change, 1e-5) << check->reason;
    for (const char* metric : {"output_throughput_tok_s", "ttft_mean_ms", "tpot_mean_ms"}) {
      EXPECT_FALSE(Judged(cell, metric)) << metric;
    }
  }
}

// Answers 18.4 % shorter: the throughput says nothing, the latencies of one token still do, and are a
// candidate.
TEST_F(PublishedTable, UnequalLengthLeavesOnlyLatency) {
  const std::string cell = "serving-8192-triton";
  const Check* length = Find(cell, "V3_same_output_length.8192");
  ASSERT_NE(length, nullptr);
  EXPECT_EQ(length->outcome, Outcome::kInvalid);
  EXPECT_NEAR(length->value.value(), -0.18445, 1e-5);
  EXPECT_EQ(Find(cell, "V4_same_in_flight.8192")->outcome, Outcome::kPass) << "-3.7 %";
  EXPECT_FALSE(Judged(cell, "output_throughput_tok_s"));
  for (const auto& [metric, change] : {std::pair{"ttft_mean_ms", 0.11319}, {"tpot_mean_ms", 0.18240}}) {
    ASSERT_TRUE(Judged(cell, metric)) << metric;
    EXPECT_EQ(Find(cell, metric)->outcome, Outcome::kInconclusive);
    EXPECT_NEAR(Find(cell, metric)->change.value(), change, 1e-5);
    EXPECT_NE(Reason(cell, metric).find("candidate"), std::string::npos) << Reason(cell, metric);
  }
}

TEST_F(PublishedTable, IsInvalidAsAWholeAndNothingFails) {
  EXPECT_EQ(verdict_.outcome, Outcome::kInvalid) << verdict_.headline;
  EXPECT_EQ(verdict_.exit_code, 4);
  for (const Check& check : verdict_.checks) EXPECT_NE(check.outcome, Outcome::kFail) << check.reason;
}

}  // namespace
}  // namespace assay::runner
