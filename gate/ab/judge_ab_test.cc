#include "gate/ab/judge_ab.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "gate/ab/ab_scene_test_support.h"
#include "record/arms.h"

namespace assay::gate {
namespace {

using record::Check;
using record::Outcome;
using ::testing::HasSubstr;

const Check* FindCheck(const record::Verdict& verdict, const std::string& metric,
                       const std::string& rule = "") {
  for (const Check& check : verdict.checks)
    if (check.metric == metric && (rule.empty() || check.rule == rule)) return &check;
  return nullptr;
}
Outcome OutcomeOf(const record::Verdict& verdict, const std::string& metric) {
  const Check* check = FindCheck(verdict, metric);
  EXPECT_NE(check, nullptr) << metric;
  return check != nullptr ? check->outcome : Outcome::kInvalid;
}

TEST(JudgeAb, PassesEqualArmsAtTheLookWhereALossIsExcluded) {
  const record::Verdict verdict = JudgeAb(TwoArms(SteadyPairs(8, 0)), {});
  EXPECT_EQ(verdict.outcome, Outcome::kPass) << verdict.headline;
  EXPECT_EQ(verdict.exit_code, 0);
  EXPECT_TRUE(IsDecided(verdict));
  EXPECT_EQ(OutcomeOf(verdict, "gpqa_score"), Outcome::kPass);
  EXPECT_EQ(OutcomeOf(verdict, "ttft_p50_ms"), Outcome::kPass);
  EXPECT_EQ(FindCheck(verdict, "ttft_p50_ms")->samples, 8);
}

TEST(JudgeAb, FailsALossAboveTheMargin) {
  const record::Verdict verdict = JudgeAb(TwoArms(SteadyPairs(6, 0.10)), {});
  EXPECT_EQ(verdict.exit_code, 1);
  EXPECT_TRUE(IsDecided(verdict));
  const Check* check = FindCheck(verdict, "tpot_p50_ms");
  ASSERT_NE(check, nullptr);
  EXPECT_EQ(check->outcome, Outcome::kFail);
  EXPECT_EQ(check->cell, "tiny-moe.cpu.smoke");
  EXPECT_NEAR(*check->change, 0.10, 0.001);
  EXPECT_GT(*check->ci_low, 0.03);
  EXPECT_THAT(check->reason, HasSubstr("worse by more than the margin of 3 %"));
  EXPECT_EQ(OutcomeOf(verdict, "output_throughput_tok_s"), Outcome::kFail);
}

TEST(JudgeAb, SaysThatTooFewPairsCannotDecideWhateverTheyShow) {
  const record::Verdict verdict = JudgeAb(TwoArms(SteadyPairs(3, 0.5), {3, 4, 5}), {});
  EXPECT_EQ(OutcomeOf(verdict, "ttft_p50_ms"), Outcome::kInconclusive);
  EXPECT_THAT(FindCheck(verdict, "ttft_p50_ms")->reason, HasSubstr("n too small to decide, 4 are needed"));
  EXPECT_FALSE(IsDecided(verdict));
}

TEST(JudgeAb, DecidesNothingBeforeTheFirstLook) {
  record::RunRecord run = TwoArms(SteadyPairs(4, 0.5), {5, 6});
  for (record::CellRecord& cell : run.cells)
    if (cell.key.ends_with("head")) testing::Break(*cell.accuracy, 400);
  const record::Verdict verdict = JudgeAb(run, {});
  EXPECT_EQ(OutcomeOf(verdict, "ttft_p50_ms"), Outcome::kInconclusive);
  EXPECT_EQ(OutcomeOf(verdict, "gpqa_score"), Outcome::kInconclusive);
  EXPECT_FALSE(IsDecided(verdict));
}

TEST(JudgeAb, FailsWrongAnswersAndStatesNoSpeedForThem) {
  record::RunRecord run = TwoArms(SteadyPairs(4, -0.5));
  for (record::CellRecord& cell : run.cells)
    if (cell.key.ends_with("head")) testing::Break(*cell.accuracy, 40);
  const record::Verdict verdict = JudgeAb(run, {});
  EXPECT_EQ(verdict.exit_code, 1);
  const Check* answers = FindCheck(verdict, "gpqa_score");
  ASSERT_NE(answers, nullptr);
  EXPECT_EQ(answers->outcome, Outcome::kFail) << answers->reason;
  EXPECT_NEAR(*answers->change, -40.0 / 448, 1e-9);  // the repeats of four pairs are no new questions
  EXPECT_EQ(FindCheck(verdict, "ttft_p50_ms")->rule, "not_judged");
}

TEST(JudgeAb, TakesADeadHeadForAFindingAndADeadBaseForNoComparison) {
  const struct {
    const char* name;
    size_t run;  // 0 is the first of base, 1 the first of head
    bool infrastructure;
    int exit_code;
  } cases[] = {{"head", 1, false, 1},
               {"head, retry", 1, true, 75},
               {"base", 0, false, 4},
               {"base, retry", 0, true, 75}};
  for (const auto& c : cases) {
    record::RunRecord run = TwoArms(SteadyPairs(1, 0));
    run.cells[c.run].server.failure =
        record::ServerFailure{"crashed", "gpqa", "it crashed", "", c.infrastructure, {}};
    const record::Verdict verdict = JudgeAb(run, {});
    EXPECT_EQ(verdict.exit_code, c.exit_code) << c.name;
    EXPECT_TRUE(IsDecided(verdict)) << c.name;
  }
}

TEST(JudgeAb, InvalidatesWhatCannotBeCompared) {
  const struct {
    const char* name;
    void (*change)(record::CellRecord&);  // of the second run of head
    std::string check;
  } cases[] = {
      {"questions", [](record::CellRecord& cell) { cell.accuracy->dataset_hash = "other"; },
       "V9_same_questions"},
      {"unfinished", [](record::CellRecord& cell) { cell.accuracy->complete = false; }, "V6_completed.gpqa"},
      {"load", [](record::CellRecord& cell) { cell.serving[0].num_prompts = 65; }, "V6_completed.128x32"},
      {"length",
       [](record::CellRecord& cell) {
         for (auto& r : cell.serving[0].requests) r.output_tokens = 30;
       },
       "V2_output_length.128x32"},
      {"in flight", [](record::CellRecord& cell) { cell.serving[0].mean_in_flight *= 0.9; },
       "V4_same_in_flight.128x32"},
      {"other load", [](record::CellRecord& cell) { cell.serving[0].seed = 7; }, "V4_same_load.128x32"},
      {"no benchmark", [](record::CellRecord& cell) { cell.serving.clear(); }, "V6_completed.128x32"},
      {"another machine", [](record::CellRecord& cell) { cell.fingerprint.host = "elsewhere"; },
       "V8_same_arm"},
      {"no answers", [](record::CellRecord& cell) { cell.accuracy.reset(); }, "V6_completed.gpqa"},
      {"rebuilt", [](record::CellRecord& cell) { cell.fingerprint.engine_binary = "new"; }, "V8_same_arm"},
  };
  for (const auto& c : cases) {
    record::RunRecord run = TwoArms(SteadyPairs(4, 0));
    ASSERT_EQ(run.ab->runs[2].arm, "head");
    c.change(run.cells[2]);
    const record::Verdict verdict = JudgeAb(run, {});
    EXPECT_EQ(verdict.exit_code, 4) << c.name << ": " << verdict.headline;
    const bool named = std::any_of(verdict.checks.begin(), verdict.checks.end(), [&](const Check& check) {
      return check.metric == c.check && check.outcome == Outcome::kInvalid &&
             check.reason.find("pair 2") != std::string::npos;
    });
    EXPECT_TRUE(named) << c.name;
  }
}

TEST(JudgeAb, ComparesOtherFlagsOnlyWhereTheyWereDeclared) {
  record::RunRecord run = TwoArms(SteadyPairs(8, 0));
  for (record::CellRecord& cell : run.cells)
    if (cell.key.ends_with("head")) cell.fingerprint.engine_flags = "--threads 1";
  EXPECT_EQ(OutcomeOf(JudgeAb(run, {}), "V8_same_machine"), Outcome::kInvalid);
  Policy policy;
  policy.declared_differences = {"engine_flags"};
  EXPECT_EQ(JudgeAb(run, policy).exit_code, 0);
}

TEST(JudgeAb, LeavesOutTheRunThatAnInterruptCut) {
  record::RunRecord run = TwoArms(SteadyPairs(5, 0));
  run.status = "interrupted";
  run.cells.back().serving[0].complete = false;
  EXPECT_EQ(record::CutRun(run), &run.cells.back());
  EXPECT_EQ(record::WholePairs(run).size(), 4u);
  const record::Verdict verdict = JudgeAb(run, {});
  EXPECT_EQ(verdict.exit_code, 130);
  EXPECT_EQ(FindCheck(verdict, "ttft_p50_ms")->samples, 4);
  run.status = "complete";
  EXPECT_EQ(record::WholePairs(run).size(), 5u);
}

TEST(JudgeAb, CallsTwoBrokenArmsBroken) {
  record::RunRecord run = TwoArms(SteadyPairs(8, 0));
  for (record::CellRecord& cell : run.cells) testing::Break(*cell.accuracy, 320);
  Policy policy;
  policy.threshold.emplace().threshold = 0.94;
  const record::Verdict verdict = JudgeAb(run, policy);
  ASSERT_NE(FindCheck(verdict, "gpqa_score", "broken_line"), nullptr);
  EXPECT_EQ(FindCheck(verdict, "gpqa_score", "broken_line")->outcome, Outcome::kFail);
  EXPECT_EQ(FindCheck(verdict, "gpqa_score", "paired")->outcome, Outcome::kPass);
}

TEST(JudgeAb, SaysOfWhatHoldsInAllRunsThatItDoesOnce) {
  const record::Verdict verdict = JudgeAb(TwoArms(SteadyPairs(4, 0)), {});
  const auto times = std::count_if(verdict.checks.begin(), verdict.checks.end(),
                                   [](const Check& check) { return check.metric == "V6_completed.128x32"; });
  EXPECT_EQ(times, 1);
  EXPECT_THAT(FindCheck(verdict, "V6_completed.128x32")->reason, HasSubstr("in all 8"));
  record::RunRecord open = TwoArms(SteadyPairs(4, 0));
  for (record::CellRecord& cell : open.cells) cell.serving[0].ignore_eos = false;
  EXPECT_THAT(FindCheck(JudgeAb(open, {}), "V2_output_length.128x32")->reason,
              ::testing::StartsWith("not possible: in all 8, here pair 1 base: output length is not pinned"));
}

TEST(AsTwoCells, ShowsEachArmWithTheAnswersOfAllItsRuns) {
  record::RunRecord run = TwoArms(SteadyPairs(3, 0));
  const record::RunRecord shown = record::AsTwoCells(run);
  ASSERT_EQ(shown.cells.size(), 2u);
  EXPECT_EQ(shown.cells[0].key, "tiny-moe.cpu.smoke");
  EXPECT_EQ(shown.cells[1].key, "tiny-moe.cpu.smoke.base");
  EXPECT_EQ(shown.cells[0].accuracy->repeats, 3);
  EXPECT_EQ(shown.cells[0].fingerprint.engine_binary, std::string(64, 'e'));
  EXPECT_EQ(shown.cells[1].fingerprint.engine_binary, std::string(64, 'f'));
}

TEST(AsTwoCells, ShowsTheServerThatFailedUnderTheComparison) {
  record::RunRecord run = TwoArms(SteadyPairs(1, 0));
  run.cells.resize(1);
  run.ab->runs.resize(1);
  run.cells[0].server.failure.emplace().kind = "crashed";
  const record::RunRecord shown = record::AsTwoCells(run);
  ASSERT_EQ(shown.cells.size(), 1u);
  EXPECT_EQ(shown.cells[0].key, "tiny-moe.cpu.smoke");
  EXPECT_EQ(shown.cells[0].server.failure->kind, "crashed");
}

// Base is right in 4, 3, 2, 1, 0 of 4 repeats of five questions and head in 4, 2, 2, 0, 0: d = -0.1.
TEST(PooledAnswers, AreRepeatsOfTheSameQuestions) {
  const int base[] = {4, 3, 2, 1, 0}, head[] = {4, 2, 2, 0, 0};
  record::RunRecord run = TwoArms(SteadyPairs(4, 0));
  for (size_t i = 0; i < run.cells.size(); ++i) {
    const bool is_head = run.ab->runs[i].arm == "head";
    run.cells[i].accuracy = testing::ExampleAccuracy(5, 0);
    for (size_t q = 0; q < 5; ++q)
      run.cells[i].accuracy->samples[q].correct = run.ab->runs[i].pair <= (is_head ? head : base)[q];
  }
  std::vector<const record::CellRecord*> heads;
  for (const record::Pair& pair : record::WholePairs(run)) heads.push_back(pair.head);
  const record::AccuracyRecord pooled = record::PooledAnswers(heads);
  EXPECT_EQ(pooled.repeats, 4);
  EXPECT_EQ(pooled.questions, 5);
  EXPECT_EQ(Count(pooled).correct, 8);
  const Check* check = nullptr;
  const record::Verdict verdict = JudgeAb(run, {});
  for (const Check& one : verdict.checks)
    if (one.rule == "paired") check = &one;
  ASSERT_NE(check, nullptr);
  EXPECT_NEAR(*check->change, -0.1, 1e-12);
  EXPECT_EQ(check->samples, 20);
}

}  // namespace
}  // namespace assay::gate
