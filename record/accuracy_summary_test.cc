#include "record/accuracy_summary.h"

#include <gtest/gtest.h>

namespace assay::record {
namespace {

// Ten questions of four repeats with these shares right; every third question is of another domain.
AccuracyRecord TenQuestions() {
  AccuracyRecord accuracy;
  accuracy.repeats = 4;
  accuracy.questions = 10;
  accuracy.grader = "strict";
  accuracy.complete = true;
  const int right[] = {4, 4, 3, 2, 1, 0, 0, 4, 2, 3};
  for (int repeat = 0; repeat < 4; ++repeat) {
    for (int i = 0; i < 10; ++i) {
      QuestionSample sample;
      sample.id = "rec" + std::to_string(i);
      sample.repeat = repeat;
      sample.domain = i % 3 == 0 ? "Physics" : "Biology";
      sample.expected = "A";
      sample.correct = repeat < right[i];
      sample.strict = sample.correct ? "A" : "B";
      sample.compat = "A";
      accuracy.samples.push_back(sample);
    }
  }
  return accuracy;
}

TEST(Summarize, GivesBothStandardErrorsAndBothScores) {
  const AccuracySummary summary = Summarize(TenQuestions());
  EXPECT_EQ(summary.counts.correct, 23);  // 0.575
  EXPECT_EQ(summary.strict_correct, 23);
  EXPECT_EQ(summary.compat_correct, 40);
  EXPECT_NEAR(summary.question_se.value_or(0), 0.123884, 1e-6);
  EXPECT_NEAR(summary.rerun_se.value_or(0), 0.059512, 1e-6);
  EXPECT_NEAR(summary.icc.value_or(0), 0.454545, 1e-6);
  EXPECT_NEAR(summary.effective_samples.value_or(0), 40 / 2.363636, 1e-4);
  ASSERT_TRUE(summary.wilson);
  EXPECT_LT(summary.wilson->low, 0.575);
  ASSERT_EQ(summary.domains.size(), 2u);
  EXPECT_EQ(summary.domains[0].domain, "Biology");
  EXPECT_EQ(summary.domains[0].samples, 24);
  EXPECT_EQ(summary.domains[1].correct, 4 + 2 + 0 + 3);
}

TEST(Summarize, AFailedSampleIsRightByNoGrader) {
  AccuracyRecord accuracy = TenQuestions();
  for (QuestionSample& sample : accuracy.samples) {
    sample.error = "HTTP 500";
    sample.correct = false;
  }
  const AccuracySummary summary = Summarize(accuracy);
  EXPECT_EQ(summary.compat_correct, 0);
  EXPECT_EQ(summary.counts.failed, 40);
}

TEST(Summarize, HasNoStandardErrorOfAPartOrOfOneRepeat) {
  AccuracyRecord accuracy = TenQuestions();
  accuracy.samples.resize(25);
  EXPECT_FALSE(Summarize(accuracy).question_se);
  accuracy.samples.resize(10);
  accuracy.repeats = 1;
  EXPECT_TRUE(Summarize(accuracy).question_se);
  EXPECT_FALSE(Summarize(accuracy).rerun_se);
  accuracy.samples.clear();
  EXPECT_FALSE(Summarize(accuracy).wilson);
}

}  // namespace
}  // namespace assay::record
