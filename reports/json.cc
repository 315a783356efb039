#include "reports/json.h"

#include "record/json_text.h"

namespace assay::reports {

std::string RenderJson(const record::RunRecord& record, const record::Verdict& verdict) {
  nlohmann::json run = ToJson(record);
  for (nlohmann::json& cell : run["cells"]) {
    if (cell.contains("accuracy")) cell["accuracy"].erase("samples");
    if (!cell.contains("serving")) continue;
    for (nlohmann::json& serving : cell["serving"]) serving.erase("requests");
  }
  nlohmann::json document = ToJson(verdict);
  document["run"] = std::move(run);
  return record::JsonText(document);
}

}  // namespace assay::reports
