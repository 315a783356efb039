#include "gate/fold.h"

#include <gtest/gtest.h>

namespace assay::gate {
namespace {

using record::Check;
using record::Outcome;

Check Of(Outcome outcome) {
  Check check;
  check.group = "accuracy";
  check.metric = "gpqa_score";
  check.outcome = outcome;
  return check;
}

// The table of docs/statistics.md: every pair of outcomes in one run.
TEST(ExitCode, OfEveryPairIsTheHeavierOne) {
  using enum Outcome;
  const struct {
    Outcome a, b;
    int exit_code, strict_exit_code;
    Outcome outcome;
  } cases[] = {
      {kPass, kPass, 0, 0, kPass},
      {kPass, kInconclusive, 0, 3, kPass},
      {kPass, kInfrastructure, 75, 75, kInfrastructure},
      {kPass, kInvalid, 4, 4, kInvalid},
      {kPass, kFail, 1, 1, kFail},
      {kInconclusive, kInconclusive, 0, 3, kInconclusive},
      {kInconclusive, kInfrastructure, 75, 75, kInfrastructure},
      {kInconclusive, kInvalid, 4, 4, kInvalid},
      {kInconclusive, kFail, 1, 1, kFail},
      {kInfrastructure, kInfrastructure, 75, 75, kInfrastructure},
      {kInfrastructure, kInvalid, 4, 4, kInvalid},
      {kInfrastructure, kFail, 1, 1, kFail},
      {kInvalid, kInvalid, 4, 4, kInvalid},
      {kInvalid, kFail, 1, 1, kFail},
      {kFail, kFail, 1, 1, kFail},
  };
  for (const auto& c : cases) {
    const std::string name = std::string(record::Name(c.a)) + " and " + record::Name(c.b);
    for (const std::vector<Check>& checks : {std::vector{Of(c.a), Of(c.b)}, std::vector{Of(c.b), Of(c.a)}}) {
      EXPECT_EQ(ExitCode(checks, false, false), c.exit_code) << name;
      EXPECT_EQ(ExitCode(checks, true, false), c.strict_exit_code) << name;
      EXPECT_EQ(ExitCode(checks, false, true), 130) << name;
      EXPECT_EQ(Fold(checks, false), c.outcome) << name;
    }
  }
}

TEST(Fold, StrictTurnsUndecidedIntoInconclusive) {
  const std::vector<Check> checks = {Of(Outcome::kPass), Of(Outcome::kInconclusive)};
  EXPECT_EQ(Fold(checks, true), Outcome::kInconclusive);
}

TEST(Fold, ObservationsDecideNothing) {
  Check observation = Of(Outcome::kFail);
  observation.primary = false;
  EXPECT_EQ(Fold({observation}, true), Outcome::kPass);
  EXPECT_EQ(ExitCode({observation}, true, false), 0);
}

TEST(Fold, ValidityAloneIsNoPassBesideTheUndecided) {
  Check valid = Of(Outcome::kPass);
  valid.group = "validity";
  EXPECT_EQ(Fold({valid, Of(Outcome::kInconclusive)}, false), Outcome::kInconclusive);
}

TEST(Headline, NamesWhatFailed) {
  record::Verdict verdict;
  Check score = Of(Outcome::kFail);
  score.rule = "threshold";
  Check ttft = Of(Outcome::kFail);
  ttft.group = "serving:1k1k";
  ttft.metric = "ttft_p50_ms";
  verdict.checks = {score, ttft, Of(Outcome::kPass)};
  verdict.outcome = Fold(verdict.checks, false);
  EXPECT_EQ(Headline(verdict, false),
            "FAIL: gpqa_score against the threshold, 1k1k ttft_p50_ms; 1 check passes");
}

}  // namespace
}  // namespace assay::gate
