// The results JSON of lm-evaluation-harness: results.<task>."<metric>,<filter>", n-samples.<task>.effective.
#include <fmt/format.h>

#include "base/text.h"
#include "runner/import/import.h"
#include "runner/import/json_value.h"

namespace assay::runner {
namespace {

using nlohmann::json;

// Metrics of a task that are a share of right answers.
std::vector<std::string> Scores(const json& task) {
  std::vector<std::string> names;
  for (const auto& [key, value] : task.items()) {
    if (!value.is_number() || key.find("_stderr") != std::string::npos) continue;
    if (StartsWith(key, "acc") || StartsWith(key, "exact_match")) names.push_back(key);
  }
  return names;
}

Result<std::string> ChooseMetric(const ImportSource& source, const std::string& task, const json& results,
                                 const std::string& wanted) {
  const std::vector<std::string> names = Scores(results);
  if (!wanted.empty()) {
    if (results.contains(wanted) && results[wanted].is_number()) return wanted;
    return Fail(ErrorKind::kUsage, "{}: {} has no metric {}; it has {}", source.name, task, wanted,
                Join(names, ", "));
  }
  if (names.size() == 1) return names.front();
  if (names.empty()) {
    return Fail(ErrorKind::kUsage, "{}: {} has no score (acc or exact_match)", source.name, task);
  }
  return Fail(ErrorKind::kUsage, "{}: {} has several scores; choose with --metric: {}", source.name, task,
              Join(names, " | "));
}

}  // namespace

bool IsLmEval(const ImportSource& source) {
  return source.json.is_object() && source.json.contains("results") && source.json["results"].is_object() &&
         (source.json.contains("n-samples") || source.json.contains("lm_eval_version") ||
          source.json.contains("configs"));
}

Result<std::vector<record::CellRecord>> ReadLmEval(const ImportSource& source, const ImportOptions& options) {
  if (!source.json.is_object() || !source.json.contains("results") || !source.json["results"].is_object()) {
    return Fail(ErrorKind::kUsage, "{}: results is missing", source.name);
  }
  std::vector<record::CellRecord> cells;
  const json& results = source.json["results"];
  const json counts = source.json.value("n-samples", json::object());
  for (const auto& [task, values] : results.items()) {
    if (!values.is_object())
      return Fail(ErrorKind::kUsage, "{}: results.{}: not an object", source.name, task);
    ASSIGN_OR_RETURN(const std::string metric, ChooseMetric(source, task, values, options.metric));
    std::optional<double> samples;
    if (counts.is_object() && counts.contains(task) && counts[task].is_object()) {
      ASSIGN_OR_RETURN(samples, NumberAt(counts[task], "effective", source.name));
    }
    if (options.samples) samples = static_cast<double>(*options.samples);
    if (!samples || *samples < 1) {
      return Fail(ErrorKind::kUsage, "{}: n-samples.{}.effective is missing; pass --samples N", source.name,
                  task);
    }
    const double score = values[metric].get<double>();
    if (!(score >= 0 && score <= 1)) {
      return Fail(ErrorKind::kUsage, "{}: {} {}: expected 0 to 1", source.name, metric,
                  values[metric].dump());
    }
    record::CellRecord cell;
    cell.key = results.size() == 1 ? options.cell : options.cell + "." + task;
    record::AccuracyRecord accuracy;
    accuracy.eval = task;
    accuracy.source = "lm-eval";
    accuracy.grader = metric;
    accuracy.questions = static_cast<int64_t>(*samples);
    accuracy.stated = record::StatedScore{fmt::format("{:.10f}", score), accuracy.questions};
    accuracy.complete = true;
    cell.accuracy = std::move(accuracy);
    cell.server.model_id = StringAt(source.json, "model_name");
    cells.push_back(std::move(cell));
  }
  if (cells.empty()) return Fail(ErrorKind::kUsage, "{}: results is empty", source.name);
  return cells;
}

}  // namespace assay::runner
