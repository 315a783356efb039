#include "gate/workaround.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gate/judge.h"
#include "testing/example_run.h"

namespace assay::gate {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

record::CellRecord CellWith(const std::string& name, const std::string& version) {
  record::CellRecord cell = testing::ExampleCell();
  cell.fingerprint.versions[name] = version;
  return cell;
}

const std::vector<Workaround> kAiter = {{"moe-fallback", "aiter>=0.1.20"}};

TEST(Workaround, IsQuietWhileItIsNeeded) {
  EXPECT_THAT(JudgeWorkarounds(CellWith("aiter", "0.1.19"), kAiter), IsEmpty());
}

TEST(Workaround, SaysThatItCanGoOnceItsConditionIsMet) {
  const auto notes = JudgeWorkarounds(CellWith("aiter", "0.1.20"), kAiter);
  ASSERT_THAT(notes, SizeIs(1));
  EXPECT_EQ(notes[0].kind, "workaround");
  EXPECT_THAT(notes[0].text, HasSubstr("moe-fallback can go: aiter is 0.1.20"));
}

TEST(Workaround, SaysWhenNobodyKnowsTheVersion) {
  const auto notes = JudgeWorkarounds(CellWith("torch", "2.9"), kAiter);
  ASSERT_THAT(notes, SizeIs(1));
  EXPECT_EQ(notes[0].kind, "workaround_stays");
  EXPECT_THAT(notes[0].text, HasSubstr("the version of aiter is unknown here"));
}

TEST(Workaround, FindsAPackageHoweverItsNameIsSpelt) {
  const std::vector<Workaround> workarounds = {{"x", "Amd.Aiter>=1"}};
  EXPECT_EQ(JudgeWorkarounds(CellWith("amd_aiter", "1.1"), workarounds).at(0).kind, "workaround");
}

TEST(Workaround, MayWaitForADriver) {
  record::CellRecord cell = testing::ExampleCell();
  cell.fingerprint.driver = "580.95";
  EXPECT_EQ(JudgeWorkarounds(cell, {{"x", "driver>=580.100"}}).size(), 0u);
  EXPECT_EQ(JudgeWorkarounds(cell, {{"x", "driver>=580.82"}}).at(0).kind, "workaround");
}

TEST(Workaround, ThatCanGoTurnsAGreenVerdictYellowAndIsInItsHeadline) {
  record::RunRecord run = testing::ExampleRun();
  run.cells[0].fingerprint.versions["aiter"] = "0.1.20";
  Policy policy;
  policy.workarounds = kAiter;
  CellPolicy cell{run.cells[0].key, policy, {"store", testing::ExampleBaseline({1, 1.002, 0.998})}};
  record::Verdict verdict = Judge(run, {cell});
  EXPECT_EQ(verdict.exit_code, 0);
  EXPECT_TRUE(record::NeedsAttention(verdict));
  EXPECT_THAT(verdict.headline, HasSubstr("PASS: "));
  EXPECT_THAT(verdict.headline, HasSubstr("; 1 workaround can go"));

  run.cells[0].fingerprint.versions["aiter"] = "0.1.19";
  verdict = Judge(run, {cell});
  EXPECT_FALSE(record::NeedsAttention(verdict));
  EXPECT_THAT(verdict.headline, ::testing::Not(HasSubstr("workaround")));
}

}  // namespace
}  // namespace assay::gate
