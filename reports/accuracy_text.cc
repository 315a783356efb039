#include "reports/accuracy_text.h"

#include <fmt/format.h>

#include "base/text.h"
#include "record/accuracy_summary.h"

namespace assay::reports {
namespace {

using record::AccuracyRecord;
using record::AccuracySummary;

std::string Share(int64_t correct, int64_t samples) {
  return fmt::format("{:.4f} ({}/{})", static_cast<double>(correct) / static_cast<double>(samples), correct,
                     samples);
}

std::string ScoreLine(const Say& say, const AccuracyRecord& accuracy, const AccuracySummary& summary) {
  const record::AccuracyCounts& counts = summary.counts;
  return say(
      "{} of {} samples right ({} questions x {}), {} without a readable letter, {} cut at {} tokens, {} "
      "failed",
      counts.correct, counts.samples, accuracy.questions, accuracy.repeats, counts.unparsed, counts.truncated,
      accuracy.max_tokens, counts.failed);
}

std::string SpreadLine(const Say& say, const AccuracySummary& summary) {
  std::string line = say("Wilson 95 % {:.4f} to {:.4f}", summary.wilson->low, summary.wilson->high);
  if (summary.rerun_se)
    line += say("; standard error {:.4f} of a rerun of these questions", *summary.rerun_se);
  if (summary.question_se)
    line += say("; standard error {:.4f} over other questions like these", *summary.question_se);
  if (summary.icc)
    line +=
        say("; repeats of a question agree with an intraclass correlation of {:.2f}, so all samples weigh as "
            "{:.0f} "
            "independent ones",
            *summary.icc, *summary.effective_samples);
  return line;
}

std::string DomainLine(const Say& say, const AccuracySummary& summary) {
  std::vector<std::string> parts;
  for (const record::DomainScore& domain : summary.domains) {
    parts.push_back((domain.domain.empty() ? say("no domain") : domain.domain) + " " +
                    Share(domain.correct, domain.samples));
  }
  return say("by domain: {}", Join(parts, ", "));
}

std::string GraderLine(const Say& say, const AccuracyRecord& accuracy, const AccuracySummary& summary) {
  return say("same answers, strict {}, compat {}; {} decides",
             Share(summary.strict_correct, summary.counts.samples),
             Share(summary.compat_correct, summary.counts.samples), accuracy.grader);
}

std::string HowLine(const Say& say, const AccuracyRecord& accuracy) {
  return say("{}, prompt {}, {} API, reasoning effort {}, temperature {}, {:.0f} s", accuracy.dataset,
             accuracy.prompt_template, accuracy.api.empty() ? "chat" : accuracy.api,
             accuracy.reasoning_effort, accuracy.temperature, accuracy.duration_s);
}

std::string SavingLine(const Say& say, const AccuracyRecord& accuracy) {
  const int64_t planned = accuracy.questions * accuracy.repeats;
  const int64_t sent = accuracy.sequential->sent;
  return say("ended early: {} of {} samples decided, {} were sent, {:.0f} % saved", accuracy.samples.size(),
             planned, sent, 100 * (1 - static_cast<double>(sent) / static_cast<double>(planned)));
}

}  // namespace

std::vector<std::string> AccuracyLines(const Say& say, const AccuracyRecord& accuracy) {
  const AccuracySummary summary = Summarize(accuracy);
  if (accuracy.stated) {
    return {say("{} of {} samples right, as {} states; its samples are not known", summary.counts.correct,
                summary.counts.samples, accuracy.source)};
  }
  const bool stopped = accuracy.sequential && accuracy.sequential->stopped;
  if (!accuracy.complete && !stopped) {
    return {say("{} of {} planned samples were answered, which makes no score", summary.counts.samples,
                accuracy.questions * accuracy.repeats)};
  }
  if (summary.counts.samples == 0) return {say("no sample was asked")};
  std::vector<std::string> lines = {ScoreLine(say, accuracy, summary)};
  if (stopped) lines.push_back(SavingLine(say, accuracy));
  lines.push_back(SpreadLine(say, summary));
  lines.push_back(GraderLine(say, accuracy, summary));
  if (summary.domains.size() > 1) lines.push_back(DomainLine(say, summary));
  lines.push_back(HowLine(say, accuracy));
  return lines;
}

}  // namespace assay::reports
