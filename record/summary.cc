#include <cmath>
#include <cstdlib>
#include <string_view>

#include "record/run_record.h"

namespace assay::record {
namespace {

bool IsLetter(std::string_view answer) {
  return answer.size() == 1 && answer[0] >= 'A' && answer[0] <= 'D';
}

}  // namespace

AccuracyCounts Count(const AccuracyRecord& accuracy) {
  AccuracyCounts counts;
  if (accuracy.stated) {
    counts.samples = accuracy.stated->samples;
    counts.correct = std::llround(std::strtod(accuracy.stated->score.c_str(), nullptr) *
                                  static_cast<double>(counts.samples));
    return counts;
  }
  for (const QuestionSample& sample : accuracy.samples) {
    ++counts.samples;
    if (!sample.error.empty()) {
      ++counts.failed;
      continue;
    }
    counts.correct += sample.correct;
    counts.truncated += sample.finish_reason == "length";
    counts.unparsed += !IsLetter(accuracy.grader == "compat" ? sample.compat : sample.strict);
  }
  return counts;
}

std::vector<Metric> AllMetrics(const CellRecord& cell) {
  std::vector<Metric> metrics;
  if (cell.accuracy) {
    const AccuracyCounts counts = Count(*cell.accuracy);
    Metric score;
    score.name = cell.accuracy->eval + "_score";
    score.samples = counts.samples;
    if (counts.samples > 0) {
      score.value = static_cast<double>(counts.correct) / static_cast<double>(counts.samples);
    }
    metrics.push_back(score);
  }
  for (const ServingRecord& serving : cell.serving) {
    for (Metric metric : serving.metrics) {
      metric.name = serving.name + "." + metric.name;
      metrics.push_back(metric);
    }
  }
  return metrics;
}

}  // namespace assay::record
