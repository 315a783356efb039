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

}  // namespace
}  // namespace assay::gate
