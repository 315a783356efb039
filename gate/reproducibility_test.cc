#include "gate/reproducibility.h"

#include <gtest/gtest.h>

#include "gate/judge.h"
#include "testing/example_run.h"

namespace assay::gate {
namespace {

using record::Outcome;

record::CellRecord Asked(int64_t failed, std::vector<std::string> differences) {
  record::CellRecord cell = testing::ExampleCell();
  cell.reproducibility.emplace();
  cell.reproducibility->requests = 16;
  cell.reproducibility->complete = true;
  cell.reproducibility->failed = failed;
  cell.reproducibility->differences = std::move(differences);
  return cell;
}

TEST(JudgeReproducibility, SaysNothingWhereItWasNotAsked) {
  EXPECT_EQ(JudgeReproducibility(testing::ExampleCell()), std::nullopt);
}

TEST(JudgeReproducibility, OneTextThatDiffersFails) {
  EXPECT_EQ(JudgeReproducibility(Asked(0, {}))->outcome, Outcome::kPass);
  const auto check = JudgeReproducibility(Asked(0, {"request 3: from character 17 on"}));
  EXPECT_EQ(check->outcome, Outcome::kFail);
  EXPECT_EQ(check->value, 1);
  EXPECT_EQ(check->details.front(), "request 3: from character 17 on");
}

TEST(JudgeReproducibility, RequestsThatFailedOrWereNotAskedProveNothing) {
  EXPECT_EQ(JudgeReproducibility(Asked(1, {}))->outcome, Outcome::kInvalid);
  record::CellRecord stopped = Asked(0, {});
  stopped.reproducibility->complete = false;
  EXPECT_EQ(JudgeReproducibility(stopped)->outcome, Outcome::kInvalid);
}

// Texts that depend on the neighbours are no wrong answers: the speed is judged all the same.
TEST(Judge, AServerThatIsNotReproducibleFailsAndItsSpeedIsJudged) {
  record::RunRecord run = testing::ExampleRun();
  run.cells = {Asked(0, {"request 3: from character 17 on"})};
  const CellPolicy policy{
      "tiny-moe.cpu.smoke", {}, {"store main (3 runs)", testing::ExampleBaseline({1, 1.002, 0.998})}};
  const record::Verdict verdict = Judge(run, {policy});
  EXPECT_EQ(verdict.exit_code, 1);
  EXPECT_EQ(verdict.headline, "FAIL: seeded_answers; 4 checks pass");
}

TEST(Judge, ACellThatWasOnlyAskedTwiceIsMeasured) {
  record::RunRecord run = testing::ExampleRun();
  run.cells = {Asked(0, {})};
  run.cells.front().accuracy.reset();
  run.cells.front().serving.clear();
  EXPECT_EQ(Judge(run, {{"tiny-moe.cpu.smoke", {}, {"", {}, false}}}).headline, "PASS: 1 check passes");
}

record::CellRecord Answered(const std::vector<std::string>& hashes) {
  record::CellRecord cell;
  cell.key = "c";
  cell.fingerprint.device = "cpu 1";
  cell.accuracy.emplace();
  for (const std::string& hash : hashes) {
    record::QuestionSample sample;
    sample.id = "q" + std::to_string(cell.accuracy->samples.size());
    sample.answer_hash = hash;
    cell.accuracy->samples.push_back(sample);
  }
  return cell;
}

const AccuracyPolicy kSame = {.same_answers = true};

TEST(JudgeSameAnswers, FailsOnOneChangedTextWhereThePolicySaysSo) {
  const record::CellRecord before = Answered({"a", "b", "c"});
  const auto same = JudgeSameAnswers(before, before, kSame);
  EXPECT_EQ(same->outcome, Outcome::kPass);
  EXPECT_EQ(same->reason, "3 answers are word for word the baseline's");
  const auto changed = JudgeSameAnswers(Answered({"a", "x", "c"}), before, kSame);
  EXPECT_EQ(changed->outcome, Outcome::kFail);
  EXPECT_TRUE(changed->primary);
  EXPECT_EQ(changed->metric, "gpqa_changed_answers");
  EXPECT_EQ(changed->value, 1);
  EXPECT_EQ(changed->details, std::vector<std::string>{"changed (1): q1"});
}

TEST(JudgeSameAnswers, IsAnObservationElsewhere) {
  const record::CellRecord before = Answered({"a", "b"}), after = Answered({"a", "x"});
  const auto seen = JudgeSameAnswers(after, before, {});
  EXPECT_EQ(seen->outcome, Outcome::kInconclusive);
  EXPECT_FALSE(seen->primary);
  record::CellRecord other_device = after;
  other_device.fingerprint.device = "cpu 2";
  EXPECT_FALSE(JudgeSameAnswers(other_device, before, kSame)->primary) << "sums in another order";
  EXPECT_FALSE(JudgeSameAnswers(Answered({"a", ""}), before, kSame)->primary) << "one is not known";
}

TEST(JudgeSameAnswers, SaysNothingOfAnswersWithoutHashesOrDrawnOnes) {
  const record::CellRecord before = Answered({"a"}), old = Answered({""});
  EXPECT_FALSE(JudgeSameAnswers(before, old, {}));
  EXPECT_EQ(JudgeSameAnswers(before, old, kSame)->outcome, Outcome::kInconclusive);
  record::CellRecord drawn = Answered({"x"});
  drawn.accuracy->temperature = 1;
  EXPECT_FALSE(JudgeSameAnswers(drawn, before, {}));
  EXPECT_EQ(JudgeSameAnswers(drawn, before, kSame)->outcome, Outcome::kFail);
}

}  // namespace
}  // namespace assay::gate
