#include "runner/bisect/bisection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

namespace assay::runner {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::SizeIs;

using Answers = std::function<StepAnswer(const BisectStep&)>;

// Asks until nothing is left to ask; returns what was asked.
std::vector<size_t> AskAll(Bisection& bisection, const Answers& answers) {
  std::vector<size_t> asked;
  while (const auto step = bisection.Next()) {
    asked.push_back(step->commit);
    bisection.Report(answers(*step));
  }
  return asked;
}

Answers BadFrom(size_t culprit) {
  return [culprit](const BisectStep& step) {
    return step.commit >= culprit ? StepAnswer::kFail : StepAnswer::kPass;
  };
}

TEST(Bisection, FindsEveryCulpritInLogarithmicallyManySteps) {
  for (size_t culprit = 0; culprit < 100; ++culprit) {
    Bisection bisection(100, 4, 2);
    EXPECT_THAT(AskAll(bisection, BadFrom(culprit)), SizeIs(Le(1 + 7))) << culprit;
    EXPECT_THAT(bisection.Suspects(), ElementsAre(culprit));
  }
}

TEST(Bisection, AsksTheBadCommitFirstAndEndsUnlessItFails) {
  for (const StepAnswer answer : {StepAnswer::kPass, StepAnswer::kInconclusive, StepAnswer::kBroken}) {
    Bisection bisection(8, 4, 1);
    const auto asked = AskAll(bisection, [&](const BisectStep&) { return answer; });
    EXPECT_THAT(asked, ::testing::Each(7u));
    EXPECT_FALSE(bisection.Confirmed());
    EXPECT_THAT(bisection.Suspects(), IsEmpty());
  }
}

TEST(Bisection, OfOneCommitOnlyConfirmsIt) {
  Bisection bisection(1, 4, 2);
  EXPECT_THAT(AskAll(bisection, BadFrom(0)), ElementsAre(0u));
  EXPECT_THAT(bisection.Suspects(), ElementsAre(0u));
}

TEST(Bisection, DoublesThePairsOfACommitThatCannotBeToldApart) {
  Bisection bisection(3, 4, 2);
  bisection.Report(StepAnswer::kFail);
  std::vector<int> pairs;
  for (int i = 0; i < 3; ++i) {
    pairs.push_back(bisection.Next()->pairs);
    EXPECT_EQ(bisection.Next()->commit, 1u);
    bisection.Report(StepAnswer::kInconclusive);
  }
  EXPECT_THAT(pairs, ElementsAre(4, 8, 16));
  EXPECT_EQ(bisection.Next()->commit, 0u) << "then it is left open and the others are asked";
  EXPECT_EQ(bisection.Next()->pairs, 4);
}

TEST(Bisection, NeverExoneratesWhatItCouldNotTell) {
  Bisection bisection(5, 4, 0);
  AskAll(bisection, [](const BisectStep& step) {
    if (step.commit == 2) return StepAnswer::kInconclusive;
    return step.commit >= 3 ? StepAnswer::kFail : StepAnswer::kPass;
  });
  EXPECT_THAT(bisection.Suspects(), ElementsAre(2u, 3u));
}

TEST(Bisection, PassesOverWhatDoesNotBuild) {
  Bisection bisection(8, 4, 2);
  const auto asked = AskAll(bisection, [](const BisectStep& step) {
    if (step.commit == 3 || step.commit == 4) return StepAnswer::kBroken;
    return step.commit >= 6 ? StepAnswer::kFail : StepAnswer::kPass;
  });
  EXPECT_THAT(bisection.Suspects(), ElementsAre(6u));
  EXPECT_EQ(std::count(asked.begin(), asked.end(), 3), 1) << "a build is not tried again";
}

// A judge that cannot tell in three of ten looks, whatever the commit; a wider look can tell more often.
TEST(Bisection, KeepsTheCulpritAmongItsSuspectsUnderNoise) {
  int exact = 0;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    std::mt19937_64 random(seed);
    const size_t culprit = random() % 40;
    Bisection bisection(40, 4, 2);
    AskAll(bisection, [&](const BisectStep& step) {
      const uint64_t undecided = step.pairs == 4 ? 300 : 100;
      if (random() % 1000 < undecided) return StepAnswer::kInconclusive;
      return step.commit >= culprit ? StepAnswer::kFail : StepAnswer::kPass;
    });
    if (!bisection.Confirmed()) continue;  // three looks in a row at the bad commit: 0.3 %
    const auto suspects = bisection.Suspects();
    EXPECT_NE(std::find(suspects.begin(), suspects.end(), culprit), suspects.end()) << "seed " << seed;
    exact += suspects.size() == 1;
  }
  EXPECT_GE(exact, 450);
}

}  // namespace
}  // namespace assay::runner
