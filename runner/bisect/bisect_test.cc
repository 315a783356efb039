#include "runner/bisect/bisect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runner/store/git.h"
#include "testing/git_repository.h"

namespace assay::runner {
namespace {

using record::Outcome;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

record::Check Checked(const std::string& metric, Outcome outcome) {
  record::Check check;
  check.group = "serving:s";
  check.metric = metric;
  check.rule = "performance";
  check.outcome = outcome;
  return check;
}

record::Verdict VerdictOf(Outcome outcome, std::vector<record::Check> checks) {
  record::Verdict verdict;
  verdict.outcome = outcome;
  verdict.checks = std::move(checks);
  return verdict;
}

TEST(AnswerOf, AccusesWhatFailedOnTheBadCommitAndLooksAtNothingElse) {
  std::vector<std::string> accused;
  EXPECT_EQ(AnswerOf(VerdictOf(Outcome::kFail, {Checked("tpot_p50_ms", Outcome::kFail),
                                                Checked("ttft_p50_ms", Outcome::kInconclusive)}),
                     accused),
            StepAnswer::kFail);
  EXPECT_THAT(accused, ElementsAre("s.tpot_p50_ms"));
  EXPECT_EQ(AnswerOf(VerdictOf(Outcome::kPass, {Checked("tpot_p50_ms", Outcome::kPass),
                                                Checked("ttft_p50_ms", Outcome::kInconclusive)}),
                     accused),
            StepAnswer::kPass);
  EXPECT_EQ(AnswerOf(VerdictOf(Outcome::kFail, {Checked("tpot_p50_ms", Outcome::kPass),
                                                Checked("ttft_p50_ms", Outcome::kFail)}),
                     accused),
            StepAnswer::kPass)
      << "another loss is another story";
}

TEST(AnswerOf, DoesNotTakeAPassOfOtherMetricsForOneOfThis) {
  std::vector<std::string> accused = {"s.tpot_p50_ms"};
  EXPECT_EQ(AnswerOf(VerdictOf(Outcome::kPass, {Checked("tpot_p50_ms", Outcome::kInconclusive),
                                                Checked("ttft_p50_ms", Outcome::kPass)}),
                     accused),
            StepAnswer::kInconclusive);
  EXPECT_EQ(AnswerOf(VerdictOf(Outcome::kPass, {}), accused), StepAnswer::kInconclusive);
  EXPECT_EQ(AnswerOf(VerdictOf(Outcome::kInvalid, {Checked("tpot_p50_ms", Outcome::kPass)}), accused),
            StepAnswer::kInconclusive);
}

TEST(AnswerOf, FollowsAServerThatBreaks) {
  record::Check broken;
  broken.group = broken.rule = "server";
  broken.outcome = Outcome::kFail;
  std::vector<std::string> accused;
  EXPECT_EQ(AnswerOf(VerdictOf(Outcome::kFail, {broken}), accused), StepAnswer::kFail);
  EXPECT_THAT(accused, ElementsAre("server"));
  EXPECT_EQ(AnswerOf(VerdictOf(Outcome::kPass, {Checked("tpot_p50_ms", Outcome::kPass)}), accused),
            StepAnswer::kPass);
}

TEST(AnswerOf, AccusesNothingOfABadCommitThatIsAsGood) {
  std::vector<std::string> accused;
  EXPECT_EQ(AnswerOf(VerdictOf(Outcome::kPass, {Checked("tpot_p50_ms", Outcome::kPass)}), accused),
            StepAnswer::kPass);
  EXPECT_EQ(
      AnswerOf(VerdictOf(Outcome::kInconclusive, {Checked("tpot_p50_ms", Outcome::kInconclusive)}), accused),
      StepAnswer::kInconclusive);
  EXPECT_TRUE(accused.empty());
}

TEST(CommitsBetween, AreThoseAfterTheGoodOneOldestFirst) {
  const testing::GitRepository repository;
  std::vector<std::string> commits;
  for (int i = 0; i < 4; ++i) {
    repository.Commit("a", std::to_string(i));
    commits.push_back(*Git(repository.path(), {"rev-parse", "HEAD"}));
  }
  EXPECT_THAT(CommitsBetween(repository.path(), commits[0], commits[3]).value(),
              ElementsAre(commits[1], commits[2], commits[3]));
  EXPECT_THAT(CommitsBetween(repository.path(), commits[3], commits[0]).error().message,
              HasSubstr("is no ancestor"));
  EXPECT_THAT(CommitsBetween(repository.path(), commits[1], commits[1]).error().message,
              HasSubstr("one commit"));
}

}  // namespace
}  // namespace assay::runner
