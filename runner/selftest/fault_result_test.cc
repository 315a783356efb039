#include "runner/selftest/fault_result.h"

#include <gtest/gtest.h>

#include <set>

namespace assay::runner {
namespace {

using record::Check;
using record::Outcome;
using record::Verdict;

Check Red(const char* metric, const char* rule, Outcome outcome = Outcome::kFail) {
  Check check;
  check.metric = metric;
  check.rule = rule;
  check.outcome = outcome;
  check.reason = "because";
  return check;
}

Check Score(Outcome outcome, double change) {
  Check check = Red("gpqa_score", "paired", outcome);
  check.change = change;
  return check;
}

Verdict Of(std::vector<Check> checks) {
  Verdict verdict;
  verdict.checks = std::move(checks);
  return verdict;
}

const CorpusEntry kSinks = {Fault::kDroppedSinks, MeetsFault::kAnswers, "gpqa_score", {"gpqa_score"}};
const CorpusEntry kCrash = {Fault::kCrash, MeetsFault::kAnswers, "", {"crashed"}};
const CorpusEntry kSlow = {Fault::kSlowStep, MeetsFault::kSpeed, "tpot_p50_ms", {"tpot_p50_ms"}};

TEST(ReadVerdict, ALossThatFailsTheScoreIsCaughtForTheRightReason) {
  const FaultResult result = ReadVerdict(Of({Score(Outcome::kFail, -0.25)}), kSinks, 0.025);
  EXPECT_EQ(StandingOf(result), Standing::kCaught);
  EXPECT_EQ(result.effect, "-25.0 points");
  EXPECT_EQ(result.mde_text, "2.5 points");
  EXPECT_EQ(result.caught_by, "FAIL gpqa_score (paired)");
}

TEST(ReadVerdict, AGreenVerdictOnALargeLossIsMissedAndOnASmallOneBelowTheMde) {
  EXPECT_EQ(StandingOf(ReadVerdict(Of({Score(Outcome::kPass, -0.03)}), kSinks, 0.025)), Standing::kMissed);
  EXPECT_EQ(StandingOf(ReadVerdict(Of({Score(Outcome::kPass, -0.02)}), kSinks, 0.025)), Standing::kBelowMde);
  EXPECT_EQ(StandingOf(ReadVerdict(Of({Score(Outcome::kInconclusive, -0.03)}), kSinks, 0.025)),
            Standing::kMissed)
      << "not knowing is not noticing";
}

TEST(ReadVerdict, AnEffectThatCannotBeHeldAgainstAnMdeIsMissedUnlessNoticed) {
  EXPECT_EQ(StandingOf(ReadVerdict(Of({Score(Outcome::kPass, 0)}), kSinks, std::nullopt)), Standing::kMissed);
  EXPECT_EQ(StandingOf(ReadVerdict(Of({}), kCrash, 0.025)), Standing::kMissed)
      << "any failure must be noticed";
}

TEST(ReadVerdict, RedForAnotherReasonIsNotCaught) {
  const FaultResult result = ReadVerdict(
      Of({Score(Outcome::kPass, 0), Red("V6_completed.gpqa", "validity", Outcome::kInvalid)}), kSinks, 0.025);
  EXPECT_EQ(StandingOf(result), Standing::kWrongReason);
  EXPECT_EQ(result.caught_by, "INVALID V6_completed");
}

TEST(ReadVerdict, ChecksAreKnownWhateverTheBenchmarkTheyAreOf) {
  const CorpusEntry cut = {Fault::kTruncation, MeetsFault::kSpeed, "", {"V2_output_length"}};
  const FaultResult result =
      ReadVerdict(Of({Red("V2_output_length.128-64", "validity", Outcome::kInvalid)}), cut, {});
  EXPECT_EQ(StandingOf(result), Standing::kCaught);
}

TEST(ReadVerdict, ObservationsCatchNothing) {
  Check observation = Red("tpot_p50_ms", "performance");
  observation.primary = false;
  observation.direction = record::Direction::kLowerIsBetter;
  observation.change = 0.5;
  observation.mde = 0.1;
  EXPECT_EQ(StandingOf(ReadVerdict(Of({observation}), kSlow, {})), Standing::kMissed);
}

TEST(ReadVerdict, ASlowdownIsPositiveWhicheverWayTheMetricPoints) {
  Check tpot = Red("tpot_p50_ms", "performance", Outcome::kInconclusive);
  tpot.direction = record::Direction::kLowerIsBetter;
  tpot.change = 0.05;
  tpot.mde = 0.14;
  EXPECT_NEAR(*ReadVerdict(Of({tpot}), kSlow, {}).size, 0.05, 1e-12);
  EXPECT_EQ(StandingOf(ReadVerdict(Of({tpot}), kSlow, {})), Standing::kBelowMde);

  Check throughput = Red("output_throughput_tok_s", "performance");
  throughput.change = -0.05;
  const CorpusEntry entry = {Fault::kSlowStep, MeetsFault::kSpeed, "output_throughput_tok_s", {}};
  EXPECT_NEAR(*ReadVerdict(Of({throughput}), entry, {}).size, 0.05, 1e-12);
}

TEST(ReadVerdict, AServerThatDiedHasNoScoreAndIsCaughtByItsDeath) {
  Check death = Red("crashed", "server");
  death.reason = "ended with signal 11";
  const FaultResult result = ReadVerdict(Of({death}), kCrash, 0.025);
  EXPECT_EQ(StandingOf(result), Standing::kCaught);
  EXPECT_EQ(result.effect, "ended with signal 11");
  EXPECT_EQ(result.mde_text, "");
}

TEST(Corpus, HasEachFaultOnceAndSaysWhatShouldNoticeIt) {
  std::set<Fault> seen;
  for (const CorpusEntry& entry : Corpus()) {
    EXPECT_TRUE(seen.insert(entry.fault).second);
    EXPECT_FALSE(entry.right.empty());
  }
  for (const FaultInfo& fault : FaultTable()) EXPECT_TRUE(seen.contains(fault.fault)) << fault.name;
  EXPECT_EQ(seen.size(), FaultTable().size());
}

TEST(SaysOnlyThatThePaceDiffers, IsNotSaidOfAnyOtherRedCheck) {
  Verdict verdict;
  EXPECT_FALSE(SaysOnlyThatThePaceDiffers(verdict));
  record::Check pace;
  pace.metric = "V10_machine_pace.64-32";
  pace.outcome = Outcome::kInvalid;
  verdict.checks = {pace};
  EXPECT_TRUE(SaysOnlyThatThePaceDiffers(verdict));
  record::Check loss;
  loss.metric = "ttft_p50_ms";
  loss.outcome = Outcome::kFail;
  verdict.checks.push_back(loss);
  EXPECT_FALSE(SaysOnlyThatThePaceDiffers(verdict));
}

}  // namespace
}  // namespace assay::runner
