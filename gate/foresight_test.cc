#include "gate/foresight.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>

#include "gate/accuracy.h"
#include "gate/judge_cell.h"
#include "testing/example_run.h"

namespace assay::gate {
namespace {

using record::AccuracyRecord;
using record::Outcome;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

ThresholdPolicy At(double threshold, double tolerance = 0) {
  ThresholdPolicy policy;
  policy.threshold = threshold;
  policy.tolerance = tolerance;
  return policy;
}

TEST(PassingCount, IsTheLeastThatPasses) {
  EXPECT_EQ(PassingCount(At(0.568, 0.05), 1584), 821);  // 0.518 x 1584 = 820.5
  ThresholdPolicy relative = At(0.568, 0.05);
  relative.kind = ToleranceKind::kRelative;
  EXPECT_EQ(PassingCount(relative, 1584), 855);
  ThresholdPolicy good = At(0.518);
  good.proof = ThresholdProof::kProveGood;
  EXPECT_FALSE(ReachesThreshold(PassingCount(good, 1584) - 1, 1584, good));
  EXPECT_TRUE(ReachesThreshold(PassingCount(good, 1584), 1584, good));
  ThresholdPolicy low = At(0.1);
  EXPECT_EQ(PassingCount(low, 100), 35) << "the broken line";
  EXPECT_EQ(PassingCount(At(0.5, 0.5), 0 + 10), 4) << "the broken line";
  ThresholdPolicy none = At(0);
  none.broken_below = 0;
  EXPECT_EQ(PassingCount(none, 10), 0);
}

TEST(Looks, AreFortiethsBeforeTheEnd) {
  EXPECT_THAT(Looks(4), ElementsAre(1, 2, 3));
  EXPECT_TRUE(Looks(1).empty());
  const std::vector<int64_t> looks = Looks(1584);
  EXPECT_EQ(looks.size(), 39u);
  EXPECT_EQ(looks.front(), 39);
  EXPECT_EQ(looks.back(), 1544);
}

// The first `asked` samples of a random order of `whole`.
AccuracyRecord PartOf(const AccuracyRecord& whole, std::vector<size_t> order, int64_t asked) {
  AccuracyRecord part = whole;
  part.complete = false;
  part.samples.clear();
  order.resize(static_cast<size_t>(asked));
  for (const size_t i : order) part.samples.push_back(whole.samples[i]);
  part.sequential = record::Sequential{0.05, Looks(static_cast<int64_t>(whole.samples.size())), true, asked};
  return part;
}

std::vector<size_t> Order(size_t n) {
  std::vector<size_t> order(n);
  for (size_t i = 0; i < n; ++i) order[i] = i;
  return order;
}

std::vector<size_t> Shuffled(size_t n, std::mt19937_64& random) {
  std::vector<size_t> order = Order(n);
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

TEST(Foresight, SeesNothingButAtALook) {
  const AccuracyRecord whole = testing::ExampleAccuracy(400, 400);
  AccuracyRecord part = PartOf(whole, Order(400), 200);
  const Foresight foresight(400, *part.sequential);
  EXPECT_EQ(foresight.Threshold(part, At(0.5)), Foreseen::kPass);
  part.samples.pop_back();
  EXPECT_EQ(foresight.Threshold(part, At(0.5)), Foreseen::kOpen);
}

TEST(Foresight, KnowsWhatNoRestCouldChange) {
  const AccuracyRecord right = testing::ExampleAccuracy(400, 400), wrong = testing::ExampleAccuracy(400, 0);
  const record::Sequential all{1e-9, Looks(400), true, 400};
  const Foresight strict(400, all);
  EXPECT_EQ(strict.Threshold(PartOf(right, Order(400), 390), At(0.5)), Foreseen::kPass);
  EXPECT_EQ(strict.Threshold(PartOf(wrong, Order(400), 390), At(0.5)), Foreseen::kFail);
  EXPECT_EQ(strict.Threshold(PartOf(right, Order(400), 10), At(0.5)), Foreseen::kOpen);
}

TEST(Foresight, TakesNoRecordAtItsWord) {
  const AccuracyRecord whole = testing::ExampleAccuracy(400, 400);
  AccuracyRecord part = PartOf(whole, Order(400), 200);
  for (const double error : {-1.0, 0.0, std::nan("")}) {
    part.sequential->error = error;
    EXPECT_EQ(Foresight(400, *part.sequential).Threshold(part, At(0.99)), Foreseen::kOpen) << error;
  }
  part.sequential = record::Sequential{0.05, {200, -3, 200, 7, INT64_MAX}, true, 200};
  EXPECT_EQ(Foresight(400, *part.sequential).Threshold(part, At(0.5)), Foreseen::kPass);
  EXPECT_EQ(Foresight(INT64_MAX, *part.sequential).Threshold(part, At(0.5)), Foreseen::kOpen);
}

class JudgeStoppedTest : public ::testing::Test {
 protected:
  // 200 of the 448 answers of the example, all right unless broken.
  JudgeStoppedTest() {
    cell_.serving.clear();
    baseline_ = cell_;
    cell_.accuracy = PartOf(*cell_.accuracy, Order(448), Looks(448)[17]);
    policy_.cell_key = cell_.key;
    policy_.policy.threshold = At(0.5);
    policy_.baseline = {"main", {baseline_}};
  }
  std::vector<record::Check> Judge() {
    std::vector<record::Check> accuracy;
    for (record::Check& check : JudgeCell(cell_, policy_, "2026-12-01T00:00:00Z").checks) {
      if (check.group == "accuracy" || check.outcome != Outcome::kPass) accuracy.push_back(std::move(check));
    }
    return accuracy;
  }
  record::CellRecord cell_ = testing::ExampleCell(), baseline_;
  CellPolicy policy_;
};

TEST_F(JudgeStoppedTest, PassesWhatIsClear) {
  const auto checks = Judge();
  ASSERT_EQ(checks.size(), 2u) << checks.back().reason;
  EXPECT_EQ(checks[0].rule, "threshold");
  EXPECT_EQ(checks[0].outcome, Outcome::kPass);
  EXPECT_THAT(checks[0].reason,
              HasSubstr("after 201 of 448 samples in random order: the score of all would pass"));
  EXPECT_EQ(checks[1].rule, "paired");
  EXPECT_EQ(checks[1].outcome, Outcome::kPass);
  EXPECT_TRUE(IsDecided(cell_, policy_, Foresight(448, *cell_.accuracy->sequential)));
}

TEST_F(JudgeStoppedTest, FailsALossAgainstTheBaseline) {
  testing::Break(*cell_.accuracy, 60);
  const auto checks = Judge();
  ASSERT_EQ(checks.size(), 2u);
  EXPECT_EQ(checks[1].outcome, Outcome::kFail);
  EXPECT_THAT(checks[1].reason, HasSubstr("60 lost and 0 won after 201 of 448 samples"));
  EXPECT_TRUE(IsDecided(cell_, policy_, Foresight(448, *cell_.accuracy->sequential)))
      << "one that fails is enough";
}

TEST_F(JudgeStoppedTest, IsInvalidWhereItEndedAtNoLook) {
  cell_.accuracy->samples.pop_back();
  const auto checks = Judge();
  ASSERT_EQ(checks.size(), 1u);
  EXPECT_EQ(checks[0].outcome, Outcome::kInvalid);
  EXPECT_THAT(checks[0].reason, HasSubstr("none of the looks"));
}

TEST_F(JudgeStoppedTest, IsInvalidWhereNothingSaysWhyItEnded) {
  policy_.policy.threshold.reset();
  policy_.baseline = {"", {}, false};
  const auto checks = Judge();
  ASSERT_EQ(checks.size(), 1u);
  EXPECT_EQ(checks[0].outcome, Outcome::kInvalid);
}

TEST_F(JudgeStoppedTest, IsNoBaselineForOthers) {
  policy_.baseline = {"main", {cell_}};
  cell_ = baseline_;
  for (const record::Check& check : Judge()) EXPECT_NE(check.rule, "paired") << check.reason;
}

// ---- simulation: how often the early verdict differs from that of all samples, and what it saves

struct Simulated {
  double saved = 0;    // mean share of samples that were not needed
  double differs = 0;  // share of runs whose early verdict is not that of the whole
  double passes = 0;   // share of runs that pass
};

// 198 questions as hard as people find them: each has its own chance of a right answer (beta distributed,
// with an intra-class correlation of 0.6 between repeats), of mean p.
class Population {
 public:
  Population(int64_t questions, double p, uint64_t seed) : random_(seed) {
    constexpr double kSum = 1 / 0.6 - 1;
    std::gamma_distribution<double> a(p * kSum), b((1 - p) * kSum);
    for (int64_t i = 0; i < questions; ++i) {
      const double x = a(random_), y = b(random_);
      chances_.push_back(x / (x + y));
    }
    // The mean exactly p, by bending all chances alike.
    for (int round = 0; round < 200; ++round) {
      double mean = 0;
      for (const double c : chances_) mean += c / static_cast<double>(questions);
      const double power = std::exp(mean - p);
      for (double& c : chances_) c = std::pow(c, power);
    }
  }

  AccuracyRecord Run(int repeats) {
    AccuracyRecord run = testing::ExampleAccuracy(static_cast<int64_t>(chances_.size()), 0, repeats);
    std::uniform_real_distribution<double> uniform;
    for (size_t i = 0; i < run.samples.size(); ++i)
      run.samples[i].correct = uniform(random_) < chances_[i % chances_.size()];
    return run;
  }

  std::mt19937_64 random_;

 private:
  std::vector<double> chances_;
};

constexpr int kRuns = 1000;

// Bounds are the same for all runs, so that they are worked out once.
Simulated SimulateThreshold(int64_t questions, int repeats, double p, const ThresholdPolicy& policy) {
  const int64_t planned = questions * repeats;
  const int64_t passing = PassingCount(policy, planned);
  const std::vector<int64_t> looks = Looks(planned);
  const record::Sequential sequential{0.05, looks, true, 0};
  const Foresight foresight(planned, sequential);
  // By count of right answers at each look: what Foresight says, asked once for each.
  std::vector<std::map<int64_t, Foreseen>> known(looks.size());
  const auto foresee = [&](size_t look, int64_t right) {
    const auto found = known[look].find(right);
    if (found != known[look].end()) return found->second;
    AccuracyRecord part;
    part.sequential = sequential;
    part.samples.resize(static_cast<size_t>(looks[look]));
    for (int64_t i = 0; i < right; ++i) part.samples[static_cast<size_t>(i)].correct = true;
    return known[look][right] = foresight.Threshold(part, policy);
  };
  Population population(questions, p, 7);
  Simulated result;
  for (int run = 0; run < kRuns; ++run) {
    const AccuracyRecord whole = population.Run(repeats);
    const std::vector<size_t> order = Shuffled(whole.samples.size(), population.random_);
    const bool would_pass = Count(whole).correct >= passing;
    int64_t right = 0, asked = 0;
    Foreseen early = Foreseen::kOpen;
    for (size_t look = 0; look < looks.size() && early == Foreseen::kOpen; ++look) {
      while (asked < looks[look]) right += whole.samples[order[static_cast<size_t>(asked++)]].correct;
      early = foresee(look, right);
    }
    const bool passes = early == Foreseen::kOpen ? would_pass : early == Foreseen::kPass;
    if (early != Foreseen::kOpen)
      result.saved += 1 - static_cast<double>(asked) / static_cast<double>(planned);
    result.differs += passes != would_pass;
    result.passes += passes;
  }
  return {result.saved / kRuns, result.differs / kRuns, result.passes / kRuns};
}

void Print(const char* what, double p, const Simulated& s) {
  std::printf("%-28s p = %.3f: %4.1f %% saved, verdict differs in %.1f %%, %.1f %% pass\n", what, p,
              s.saved * 100, s.differs * 100, s.passes * 100);
}

TEST(SequentialSimulation, KeepsItsErrorAgainstAThreshold) {
  constexpr double kThreshold = 0.568;
  struct Case {
    const char* what;
    int64_t questions;
    int repeats;
    double tolerance;
  };
  for (const Case& c : {Case{"diamond x 8", 198, 8, 0}, Case{"diamond x 1", 198, 1, 0},
                        Case{"main x 1", 448, 1, 0}, Case{"diamond x 8, tolerance 0.05", 198, 8, 0.05}}) {
    for (const double p : {kThreshold - 0.03, kThreshold, kThreshold + 0.03}) {
      const Simulated s = SimulateThreshold(c.questions, c.repeats, p, At(kThreshold, c.tolerance));
      Print(c.what, p, s);
      EXPECT_LE(s.differs, 0.05 + 3 * std::sqrt(0.05 * 0.95 / kRuns)) << c.what << " at " << p;
      EXPECT_GT(s.saved, 0.05) << c.what << " at " << p;
    }
  }
}

Simulated SimulatePaired(int64_t questions, int repeats, double p, double loss, double margin, int runs) {
  AccuracyPolicy policy;
  policy.margin = margin;
  const int64_t planned = questions * repeats;
  const std::vector<int64_t> looks = Looks(planned);
  Population before(questions, p, 11), after(questions, p - loss, 11);
  const Foresight foresight(planned, {0.05, looks, true, 0});
  Simulated result;
  for (int run = 0; run < runs; ++run) {
    record::CellRecord theirs, ours;
    theirs.accuracy = before.Run(repeats);
    ours.accuracy = after.Run(repeats);
    const Outcome whole = JudgePaired(ours, theirs, policy).outcome;
    const std::vector<size_t> order = Shuffled(static_cast<size_t>(planned), before.random_);
    Foreseen early = Foreseen::kOpen;
    int64_t asked = 0;
    for (size_t look = 0; look < looks.size() && early == Foreseen::kOpen; ++look) {
      const AccuracyRecord part = PartOf(*ours.accuracy, order, asked = looks[look]);
      early = foresight.Paired(part, *theirs.accuracy, policy);
    }
    const Outcome verdict = early == Foreseen::kPass   ? Outcome::kPass
                            : early == Foreseen::kFail ? Outcome::kFail
                                                       : whole;
    if (early != Foreseen::kOpen)
      result.saved += 1 - static_cast<double>(asked) / static_cast<double>(planned);
    result.differs += verdict != whole;
    result.passes += verdict == Outcome::kPass;
  }
  return {result.saved / runs, result.differs / runs, result.passes / runs};
}

TEST(SequentialSimulation, KeepsItsErrorAgainstABaseline) {
  const char* asked = std::getenv("ASSAY_SIMULATED_RUNS");  // docs/measuring.md has 1000
  const int runs = asked == nullptr ? 60 : std::atoi(asked);
  for (const double loss : {0.0, 0.03, 0.06}) {
    const Simulated s = SimulatePaired(198, 8, 0.568, loss, 0.03, runs);
    Print("paired, diamond x 8", 0.568 - loss, s);
    EXPECT_LE(s.differs, 0.05 + 3 * std::sqrt(0.05 * 0.95 / runs)) << loss;
  }
}

}  // namespace
}  // namespace assay::gate
