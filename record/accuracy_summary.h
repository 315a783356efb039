#pragma once

#include <optional>
#include <string>
#include <vector>

#include "record/run_record.h"
#include "record/score.h"

namespace assay::record {

struct DomainScore {
  std::string domain;
  int64_t samples = 0, correct = 0;
};

// What is said of one accuracy eval beside its score. Failed samples count as not right everywhere.
struct AccuracySummary {
  AccuracyCounts counts;
  int64_t strict_correct = 0, compat_correct = 0;  // of the same answers
  std::optional<Interval> wilson;     // 95 %, samples taken for independent; none without samples
  std::optional<double> rerun_se;     // these questions asked again; needs all of two repeats or more
  std::optional<double> question_se;  // other questions like these; needs all samples of two questions
  // How alike repeats of a question are, and as how many independent samples all of them weigh.
  std::optional<double> icc, effective_samples;
  std::vector<DomainScore> domains;  // by name
};
AccuracySummary Summarize(const AccuracyRecord& accuracy);

}  // namespace assay::record
