#include "runner/ab/interleave.h"

#include <gtest/gtest.h>

#include "record/arms.h"
#include "testing/fake_clock.h"

namespace assay::runner {
namespace {

using record::Outcome;

// Runs of ten seconds each, and a gate that says what the test wants.
class InterleaveTest : public ::testing::Test {
 protected:
  InterleaveTest() {
    record_.ab.emplace();
    record_.ab->base.name = "base";
    record_.ab->head.name = "head";
    hooks_.measure = [this](int64_t pair, bool head) -> Result<record::CellRecord> {
      clock_.Advance(std::chrono::seconds(10));
      record::CellRecord cell;
      cell.key = record::RunKey("cell", pair, head ? "head" : "base");
      if (cell.key == failing_) cell.server.failure.emplace();
      if (cell.key == interrupting_) interrupted_ = true;
      if (cell.key == impossible_) return Fail(ErrorKind::kInfrastructure, "no more disk");
      return cell;
    };
    hooks_.judge = [this](const record::RunRecord& record) {
      record::Verdict verdict;
      verdict.checks.emplace_back().outcome = verdict.outcome =
          static_cast<int64_t>(record.cells.size()) / 2 >= decided_after_ ? decision_
                                                                          : Outcome::kInconclusive;
      return verdict;
    };
    hooks_.keep = [this](const record::RunRecord&) {
      ++kept_;
      return Status{};
    };
  }

  Status Run() { return Interleave(plan_, hooks_, clock_, interrupted_, record_); }
  std::string Order() const {
    std::string order;
    for (const record::ArmRun& run : record_.ab->runs) order += run.arm == "head" ? 'h' : 'b';
    return order;
  }

  InterleavePlan plan_{.first_look = 4, .most = 6, .head_first = false, .deadline = std::nullopt};
  InterleaveHooks hooks_;
  testing::FakeClock clock_;
  std::atomic<bool> interrupted_{false};
  record::RunRecord record_;
  int64_t decided_after_ = 1000;
  Outcome decision_ = Outcome::kPass;
  std::string failing_, interrupting_, impossible_;
  int kept_ = 0;
};

TEST_F(InterleaveTest, TurnsTheOrderAroundInEachPair) {
  ASSERT_TRUE(Run());
  EXPECT_EQ(Order(), "bhhbbhhbbhhb");
  EXPECT_EQ(record_.ab->ended, "pairs");
  EXPECT_EQ(kept_, 12);
  EXPECT_EQ(record_.cells[2].key, "cell.2-head");
}

TEST_F(InterleaveTest, MayBeginWithHead) {
  plan_.head_first = true;
  ASSERT_TRUE(Run());
  EXPECT_EQ(Order(), "hbbhhbbhhbbh");
}

TEST_F(InterleaveTest, EndsAtTheLookThatDecides) {
  decided_after_ = 5;
  ASSERT_TRUE(Run());
  EXPECT_EQ(Order().size(), 10u);
  EXPECT_EQ(record_.ab->ended, "decided");
}

TEST_F(InterleaveTest, PassesNothingBeforeTheFirstLookAndEndsAtOnceWhereAMeasurementIsBroken) {
  decided_after_ = 1;
  ASSERT_TRUE(Run());
  EXPECT_EQ(Order().size(), 8u);
  record_.cells.clear();
  record_.ab->runs.clear();
  decision_ = Outcome::kInvalid;
  ASSERT_TRUE(Run());
  EXPECT_EQ(Order(), "bh");
}

TEST_F(InterleaveTest, BeginsNoPairThatWouldOutlastTheBudget) {
  plan_.deadline = clock_.Now() + std::chrono::seconds(65);  // three pairs of 20 s, not four
  ASSERT_TRUE(Run());
  EXPECT_EQ(Order().size(), 6u);
  EXPECT_EQ(record_.ab->ended, "budget");
}

TEST_F(InterleaveTest, MeasuresOnePairWhateverTheBudget) {
  plan_.deadline = clock_.Now() + std::chrono::seconds(1);
  ASSERT_TRUE(Run());
  EXPECT_EQ(Order(), "bh");
}

TEST_F(InterleaveTest, EndsWithTheServerThatFails) {
  failing_ = "cell.2-head";
  ASSERT_TRUE(Run());
  EXPECT_EQ(Order(), "bhh");
  EXPECT_EQ(record_.ab->ended, "decided");
}

TEST_F(InterleaveTest, KeepsTheRunDuringWhichTheUserInterrupts) {
  interrupting_ = "cell.3-base";
  ASSERT_TRUE(Run());
  EXPECT_EQ(Order(), "bhhbb");
  EXPECT_EQ(kept_, 5);
  EXPECT_EQ(record_.ab->ended, "");
}

TEST_F(InterleaveTest, PassesOnWhatKeepsItFromMeasuring) {
  impossible_ = "cell.1-head";
  const Status status = Run();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "no more disk");
  EXPECT_EQ(Order(), "b");
}

}  // namespace
}  // namespace assay::runner
