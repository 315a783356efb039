#include "record/json_text.h"
#include "record/run_record.h"
#include "record/struct_json.h"

namespace assay::record {

nlohmann::json ToJson(const QuestionSample& sample) {
  return WriteValue(sample, kFullPrecision);
}

nlohmann::json ToJson(const RequestTiming& request) {
  return WriteValue(request, kFullPrecision);
}

Result<QuestionSample> ParseQuestionSample(const nlohmann::json& json) {
  QuestionSample sample;
  RETURN_IF_ERROR(ReadValue(json, JsonPath{}, sample));
  return sample;
}

nlohmann::json ToJson(const RunRecord& record) {
  return WriteValue(record, kFullPrecision);
}

Result<RunRecord> ParseRunRecord(std::string_view text, std::string_view source) {
  ASSIGN_OR_RETURN(const Json json, ParseJsonText(text, source));
  RETURN_IF_ERROR(CheckSchema(json, kRecordSchema, source));
  RunRecord record;
  if (Status status = ReadValue(json, JsonPath{}, record); !status) {
    return FailWithin(source, std::move(status).error());
  }
  if (record.ab && record.ab->runs.size() != record.cells.size()) {
    return Fail(ErrorKind::kUsage, "{}: ab.runs: says of {} runs which arm they are, and there are {}",
                source, record.ab->runs.size(), record.cells.size());
  }
  return record;
}

Result<RunRecord> LoadRunRecord(const Path& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseRunRecord(text, path.string());
}

Status SaveRunRecord(const RunRecord& record, const Path& path) {
  return WriteFileAtomic(path, JsonText(ToJson(record)));
}

}  // namespace assay::record
