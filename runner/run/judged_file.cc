#include "runner/run/judged_file.h"

#include <type_traits>

#include "record/json_text.h"
#include "record/struct_json.h"
#include "runner/store/entry.h"

namespace assay::runner {
namespace {

using record::Json;

constexpr char kSchema[] = "assay/judged/1";

// As in verdict.json, which rounds; here every number is whole.
Json WholeCheck(const record::Check& check) {
  Json json = record::WriteValue(check, record::kFullPrecision);
  const auto write = [&](const auto& field) {
    const auto& value = check.*(field.member);
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::optional<double>>) {
      if (value) json[field.name] = record::WriteNumber(*value, record::kFullPrecision);
    }
  };
  std::apply([&](const auto&... field) { (write(field), ...); }, record::kFields<record::Check>);
  return json;
}

Json ToJson(const gate::JudgedCell& cell) {
  Json checks = Json::array(), acknowledgements = Json::array();
  for (const record::Check& check : cell.verdict.checks) checks.push_back(WholeCheck(check));
  for (const gate::Acknowledgement& each : cell.acknowledgements)
    acknowledgements.push_back(Json::parse(AcknowledgementText(each)));
  return {{"key", cell.key},
          {"strict", cell.strict},
          {"today", cell.today},
          {"missing_baseline", cell.verdict.missing_baseline},
          {"acknowledgements", std::move(acknowledgements)},
          {"notes", record::WriteValue(cell.verdict.notes, record::kFullPrecision)},
          {"environment", record::WriteValue(cell.verdict.environment, record::kFullPrecision)},
          {"checks", std::move(checks)}};
}

// A member that has to be there, read into `out`; the path names it in the error.
template <typename T>
Status Read(const Json& json, const char* key, const record::JsonPath& path, T& out) {
  const record::JsonPath here{&path, key};
  const auto found = json.find(key);
  if (found == json.end()) return Fail(ErrorKind::kUsage, "{}: is missing", here.Text());
  return record::ReadValue(*found, here, out);
}

Result<gate::JudgedCell> ParseCell(const Json& json, const record::JsonPath& path) {
  if (!json.is_object()) return record::NotA("an object", json, path);
  gate::JudgedCell cell;
  RETURN_IF_ERROR(Read(json, "key", path, cell.key));
  RETURN_IF_ERROR(Read(json, "strict", path, cell.strict));
  RETURN_IF_ERROR(Read(json, "today", path, cell.today));
  RETURN_IF_ERROR(Read(json, "missing_baseline", path, cell.verdict.missing_baseline));
  RETURN_IF_ERROR(Read(json, "notes", path, cell.verdict.notes));
  RETURN_IF_ERROR(Read(json, "environment", path, cell.verdict.environment));
  RETURN_IF_ERROR(Read(json, "checks", path, cell.verdict.checks));
  for (const Json& each : json.value("acknowledgements", Json::array())) {
    ASSIGN_OR_RETURN(gate::Acknowledgement read, ParseAcknowledgement(each.dump(), path.Text()));
    cell.acknowledgements.push_back(std::move(read));
  }
  return cell;
}

Result<JudgedRun> Parse(const Json& json) {
  const record::JsonPath root;
  std::string schema;
  JudgedRun run;
  if (!json.is_object()) return record::NotA("an object", json, root);
  RETURN_IF_ERROR(Read(json, "schema", root, schema));
  if (schema != kSchema)
    return Fail(ErrorKind::kUsage, "schema: this assay reads {}, the file says {}", kSchema, schema);
  RETURN_IF_ERROR(Read(json, "base_name", root, run.base_name));
  const auto cells = json.find("cells");
  if (cells == json.end() || !cells->is_array()) return Fail(ErrorKind::kUsage, "cells: is missing");
  const record::JsonPath path{&root, "cells"};
  for (size_t i = 0; i < cells->size(); ++i) {
    ASSIGN_OR_RETURN(gate::JudgedCell cell, ParseCell((*cells)[i], record::JsonPath{&path, {}, i}));
    run.cells.push_back(std::move(cell));
  }
  return run;
}

}  // namespace

Status SaveJudgedRun(const JudgedRun& run, const Path& file) {
  Json cells = Json::array();
  for (const gate::JudgedCell& cell : run.cells) cells.push_back(ToJson(cell));
  const Json json = {{"schema", kSchema}, {"base_name", run.base_name}, {"cells", std::move(cells)}};
  return WriteFileAtomic(file, record::JsonText(json));
}

Result<JudgedRun> LoadJudgedRun(const Path& file) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  ASSIGN_OR_RETURN(const Json json, record::ParseJsonText(text, file.string()));
  Result<JudgedRun> run = Parse(json);
  if (!run) return FailWithin(file.string(), std::move(run).error());
  return run;
}

}  // namespace assay::runner
