#include "gate/ab/pair_speed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "gate/ab/looks.h"
#include "record/distributions.h"

namespace assay::gate {
namespace {

using record::Check;
using record::Direction;
using record::Outcome;
using record::ServingRecord;
using ::testing::HasSubstr;

// Benchmarks that report these values, pair by pair. One metric: {base, head} each.
struct Runs {
  std::vector<ServingRecord> base, head;

  void Add(const std::vector<double>& base_values, const std::vector<double>& head_values) {
    base.push_back(Make(base_values));
    head.push_back(Make(head_values));
  }
  static ServingRecord Make(const std::vector<double>& values) {
    ServingRecord serving;
    for (size_t i = 0; i < values.size(); ++i)
      serving.metrics.push_back(
          {"m" + std::to_string(i), "tok/s", Direction::kHigherIsBetter, values[i], 64});
    return serving;
  }
  PairedBenchmark First(size_t pairs) const {
    PairedBenchmark benchmark;
    benchmark.name = "b";
    for (size_t i = 0; i < pairs; ++i) benchmark.pairs.push_back({&base[i], &head[i]});
    return benchmark;
  }
};

PerformancePolicy PolicyFor(size_t metrics, double margin) {
  PerformancePolicy policy;
  policy.primary.clear();
  for (size_t i = 0; i < metrics; ++i) policy.primary.push_back("m" + std::to_string(i));
  policy.margin = margin;
  return policy;
}

Check JudgeOne(const std::vector<double>& base, const std::vector<double>& head,
               const PerformancePolicy& policy, const Looks& looks) {
  Runs runs;
  for (size_t i = 0; i < base.size(); ++i) runs.Add({base[i]}, {head[i]});
  return JudgePairedSpeed({}, {runs.First(base.size())}, policy, looks).at(0);
}

const std::vector<double> kBase = {392.6, 395.1, 390.8, 393.9, 391.2, 394.4};
const std::vector<double> kHead = {389.9, 391.0, 388.7, 392.1, 390.5, 387.6};

// Significant (p 0.018) and 0.8 %: below any sane margin. Interval and figures by scipy.
TEST(PairedSpeed, PassesASignificantLossThatIsSurelySmall) {
  const Check check = JudgeOne(kBase, kHead, PolicyFor(1, 0.03), Looks({6}, 0.05));
  EXPECT_EQ(check.outcome, Outcome::kPass);
  EXPECT_NEAR(*check.change, 0.992283 - 1, 1e-6);
  EXPECT_NEAR(*check.ci_low, 0.986558 - 1, 1e-6);
  EXPECT_NEAR(*check.ci_high, 0.998041 - 1, 1e-6);
  EXPECT_THAT(check.reason, HasSubstr("slower, but surely by less"));
  ASSERT_EQ(check.details.size(), 2u);
  EXPECT_THAT(check.details[0], HasSubstr("-0.7 %, -1.0 %, -0.5 %, -0.5 %, -0.2 %, -1.7 %"));
  EXPECT_THAT(check.details[1], HasSubstr("sign-flip p 0.0312"));
}

TEST(PairedSpeed, FailsTheSameLossWhereNoneIsAllowed) {
  const Check check = JudgeOne(kBase, kHead, PolicyFor(1, 0), Looks({6}, 0.05));
  EXPECT_EQ(check.outcome, Outcome::kFail);
  EXPECT_NEAR(*check.p_value, 0.018402 / 2, 1e-6);
}

// 0.0092 is below 0.025 but not below 0.025 / 3.
TEST(PairedSpeed, HoldsTheMostEvidentLossAgainstTheErrorThatAllPrimaryMetricsShare) {
  Runs runs;
  for (size_t i = 0; i < 6; ++i)
    runs.Add({kBase[i], 100, 100}, {kHead[i], 100.0 + (i % 2 == 0 ? 1 : -1), 100});
  const Looks looks({6}, 0.05);
  const std::vector<Check> three = JudgePairedSpeed({}, {runs.First(6)}, PolicyFor(3, 0), looks);
  EXPECT_EQ(three[0].outcome, Outcome::kInconclusive);
  EXPECT_THAT(three[0].reason, HasSubstr("by all primary metrics together (Holm)"));
  const std::vector<Check> two = JudgePairedSpeed({}, {runs.First(6)}, PolicyFor(2, 0), looks);
  EXPECT_EQ(two[0].outcome, Outcome::kFail);  // 0.0184 < 0.025
}

TEST(PairedSpeed, NeverFailsAChangeBelowTheLeastThatCounts) {
  PerformancePolicy policy = PolicyFor(1, 0);
  policy.min_change["m0"] = 5;
  const Check check = JudgeOne(kBase, kHead, policy, Looks({6}, 0.05));
  EXPECT_EQ(check.outcome, Outcome::kPass);
  EXPECT_THAT(check.reason, HasSubstr("below the least change that counts (5)"));
}

TEST(PairedSpeed, AsksMoreOfAnEarlyLookThanOfTheLast) {
  // p 0.0092 suffices once, and not at the first of three looks: 0.0007 of 0.05 is spent there.
  EXPECT_EQ(JudgeOne(kBase, kHead, PolicyFor(1, 0), Looks({6, 12, 18}, 0.1)).outcome, Outcome::kInconclusive);
  EXPECT_EQ(JudgeOne(kBase, kHead, PolicyFor(1, 0), Looks({2, 4, 6}, 0.1)).outcome, Outcome::kFail);
}

TEST(PairedSpeed, ObservesWhatIsNotPrimary) {
  PerformancePolicy policy = PolicyFor(1, 0);
  policy.primary = {"ttft_p50_ms"};
  Runs runs;
  for (size_t i = 0; i < 6; ++i) runs.Add({kBase[i]}, {kHead[i]});
  const std::vector<Check> checks = JudgePairedSpeed({}, {runs.First(6)}, policy, Looks({6}, 0.05));
  ASSERT_EQ(checks.size(), 2u);
  EXPECT_FALSE(checks[0].primary);
  EXPECT_EQ(checks[1].outcome, Outcome::kInvalid);  // ttft_p50_ms is not reported
  EXPECT_THAT(checks[1].reason, HasSubstr("does not report"));
}

// Armitage, McPherson and Rowe's recursion with O'Brien and Fleming's spending, three equal looks, 0.05 one
// way: z = 3.2001, 2.1409, 1.6951.
TEST(Looks, LeaveTheTailsOfLanAndDeMets) {
  const Looks looks({2, 4, 6}, 0.1);
  EXPECT_NEAR(record::NormalQuantile(looks.Tail(2)), -3.2001, 5e-4);
  EXPECT_NEAR(record::NormalQuantile(looks.Tail(4)), -2.1409, 5e-4);
  EXPECT_NEAR(record::NormalQuantile(looks.Tail(6)), -1.6951, 5e-4);
  EXPECT_EQ(looks.Tail(3), 0);
  EXPECT_NEAR(Looks({6}, 0.05).Tail(6), 0.025, 1e-9);
  EXPECT_NEAR(Looks({6}, 0.05).Tail(6, 3), 0.025 / 3, 1e-9);
}

// ---- how often whole comparisons come out how

struct Rates {
  double fail = 0, pass = 0, pairs = 0;
};

// Comparisons of `metrics` independent primary metrics whose runs vary by `cv` and whose head is slower by
// `loss`, looked at after 4 to 8 pairs and ended by the first verdict.
Rates Simulate(size_t metrics, double loss, double cv, double margin) {
  constexpr int kComparisons = 2000;
  constexpr size_t kFirst = 4, kLast = 8;
  const Looks looks({4, 5, 6, 7, 8}, 0.05);
  const PerformancePolicy policy = PolicyFor(metrics, margin);
  std::mt19937_64 random(20261201);  // NOLINT: the same in every run
  std::normal_distribution<double> noise(0, cv);
  Rates rates;
  for (int i = 0; i < kComparisons; ++i) {
    Runs runs;
    for (size_t pair = 0; pair < kLast; ++pair) {
      std::vector<double> base, head;
      for (size_t m = 0; m < metrics; ++m) {
        base.push_back(100 * std::exp(noise(random)));
        head.push_back(100 / (1 + loss) * std::exp(noise(random)));
      }
      runs.Add(base, head);
    }
    for (size_t pairs = kFirst; pairs <= kLast; ++pairs) {
      const std::vector<Check> checks = JudgePairedSpeed({}, {runs.First(pairs)}, policy, looks);
      const auto all = [&](Outcome outcome) {
        return std::count_if(checks.begin(), checks.end(),
                             [&](const Check& c) { return c.outcome == outcome; });
      };
      const bool fails = all(Outcome::kFail) > 0;
      const bool passes = all(Outcome::kPass) == static_cast<int64_t>(checks.size());
      if (!fails && !passes && pairs < kLast) continue;
      rates.fail += fails;
      rates.pass += passes;
      rates.pairs += static_cast<double>(pairs);
      break;
    }
  }
  return {rates.fail / kComparisons, rates.pass / kComparisons, rates.pairs / kComparisons};
}

// Nominal: 0.025 each way. The expected rates are those of the same rule written with numpy and scipy, 20000
// comparisons each; 2000 here vary by about 0.01.
TEST(PairedSpeed, KeepsItsErrorRatesOverAllLooks) {
  const struct {
    const char* name;
    size_t metrics;
    double loss, cv, margin, fail, pass;
  } cases[] = {
      {"equal arms, no loss allowed", 1, 0, 0.02, 0, 0.028, 0.028},
      {"equal arms, three metrics, no loss allowed", 3, 0, 0.02, 0, 0.030, 0.000},
      {"equal arms, 3 % allowed", 3, 0, 0.02, 0.03, 0.000, 0.310},
      {"equal arms on a quiet machine", 3, 0, 0.005, 0.03, 0.000, 1.000},
      {"a loss of the margin's size", 1, 0.03, 0.02, 0.03, 0.029, 0.028},
      {"5 % loss, 2 % allowed, one metric", 1, 0.05, 0.02, 0.02, 0.678, 0.000},
      {"5 % loss, 2 % allowed, three metrics", 3, 0.05, 0.02, 0.02, 0.816, 0.000},
      {"5 % loss on a quiet machine", 3, 0.05, 0.005, 0.03, 1.000, 0.000},
  };
  for (const auto& c : cases) {
    const Rates rates = Simulate(c.metrics, c.loss, c.cv, c.margin);
    EXPECT_NEAR(rates.fail, c.fail, 0.03) << c.name;
    EXPECT_NEAR(rates.pass, c.pass, 0.03) << c.name;
  }
}

TEST(PairedSpeed, EndsEarlyWhereTheMachineIsQuiet) {
  EXPECT_LT(Simulate(1, 0, 0.005, 0.03).pairs, 5);
  EXPECT_GT(Simulate(1, 0, 0.02, 0.03).pairs, 6.5);
}

}  // namespace
}  // namespace assay::gate
