#include "gate/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "testing/example_run.h"

namespace assay::gate {
namespace {

using record::Check;
using record::Outcome;
using record::Verdict;
using ::testing::HasSubstr;

struct Scene {
  record::RunRecord run = testing::ExampleRun();
  CellPolicy policy{
      "tiny-moe.cpu.smoke", {}, {"store main (3 runs)", testing::ExampleBaseline({1, 1.002, 0.998})}};

  Scene() { policy.policy.threshold = ThresholdPolicy{0.88, ToleranceKind::kAbsolute, 0.02}; }
  record::CellRecord& cell() { return run.cells[0]; }
  Verdict Judge() const { return gate::Judge(run, {policy}); }
};

std::optional<Check> Find(const Verdict& verdict, std::string_view metric, std::string_view rule = "") {
  for (const Check& check : verdict.checks) {
    if (check.metric == metric && (rule.empty() || check.rule == rule)) return check;
  }
  return std::nullopt;
}

TEST(Judge, PassesARunLikeItsBaseline) {
  const Verdict verdict = Scene().Judge();
  EXPECT_EQ(verdict.exit_code, 0);
  EXPECT_EQ(verdict.headline, "PASS: 6 checks pass");
  EXPECT_EQ(Find(verdict, "gpqa_score", "paired")->outcome, Outcome::kPass);
  EXPECT_EQ(Find(verdict, "output_throughput_tok_s")->outcome, Outcome::kPass);
}

// What ended early has not all answers: it is passed over, and where nothing else is there the threshold
// decides.
TEST(Judge, ARunThatEndedEarlyIsNoBaselineAndNoObstacle) {
  const auto end_early = [](record::CellRecord& cell) {
    cell.accuracy->complete = false;
    cell.accuracy->sequential = record::Sequential{0.05, {10, 20}, true, 20};
  };
  Scene scene;
  end_early(scene.policy.baseline.cells.front());
  EXPECT_EQ(Find(scene.Judge(), "gpqa_score", "paired")->outcome, Outcome::kPass) << "an older one is whole";

  for (record::CellRecord& cell : scene.policy.baseline.cells) end_early(cell);
  const Verdict verdict = scene.Judge();
  EXPECT_EQ(verdict.exit_code, 0) << verdict.headline;
  EXPECT_FALSE(verdict.missing_baseline);
  EXPECT_FALSE(Find(verdict, "gpqa_score", "paired"));

  scene.policy.policy.threshold.reset();
  EXPECT_TRUE(scene.Judge().missing_baseline) << "nothing else judges the answers";
}

TEST(Judge, FailsASlowdownBeyondMarginAndNoise) {
  Scene scene;
  scene.cell().serving = {testing::ExampleServing(20 * 1.1, 5 * 1.1)};
  const Verdict verdict = scene.Judge();
  EXPECT_EQ(verdict.exit_code, 1);
  const Check tpot = *Find(verdict, "tpot_p50_ms");
  EXPECT_EQ(tpot.outcome, Outcome::kFail);
  EXPECT_NEAR(*tpot.change, 0.1, 1e-3);
  EXPECT_NEAR(*tpot.value / *tpot.reference - 1, *tpot.change, 1e-9);  // what is printed fits together
  EXPECT_LT(*tpot.ci_low, 0.1);
  EXPECT_GT(*tpot.ci_high, 0.1);
  const Check throughput = *Find(verdict, "output_throughput_tok_s");
  EXPECT_NEAR(*throughput.change, 1 / 1.1 - 1, 1e-3);  // the sign as measured
  EXPECT_EQ(throughput.outcome, Outcome::kFail);
}

TEST(Judge, NotesASpeedup) {
  Scene scene;
  scene.cell().serving = {testing::ExampleServing(20 / 1.2, 5 / 1.2)};
  const Verdict verdict = scene.Judge();
  EXPECT_EQ(verdict.exit_code, 0);
  EXPECT_TRUE(Find(verdict, "tpot_p50_ms")->improved);
  EXPECT_THAT(verdict.headline, HasSubstr("3 improved"));
}

TEST(Judge, SaysThatOneBaselineRunCannotDecide) {
  Scene scene;
  scene.policy.baseline.cells.resize(1);
  scene.cell().serving = {testing::ExampleServing(30, 7.5)};
  const Verdict verdict = scene.Judge();
  const Check tpot = *Find(verdict, "tpot_p50_ms");
  EXPECT_EQ(tpot.outcome, Outcome::kInconclusive);
  EXPECT_NEAR(*tpot.change, 0.5, 1e-9);
  EXPECT_THAT(
      tpot.reason,
      HasSubstr("n too small to decide: 1 baseline run; at least 3 needed to tell a change from noise"));
  EXPECT_EQ(verdict.exit_code, 0);
  scene.policy.policy.strict = true;
  EXPECT_EQ(scene.Judge().exit_code, 3);
}

TEST(Judge, DoesNotDecideWhereRunsVaryMoreThanTheMargin) {
  Scene scene;
  scene.policy.baseline.cells = testing::ExampleBaseline({1, 1.04, 0.96});
  const Verdict verdict = scene.Judge();
  const Check tpot = *Find(verdict, "tpot_p50_ms");
  EXPECT_EQ(tpot.outcome, Outcome::kInconclusive);
  EXPECT_THAT(tpot.reason, HasSubstr("this gate cannot see such a loss here"));
}

// Stored runs of one commit, with these factors of time.
std::vector<DatedCell> RunsOfOneCommit(const std::string& commit, std::vector<double> slowness) {
  std::vector<DatedCell> dated;
  for (record::CellRecord& cell : testing::ExampleBaseline(slowness))
    dated.push_back({commit, "2026-11-20T00:00:00Z", std::move(cell)});
  return dated;
}

// Three pairs that differ by 0.04: sigma 0.04, and t(0.975, 3) = 3.182446 times that.
std::vector<DatedCell> NoisyPairs() {
  std::vector<DatedCell> dated;
  for (const char* commit : {"a", "b", "c"}) {
    for (DatedCell& run : RunsOfOneCommit(commit, {1, std::exp(0.04)})) dated.push_back(std::move(run));
  }
  return dated;
}

TEST(Judge, FailsOnlyAboveTheNoiseFloorAndSaysThatTheMarginIsBelowIt) {
  Scene scene;
  scene.cell().serving = {testing::ExampleServing(20 * 1.1, 5 * 1.1)};
  scene.policy.baseline.dated = NoisyPairs();
  const Verdict verdict = scene.Judge();
  const Check tpot = *Find(verdict, "tpot_p50_ms");
  EXPECT_NEAR(std::log1p(*tpot.noise_floor), 3.182446 * 0.04, 1e-6);
  EXPECT_EQ(tpot.outcome, Outcome::kInconclusive) << "10 % would fail a margin of 3 %";
  EXPECT_THAT(tpot.reason, HasSubstr("runs of equal code differ by up to 13.6 %"));
  const auto note = std::find_if(verdict.notes.begin(), verdict.notes.end(),
                                 [](const auto& n) { return n.kind == "noise_floor"; });
  ASSERT_NE(note, verdict.notes.end());
  EXPECT_THAT(note->text, HasSubstr("this gate cannot see a loss of 3 %"));

  scene.cell().serving = {testing::ExampleServing(20 * 1.3, 5 * 1.3)};
  EXPECT_EQ(Find(scene.Judge(), "tpot_p50_ms")->outcome, Outcome::kFail);
}

TEST(Judge, MeasuresNoNoiseFloorFromRunsThatSayNothingOfThisMachineToday) {
  const auto floor = [](const std::function<void(DatedCell&)>& change) {
    Scene scene;
    scene.policy.baseline.dated = NoisyPairs();
    for (DatedCell& run : scene.policy.baseline.dated) change(run);
    return Find(scene.Judge(), "tpot_p50_ms")->noise_floor;
  };
  EXPECT_TRUE(floor([](DatedCell&) {}));
  EXPECT_FALSE(floor([](DatedCell& run) { run.cell.fingerprint.driver = "580"; }));
  EXPECT_FALSE(floor([](DatedCell& run) { run.cell.fingerprint.engine_flags += " --enforce-eager"; }));
  EXPECT_FALSE(floor([](DatedCell& run) { run.created = "2026-08-01T00:00:00Z"; }))
      << "122 days old, 90 count";
  EXPECT_FALSE(floor([](DatedCell& run) { run.created.clear(); }));
  EXPECT_FALSE(floor([](DatedCell& run) { run.commit.clear(); }));
  EXPECT_FALSE(floor([](DatedCell& run) { run.cell.serving[0].seed += 1; })) << "another load";
}

TEST(Judge, TakesOnlyEqualFingerprintsForEqualCode) {
  Scene scene;
  scene.policy.baseline.dated = NoisyPairs();
  scene.policy.baseline.dated[0].cell.fingerprint.engine_binary = std::string(64, '0');
  EXPECT_FALSE(Find(scene.Judge(), "tpot_p50_ms")->noise_floor)
      << "two pairs are left, three measure a floor";
}

// Each of three speeds is worse than the margin at p = 0.011 by itself. Among three that is 0.033.
TEST(Judge, FailsNoSpeedThatIsOneOfMany) {
  Scene scene;
  scene.policy.baseline.cells = testing::ExampleBaseline({1, 1.01, 0.99});
  scene.cell().serving = {testing::ExampleServing(20 * 1.112, 5 * 1.112)};
  const Verdict together = scene.Judge();
  const Check tpot = *Find(together, "tpot_p50_ms");
  EXPECT_EQ(tpot.outcome, Outcome::kInconclusive) << tpot.reason;
  EXPECT_LT(*tpot.p_value, 0.025);
  EXPECT_NEAR(*tpot.p_adjusted, 3 * *tpot.p_value, 0.3 * *tpot.p_value);
  EXPECT_THAT(tpot.reason, HasSubstr("n is too small to say so among 3 metrics"));

  scene.policy.policy.performance.primary = {"tpot_p50_ms"};
  const Check alone = *Find(scene.Judge(), "tpot_p50_ms");
  EXPECT_EQ(alone.outcome, Outcome::kFail) << alone.reason;
  EXPECT_EQ(alone.p_adjusted, alone.p_value);
  EXPECT_LT(*alone.mde, *tpot.mde) << "a family finds less";
}

TEST(Judge, LetsASmallAbsoluteChangePass) {
  Scene scene;
  scene.cell().serving = {testing::ExampleServing(21.4, 5)};
  scene.policy.policy.performance.min_change = {{"ttft_p50_ms", 2}};
  const Verdict verdict = scene.Judge();
  EXPECT_EQ(Find(verdict, "ttft_p50_ms")->outcome, Outcome::kPass);
  EXPECT_THAT(Find(verdict, "ttft_p50_ms")->reason, HasSubstr("below the least change that counts"));
}

TEST(Judge, KeepsP99OfFewRequestsAnObservation) {
  Scene scene;
  scene.policy.policy.performance.primary = {"ttft_p99_ms"};
  scene.cell().serving = {testing::ExampleServing(40, 5)};
  const Verdict verdict = scene.Judge();
  EXPECT_FALSE(Find(verdict, "ttft_p99_ms")->primary);
  EXPECT_EQ(verdict.exit_code, 0);
}

TEST(Judge, FailsBelowTheThreshold) {
  Scene scene;
  scene.policy.policy.threshold->threshold = 0.99;
  const Verdict verdict = scene.Judge();
  EXPECT_EQ(verdict.exit_code, 1);
  EXPECT_THAT(Find(verdict, "gpqa_score", "threshold")->reason,
              HasSubstr("score 0.9375 (420/448) is below the limit (limit 0.9700 = 0.99 - 0.02"));
}

TEST(Judge, DoesNotCallTheSpeedOfWrongAnswersASpeed) {
  Scene scene;
  scene.policy.policy.threshold->threshold = 0.99;
  scene.cell().serving = {testing::ExampleServing(10, 2)};
  const Verdict verdict = scene.Judge();
  EXPECT_FALSE(Find(verdict, "tpot_p50_ms")->improved);
  EXPECT_FALSE(Find(verdict, "tpot_p50_ms")->primary);
  EXPECT_THAT(Find(verdict, "tpot_p50_ms")->reason, HasSubstr("wrong answers"));
}

TEST(Judge, FailsALossOfManyQuestionsAndNamesThem) {
  Scene scene;
  testing::Break(*scene.cell().accuracy, 20);
  const Verdict verdict = scene.Judge();
  const Check paired = *Find(verdict, "gpqa_score", "paired");
  EXPECT_EQ(paired.outcome, Outcome::kFail);
  EXPECT_NEAR(*paired.change, -20.0 / 448, 1e-9);
  EXPECT_THAT(paired.reason, HasSubstr("20 answers lost and 0 won of 448"));
  EXPECT_EQ(paired.details[0], "lost (20): rec0000, rec0001, rec0002, rec0003, rec0004 and 15 more");
  EXPECT_EQ(verdict.exit_code, 1);
}

// Six lost, none won: a loss is shown (p = 1/64), but one too small to fail for.
TEST(Judge, DoesNotFailAProvenLossBelowTheLeastEffect) {
  Scene scene;
  testing::Break(*scene.cell().accuracy, 6);
  scene.policy.policy.accuracy = {.margin = 0.02, .min_effect = 0.02};
  const Check paired = *Find(scene.Judge(), "gpqa_score", "paired");
  EXPECT_EQ(paired.outcome, Outcome::kInconclusive);
  EXPECT_NEAR(*paired.p_value, 1.0 / 64, 1e-9);
  scene.policy.policy.accuracy.min_effect = 0.01;
  EXPECT_EQ(Find(scene.Judge(), "gpqa_score", "paired")->outcome, Outcome::kFail);
}

// Twenty lost and eighteen won of 448: the score hardly moved, but two points of loss are not excluded.
TEST(Judge, DoesNotDecideALossThatChanceExplains) {
  Scene scene;
  scene.policy.policy.accuracy.margin = 0.02;
  auto& samples = scene.cell().accuracy->samples;
  for (size_t i = 0; i < 20; ++i) samples[i].correct = false;
  for (size_t i = 420; i < 438; ++i) samples[i].correct = true;
  const Check paired = *Find(scene.Judge(), "gpqa_score", "paired");
  EXPECT_EQ(paired.outcome, Outcome::kInconclusive);
  EXPECT_NEAR(*paired.change, -0.004464, 1e-6);
  EXPECT_NEAR(*paired.mde, 0.034134, 1e-6);  // of 38 discordant among 448
}

TEST(Judge, DoesNotTakeTenEqualAnswersForProof) {
  Scene scene;
  scene.cell().accuracy = testing::ExampleAccuracy(10, 9);
  for (auto& cell : scene.policy.baseline.cells) cell.accuracy = testing::ExampleAccuracy(10, 9);
  EXPECT_EQ(Find(scene.Judge(), "gpqa_score", "paired")->outcome, Outcome::kInconclusive);
}

TEST(Judge, ComparesRepeatsByQuestion) {
  Scene scene;
  scene.cell().accuracy = testing::ExampleAccuracy(100, 90, 4);
  for (auto& cell : scene.policy.baseline.cells) cell.accuracy = testing::ExampleAccuracy(100, 90, 4);
  // Ten questions lose all four samples.
  for (auto& sample : scene.cell().accuracy->samples) sample.correct &= sample.id >= "rec0010";
  const Check paired = *Find(scene.Judge(), "gpqa_score", "paired");
  EXPECT_EQ(paired.outcome, Outcome::kFail);
  EXPECT_NEAR(*paired.change, -0.1, 1e-9);
  // sd of ten -1 among ninety 0 is 0.301511; / sqrt(100); x 1.959964.
  EXPECT_NEAR(*paired.ci_low, -0.1 - 1.959964 * 0.0301511, 1e-6);
  EXPECT_NEAR(*paired.p_value, std::exp2(-10), 1e-12);  // of all sign patterns only the one seen
}

// ---- no baseline

TEST(Judge, FailsClosedWithoutABaseline) {
  Scene scene;
  scene.policy.baseline.cells.clear();
  const Verdict verdict = scene.Judge();
  EXPECT_TRUE(verdict.missing_baseline);
  EXPECT_EQ(verdict.exit_code, 4);
  EXPECT_THAT(verdict.headline, HasSubstr("NO BASELINE: no accuracy baseline, no serving baseline"));
}

TEST(Judge, LetsAMissingBaselinePassWhenToldSo) {
  Scene scene;
  scene.policy.baseline.cells.clear();
  scene.policy.policy.allow_missing_baseline = true;
  const Verdict verdict = scene.Judge();
  EXPECT_EQ(verdict.exit_code, 0);
  EXPECT_THAT(verdict.notes[0].text, HasSubstr("allowed by --allow-missing-baseline"));
}

TEST(Judge, NeedsNoBaselineWhenNoneWasAskedFor) {
  Scene scene;
  scene.policy.baseline = {"", {}, false};
  const Verdict verdict = scene.Judge();
  EXPECT_EQ(verdict.exit_code, 0);
  EXPECT_TRUE(verdict.notes.empty());
  EXPECT_FALSE(Find(verdict, "gpqa_score", "paired"));
}

TEST(Judge, RecordsTheFirstRunOfAMachineAndStillComparesAnswers) {
  Scene scene;
  scene.policy.policy.baseline.first_run = FirstRun::kRecord;
  for (auto& cell : scene.policy.baseline.cells) cell.fingerprint.host = "another";
  const Verdict verdict = scene.Judge();
  EXPECT_EQ(verdict.exit_code, 0);
  EXPECT_EQ(Find(verdict, "gpqa_score", "paired")->outcome, Outcome::kPass);
  ASSERT_EQ(verdict.notes.size(), 2u);
  EXPECT_EQ(verdict.notes[1].text, "compared with store main (3 runs)");
  EXPECT_EQ(verdict.notes[0].kind, "first_run");
  EXPECT_EQ(
      verdict.notes[0].text,
      "this machine has no performance baseline yet for 128x32 (the nearest earlier run differs in host: "
      "5ca1ab1e here, another in the baseline); this run is recorded as its first");
}

TEST(Judge, NeverComparesSpeedAcrossMachines) {
  Scene scene;
  for (auto& cell : scene.policy.baseline.cells) cell.fingerprint.device = "another CPU";
  EXPECT_EQ(scene.Judge().exit_code, 4);
}

TEST(Judge, ComparesAcrossADeclaredDifference) {
  Scene scene;
  scene.cell().fingerprint.engine_flags = "--tensor-parallel-size 2 --moe-backend fused";
  EXPECT_EQ(scene.Judge().exit_code, 4);
  scene.policy.policy.declared_differences = {"engine_flags"};
  EXPECT_EQ(scene.Judge().exit_code, 0);
}

// ---- what the baseline asked

TEST(Judge, RefusesAPairingOfUnlikeEvals) {
  const struct {
    const char* name;
    void (*change)(record::CellRecord& baseline);
    const char* obstacle;
  } cases[] = {
      {"data set", [](auto& b) { b.accuracy->dataset_hash = "other"; }, "dataset_hash"},
      {"question", [](auto& b) { b.accuracy->samples[0].id = "recX"; },
       "question ids: 1 only here, 1 only in the baseline"},
      {"repeats", [](auto& b) { b.accuracy->repeats = 8; }, "repeats: 1 here, 8 in the baseline"},
      {"effort", [](auto& b) { b.accuracy->reasoning_effort = "high"; }, "reasoning_effort: low here, high"},
      {"model", [](auto& b) { b.fingerprint.model_hash = "ff"; }, "model_hash"},
      {"tokenizer", [](auto& b) { b.fingerprint.tokenizer_hash = ""; }, "unknown in the baseline"},
      {"unfinished", [](auto& b) { b.accuracy->complete = false; }, "not finished"},
  };
  for (const auto& c : cases) {
    Scene scene;
    scene.policy.policy.baseline.first_run = FirstRun::kRecord;
    for (auto& cell : scene.policy.baseline.cells) c.change(cell);
    const Verdict verdict = scene.Judge();
    EXPECT_EQ(verdict.exit_code, 4) << c.name;
    const auto check = Find(verdict, "V9_same_questions");
    ASSERT_TRUE(check) << c.name;
    EXPECT_THAT(check->details[0], HasSubstr(c.obstacle)) << c.name;
  }
}

TEST(Judge, PairsWithThePinnedRecordBehindUnlikeRuns) {
  Scene scene;
  scene.policy.baseline.cells[0].accuracy.reset();
  scene.policy.baseline.cells[1].accuracy->dataset_hash = "other";
  EXPECT_EQ(Find(scene.Judge(), "gpqa_score", "paired")->outcome, Outcome::kPass);
}

// ---- validity

TEST(Judge, DoesNotJudgeABrokenMeasurement) {
  using Cell = record::CellRecord;
  const struct {
    const char* name;
    void (*change)(Cell& cell);
    const char* metric;
    const char* reason;
  } cases[] = {
      {"eval cut short", [](Cell& c) { c.accuracy->samples.resize(400); }, "V6_completed.gpqa",
       "400 of 448 planned"},
      {"eval says incomplete", [](Cell& c) { c.accuracy->complete = false; }, "V6_completed.gpqa",
       "448 of 448"},
      {"eval of nothing", [](Cell& c) { c.accuracy->samples.clear(), c.accuracy->questions = 0; },
       "V6_completed.gpqa", "0 of 0"},
      {"failed samples",
       [](Cell& c) {
         for (int i = 0; i < 10; ++i) c.accuracy->samples[i].error = "reset";
       },
       "V6_failed_samples.gpqa", "10 of 448 requests failed (2.2 %, limit 2.0 %)"},
      {"sample twice", [](Cell& c) { c.accuracy->samples[1].id = c.accuracy->samples[0].id; },
       "V9_score_grid.gpqa", "rec0000"},
      {"failed request", [](Cell& c) { c.serving[0].requests[3].error = "500"; }, "V6_completed.128x32",
       "63 of 64"},
      {"missing request", [](Cell& c) { c.serving[0].requests.pop_back(); }, "V6_completed.128x32",
       "63 of 64"},
      {"short answers",
       [](Cell& c) {
         for (auto& r : c.serving[0].requests) r.output_tokens = r.chunks = 16;
       },
       "V2_output_length.128x32", "16.0 tokens on average, 32 were asked for"},
      {"arithmetic", [](Cell& c) { *c.serving[0].metrics[1].value *= 1.01; },
       "V1_throughput_arithmetic.128x32", "tok/s against"},
      {"load not held", [](Cell& c) { c.serving[0].mean_in_flight = 2.5; }, "V4_in_flight.128x32",
       "concurrency of 4"},
      {"other load", [](Cell& c) { c.serving[0].mean_in_flight = 3.7; }, "V4_same_in_flight.128x32",
       "3.7 requests in flight here"},
      {"token counts", [](Cell& c) { c.serving[0].requests[0].chunks = 40; }, "V7_token_counts.128x32",
       "1 answers streamed more chunks"},
      {"nothing at all", [](Cell& c) { c.accuracy.reset(), c.serving.clear(); }, "measured",
       "nothing was measured"},
  };
  for (const auto& c : cases) {
    Scene scene;
    c.change(scene.cell());
    const Verdict verdict = scene.Judge();
    EXPECT_EQ(verdict.exit_code, 4) << c.name;
    const auto check = Find(verdict, c.metric);
    ASSERT_TRUE(check) << c.name;
    EXPECT_EQ(check->outcome, Outcome::kInvalid) << c.name;
    EXPECT_THAT(check->reason, HasSubstr(c.reason)) << c.name;
  }
}

TEST(Judge, DoesNotJudgeSpeedOfAnInvalidBenchmark) {
  Scene scene;
  scene.cell().serving[0] = testing::ExampleServing(100, 50);
  scene.cell().serving[0].requests[3].error = "500";
  const Verdict verdict = scene.Judge();
  EXPECT_FALSE(Find(verdict, "tpot_p50_ms")->primary);
  EXPECT_EQ(Find(verdict, "tpot_p50_ms")->reason, "not judged: the measurement is invalid");
}

TEST(Judge, StillJudgesLatencyWhenLengthsDiffer) {
  Scene scene;
  scene.cell().serving[0] = testing::ExampleServing(100, 50);
  for (auto& request : scene.cell().serving[0].requests) request.output_tokens = request.chunks = 16;
  *scene.cell().serving[0].metrics[1].value /= 2;
  const Verdict verdict = scene.Judge();
  EXPECT_EQ(Find(verdict, "tpot_p50_ms")->outcome, Outcome::kFail);
  EXPECT_FALSE(Find(verdict, "output_throughput_tok_s")->primary);
}

// ---- the server

TEST(Judge, CallsAServerThatNeverStartedInfrastructure) {
  Scene scene;
  scene.cell().accuracy.reset();
  scene.cell().serving.clear();
  scene.cell().server.failure =
      record::ServerFailure{"not_started", "starting", "no such program", "", true, {}};
  scene.run.status = "failed";
  const Verdict verdict = scene.Judge();
  EXPECT_EQ(verdict.exit_code, 75);
  EXPECT_EQ(verdict.outcome, Outcome::kInfrastructure);
  EXPECT_EQ(verdict.checks.size(), 1u);
}

TEST(Judge, FailsACrashWhileServingAndPassesNothingOfThatCell) {
  Scene scene;
  scene.cell().server.failure = record::ServerFailure{
      "crashed", "serving:128x32", "the server crashed", "signal 11 (Segmentation fault)", false, {}};
  scene.run.status = "failed";
  const Verdict verdict = scene.Judge();
  EXPECT_EQ(verdict.exit_code, 1);
  for (const Check& check : verdict.checks) EXPECT_NE(check.outcome, Outcome::kPass) << check.metric;
}

TEST(Judge, ExitsWith130WhenInterrupted) {
  Scene scene;
  scene.run.status = "interrupted";
  EXPECT_EQ(scene.Judge().exit_code, 130);
}

TEST(Judge, NeverPassesARunOfNothing) {
  record::RunRecord run;
  EXPECT_EQ(Judge(run, {}).exit_code, 4);
  Scene scene;
  scene.run.status = "running";
  EXPECT_EQ(scene.Judge().exit_code, 4);
}

}  // namespace
}  // namespace assay::gate
