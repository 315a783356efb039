#include "reports/json.h"

#include <cmath>

#include "record/accuracy_summary.h"
#include "record/json_text.h"

namespace assay::reports {
namespace {

// Finer than anyone reads, coarse enough not to depend on the compiler.
double Rounded(double share) {
  return std::round(share * 1e9) / 1e9;
}

nlohmann::json SummaryJson(const record::AccuracyRecord& accuracy) {
  const record::AccuracySummary summary = Summarize(accuracy);
  nlohmann::json object = {
      {"samples", summary.counts.samples},       {"correct", summary.counts.correct},
      {"unparsed", summary.counts.unparsed},     {"truncated", summary.counts.truncated},
      {"failed", summary.counts.failed},         {"strict_correct", summary.strict_correct},
      {"compat_correct", summary.compat_correct}};
  if (summary.wilson) object["wilson_95"] = {Rounded(summary.wilson->low), Rounded(summary.wilson->high)};
  if (summary.rerun_se) object["rerun_se"] = Rounded(*summary.rerun_se);
  if (summary.icc) object["icc"] = Rounded(*summary.icc);
  if (summary.effective_samples) object["effective_samples"] = Rounded(*summary.effective_samples);
  if (summary.question_se) object["question_se"] = Rounded(*summary.question_se);
  for (const record::DomainScore& domain : summary.domains)
    object["domains"][domain.domain] = {{"samples", domain.samples}, {"correct", domain.correct}};
  return object;
}

}  // namespace

std::string RenderJson(const ReportInput& input) {
  const record::RunRecord& record = input.record;
  nlohmann::json run = ToJson(record);
  for (size_t i = 0; i < record.cells.size(); ++i) {
    nlohmann::json& cell = run["cells"][i];
    if (cell.contains("accuracy")) {
      cell["accuracy"].erase("samples");
      if (!record.cells[i].accuracy->stated)
        cell["accuracy"]["summary"] = SummaryJson(*record.cells[i].accuracy);
    }
    if (!cell.contains("serving")) continue;
    for (nlohmann::json& serving : cell["serving"]) serving.erase("requests");
  }
  nlohmann::json document = ToJson(input.verdict);
  document["run"] = std::move(run);
  return record::JsonText(document);
}

}  // namespace assay::reports
