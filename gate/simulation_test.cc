// Whole decisions, simulated: how often the gate fails what is equal, passes what is worse and finds what it
// says it finds. ASSAY_SIMULATIONS=10000 gate_test --gtest_filter='GateSimulation.*' prints the table of
// docs/statistics.md; without it fewer decisions are made and the limits are wider by their own error.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>

#include "gate/family.h"
#include "gate/judge.h"
#include "record/distributions.h"
#include "record/score.h"
#include "testing/example_run.h"

namespace assay::gate {
namespace {

using record::Check;
using record::NormalCdf;
using record::NormalQuantile;
using record::Outcome;

int64_t Decisions() {
  const char* asked = std::getenv("ASSAY_SIMULATIONS");
  return asked != nullptr ? std::max(1, std::atoi(asked)) : 200;
}

constexpr double kPoints = 0.03;

// Makes all decisions, and expects `nominal` of them to be so.
void ExpectRate(const char* name, double nominal, const std::function<bool()>& decide) {
  const int64_t n = Decisions();
  int64_t so = 0;
  for (int64_t i = 0; i < n; ++i) so += decide();
  const double rate = static_cast<double>(so) / static_cast<double>(n);
  const record::Interval interval = record::JeffreysInterval(so, n, 0.95);
  std::printf("| %s | %.1f %% | %.1f %% | %.1f to %.1f |\n", name, nominal * 100, rate * 100,
              interval.low * 100, interval.high * 100);
  std::fflush(stdout);
  const double by_chance = n >= 10000 ? 0 : 3 * std::sqrt(nominal * (1 - nominal) / static_cast<double>(n));
  EXPECT_NEAR(rate, nominal, kPoints + by_chance) << name;
}

// ---- accuracy

constexpr double kScore = 0.56, kSame = 0.6;  // share of the variance that is the question's own

// Two arms that answer the same questions. How hard a question is comes from a beta distribution; a loss
// makes each right answer less likely by the same share.
class TwoArms {
 public:
  TwoArms(int64_t questions, int repeats)
      : policy_{"tiny-moe.cpu.smoke", {}, {"simulated", {testing::ExampleCell()}}} {
    run_.cells[0].serving.clear();
    run_.cells[0].accuracy = testing::ExampleAccuracy(questions, 0, repeats);
    policy_.baseline.cells[0] = run_.cells[0];
  }

  Outcome Ask(double loss) {
    std::gamma_distribution<double> right(kScore * (1 - kSame) / kSame),
        wrong((1 - kScore) * (1 - kSame) / kSame);
    std::uniform_real_distribution<double> uniform;
    auto& ours = run_.cells[0].accuracy->samples;
    auto& theirs = policy_.baseline.cells[0].accuracy->samples;
    const auto questions = static_cast<size_t>(run_.cells[0].accuracy->questions);
    for (size_t question = 0; question < questions; ++question) {
      const double a = right(random_), b = wrong(random_), p = a / (a + b);
      for (size_t i = question; i < ours.size(); i += questions) {
        ours[i].correct = uniform(random_) < p * (1 - loss / kScore);
        theirs[i].correct = uniform(random_) < p;
      }
    }
    const record::Verdict verdict = Judge(run_, {policy_});
    for (const Check& check : verdict.checks)
      if (check.rule == "paired") return check.outcome;
    ADD_FAILURE() << verdict.headline;
    return Outcome::kInvalid;
  }

  void ExpectRates(const char* name, double nominal, double loss, Outcome outcome) {
    ExpectRate(name, nominal, [&] { return Ask(loss) == outcome; });
  }

 private:
  std::mt19937_64 random_{20261201};
  record::RunRecord run_ = testing::ExampleRun();
  CellPolicy policy_;
};

// 198 questions, 8 samples each. What a rerun of the same questions varies by: the mean of p (1 - p) of
// either arm over all samples, where p^2 is on average p^2 + rho p (1 - p), and a loss takes its share of
// each p.
double ErrorOfDifference(double loss) {
  const double left = 1 - loss / kScore, square = kScore * kScore + kSame * kScore * (1 - kScore);
  return std::sqrt((kScore - square + kScore * left - square * left * left) / (198 * 8));
}

TEST(GateSimulation, PairedAnswersWithRepeats) {
  const double margin = AccuracyPolicy().margin, z = NormalQuantile(0.95);
  TwoArms arms(198, 8);
  arms.ExpectRates("198 x 8, equal: FAIL", 0.05, 0, Outcome::kFail);
  arms.ExpectRates("198 x 8, equal: PASS", NormalCdf(margin / ErrorOfDifference(0) - z), 0, Outcome::kPass);
  arms.ExpectRates("198 x 8, loss of the margin: PASS", 0.05, margin, Outcome::kPass);
  for (const double loss : {0.01, 0.02, 0.03}) {
    const std::string name = fmt::format("198 x 8, loss of {:.0f} points: FAIL", loss * 100);
    arms.ExpectRates(name.c_str(), NormalCdf(loss / ErrorOfDifference(loss) - z), loss, Outcome::kFail);
  }
}

TEST(GateSimulation, PairedAnswersAskedOnce) {
  TwoArms arms(448, 1);
  // Of the exact test, summed over all numbers of lost and won answers; its counts jump, so it stays below 5
  // %.
  arms.ExpectRates("448 x 1, equal: FAIL", 0.039623, 0, Outcome::kFail);
  arms.ExpectRates("448 x 1, loss of 5.2 points: FAIL", 0.717987, 0.052414, Outcome::kFail);
}

// ---- threshold

TEST(GateSimulation, Threshold) {
  std::mt19937_64 random(20261202);
  record::RunRecord run = testing::ExampleRun();
  run.cells[0].serving.clear();
  run.cells[0].accuracy = testing::ExampleAccuracy(1584, 0);
  CellPolicy policy{run.cells[0].key, {}, {.source = "", .cells = {}, .requested = false}};
  const auto fails = [&](double p) {
    const auto correct = static_cast<size_t>(std::binomial_distribution<int>(1584, p)(random));
    auto& samples = run.cells[0].accuracy->samples;
    for (size_t i = 0; i < samples.size(); ++i) samples[i].correct = i < correct;
    return Judge(run, {policy}).exit_code == 1;
  };
  policy.policy.threshold = ThresholdPolicy{0.568, ToleranceKind::kAbsolute, 0, ThresholdProof::kProveBad};
  ExpectRate("1584, prove_bad, at the limit: FAIL", 0.046219, [&] { return fails(0.568); });
  policy.policy.threshold = ThresholdPolicy{0.568, ToleranceKind::kAbsolute, 0.05};
  for (const auto& [p, nominal] :
       {std::pair{0.568, 0.000029}, {0.54, 0.039475}, {0.53, 0.169306}, {0.518, 0.5}, {0.50, 0.924040}}) {
    const std::string name = fmt::format("1584, 0.568 - 0.05, true score {}: FAIL", p);
    ExpectRate(name.c_str(), nominal, [&, p = p] { return fails(p); });
  }
}

// ---- speed

constexpr double kMargin = 0.03, kNoise = 0.01;
constexpr size_t kRuns = 10;

// One or two benchmarks whose runs vary by one percent.
class Speeds {
 public:
  Speeds(int benchmarks, std::vector<std::string> primary)
      : policy_{"tiny-moe.cpu.smoke",
                {},
                {"simulated", testing::ExampleBaseline(std::vector<double>(kRuns, 1))}} {
    policy_.policy.performance.primary = std::move(primary);
    policy_.policy.performance.margin = kMargin;
    run_.cells[0].accuracy.reset();
    for (record::CellRecord* cell : Cells()) {
      cell->accuracy.reset();
      if (benchmarks < 2) continue;
      cell->serving.push_back(cell->serving.front());
      cell->serving.back().name = "256x32";
    }
  }

  // `slower`: log of how much longer each metric of the first benchmark, and of all others, takes.
  record::Verdict Measure(double slower, double others, double noise = kNoise) {
    for (record::CellRecord* cell : Cells()) {
      const bool ours = cell == &run_.cells[0];
      for (record::ServingRecord& serving : cell->serving) {
        const double loss = !ours ? 0 : &serving == &cell->serving.front() ? slower : others;
        Set(serving, "tpot_p50_ms", 5 * std::exp(loss + noise * normal_(random_)));
        Set(serving, "ttft_p50_ms", 20 * std::exp(loss + noise * normal_(random_)));
        const double tokens = 1000 * std::exp(-loss + noise * normal_(random_));
        Set(serving, "output_throughput_tok_s", tokens);
        Set(serving, "request_throughput_req_s", tokens / 32);
      }
    }
    return Judge(run_, {policy_});
  }

  // Of the first benchmark.
  static Outcome Of(const record::Verdict& verdict, std::string_view metric) {
    for (const Check& check : verdict.checks)
      if (check.metric == metric && check.group == "serving:128x32") return check.outcome;
    ADD_FAILURE() << verdict.headline;
    return Outcome::kInvalid;
  }

 private:
  std::vector<record::CellRecord*> Cells() {
    std::vector<record::CellRecord*> cells = {&run_.cells[0]};
    for (record::CellRecord& cell : policy_.baseline.cells) cells.push_back(&cell);
    return cells;
  }
  static void Set(record::ServingRecord& serving, std::string_view name, double value) {
    for (record::Metric& metric : serving.metrics)
      if (metric.name == name) metric.value = value;
  }

  std::mt19937_64 random_{20261203};
  std::normal_distribution<double> normal_;
  record::RunRecord run_ = testing::ExampleRun();
  CellPolicy policy_;
};

// What a test of one new run against kRuns needs to be shifted by, to exceed its bound four times in five.
double ShiftFor(double level) {
  constexpr double kDegrees = kRuns - 1;
  return record::StudentShiftForPower(record::StudentQuantile(1 - level, kDegrees), kDegrees, 0.8);
}
const double kSpread = std::sqrt(1 + 1 / static_cast<double>(kRuns));

TEST(GateSimulation, OneSpeed) {
  Speeds speeds(1, {"tpot_p50_ms"});
  const double margin = std::log1p(kMargin);
  const auto outcome = [&](double slower, double noise) {
    return Speeds::Of(speeds.Measure(slower, 0, noise), "tpot_p50_ms");
  };
  ExpectRate("10 runs, loss of the margin: FAIL", kLossLevel,
             [&] { return outcome(margin, kNoise) == Outcome::kFail; });
  ExpectRate("10 runs, loss of the margin: PASS", kLossLevel,
             [&] { return outcome(margin, kNoise) == Outcome::kPass; });
  const double noise = margin / (ShiftFor(kLossLevel) * kSpread);
  ExpectRate("10 runs, equal, as noisy as 4 passes in 5 allow: PASS", 0.8,
             [&] { return outcome(0, noise) == Outcome::kPass; });
}

TEST(GateSimulation, OneSpeedAmongSix) {
  Speeds speeds(2, {"output_throughput_tok_s", "ttft_p50_ms", "tpot_p50_ms"});
  const double margin = std::log1p(kMargin);
  ExpectRate("10 runs, six speeds, all with a loss of the margin: any FAIL", kLossLevel,
             [&] { return speeds.Measure(margin, margin).exit_code == 1; });
  ExpectRate("10 runs, six speeds, equal: any FAIL", 0, [&] { return speeds.Measure(0, 0).exit_code == 1; });
}

// The MDE is stated for the family, here of two: Holm's first step.
TEST(GateSimulation, OneLossAmongTwoSpeeds) {
  Speeds speeds(2, {"tpot_p50_ms"});
  const double mde = std::log1p(kMargin) + ShiftFor(kLossLevel / 2) * kNoise * kSpread;
  ExpectRate("10 runs, two speeds, one with a loss of its MDE: FAIL", 0.8,
             [&] { return Speeds::Of(speeds.Measure(mde, 0), "tpot_p50_ms") == Outcome::kFail; });
}

}  // namespace
}  // namespace assay::gate
