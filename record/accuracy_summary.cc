#include "record/accuracy_summary.h"

#include <algorithm>
#include <map>

namespace assay::record {

AccuracySummary Summarize(const AccuracyRecord& accuracy) {
  AccuracySummary summary;
  summary.counts = Count(accuracy);
  std::map<std::string, int> correct_of;  // by question
  std::map<std::string, DomainScore> domains;
  for (const QuestionSample& sample : accuracy.samples) {
    const bool answered = sample.error.empty();
    summary.strict_correct += answered && sample.strict == sample.expected;
    summary.compat_correct += answered && sample.compat == sample.expected;
    correct_of[sample.id] += sample.correct;
    DomainScore& domain = domains[sample.domain];
    ++domain.samples;
    domain.correct += sample.correct;
  }
  for (auto& [name, domain] : domains) {
    domain.domain = name;
    summary.domains.push_back(std::move(domain));
  }
  const auto n = static_cast<double>(summary.counts.samples);
  if (n > 0) summary.wilson = WilsonInterval(static_cast<double>(summary.counts.correct), n, 0.95);

  const bool whole =
      accuracy.complete &&
      accuracy.samples.size() == correct_of.size() * static_cast<size_t>(std::max(1, accuracy.repeats));
  if (!whole || correct_of.size() < 2) return summary;
  std::vector<double> shares;
  for (const auto& [id, correct] : correct_of)
    shares.push_back(static_cast<double>(correct) / accuracy.repeats);
  summary.question_se = QuestionStandardError(shares);
  if (accuracy.repeats < 2) return summary;
  summary.rerun_se = RerunStandardError(shares, accuracy.repeats);
  summary.icc = IntraclassCorrelation(shares, accuracy.repeats);
  if (summary.icc)
    summary.effective_samples = n / DesignEffect(std::max(0.0, *summary.icc), accuracy.repeats);
  return summary;
}

}  // namespace assay::record
