// The result JSON of gpt_oss.evals and simple-evals: an object of metrics with the score among them, or the
// list that the program prints last. Neither says of how many samples.
#include <fmt/format.h>

#include "runner/import/import.h"
#include "runner/import/json_value.h"

namespace assay::runner {
namespace {

using nlohmann::json;

// {"score": ...}, or {"eval_name": "gpqa", "model_name": ..., "metric": 0.57} in a list of one.
const json* ScoreOf(const json& file) {
  const json& object = file.is_array() && file.size() == 1 ? file[0] : file;
  if (!object.is_object()) return nullptr;
  for (const char* key : {"score", "metric"}) {
    if (object.contains(key) && object[key].is_number()) return &object[key];
  }
  return nullptr;
}

}  // namespace

bool IsGptOssEval(const ImportSource& source) {
  const json& file = source.json;
  const bool listed =
      file.is_array() && file.size() == 1 && file[0].is_object() && file[0].contains("metric");
  return ScoreOf(file) != nullptr && (listed || file.contains("score:std") || file.contains("chars"));
}

Result<std::vector<record::CellRecord>> ReadGptOssEval(const ImportSource& source,
                                                       const ImportOptions& options) {
  const json* score = ScoreOf(source.json);
  if (!score) return Fail(ErrorKind::kUsage, "{}: no score in it", source.name);
  const double value = score->get<double>();
  if (!(value >= 0 && value <= 1)) {
    return Fail(ErrorKind::kUsage, "{}: score {}: expected 0 to 1", source.name, score->dump());
  }
  if (!options.samples) {
    return Fail(
        ErrorKind::kUsage,
        "{}: the file does not say how many samples are behind its score; pass --samples N (198 questions "
        "eight times are 1584)",
        source.name);
  }
  record::CellRecord cell;
  cell.key = options.cell;
  record::AccuracyRecord accuracy;
  accuracy.source = "gpt-oss";
  accuracy.grader = "compat";
  accuracy.stated = record::StatedScore{fmt::format("{:.10f}", value), *options.samples};
  accuracy.complete = true;
  accuracy.questions = *options.samples;
  cell.accuracy = std::move(accuracy);
  return std::vector<record::CellRecord>{std::move(cell)};
}

}  // namespace assay::runner
