#include "reports/verdict_schema.h"

#include <algorithm>

#include "record/struct_schema.h"

namespace assay::reports {
namespace {

using record::Json;

// verdict.json has the run without its samples and requests.
void Remove(Json& object, const std::string& field) {
  object["properties"].erase(field);
  Json kept = Json::array();
  for (const Json& name : object["required"]) {
    if (name != field) kept.push_back(name);
  }
  object["required"] = kept;
}

Json SummarySchema() {
  const Json count = {{"type", "integer"}, {"minimum", 0}};
  const Json number = {{"type", "number"}};
  const Json domain = {{"type", "object"},
                       {"properties", {{"samples", count}, {"correct", count}}},
                       {"required", {"samples", "correct"}}};
  Json properties = {{"wilson_95", {{"type", "array"}, {"items", number}, {"minItems", 2}, {"maxItems", 2}}},
                     {"rerun_se", number},
                     {"icc", number},
                     {"effective_samples", number},
                     {"question_se", number},
                     {"domains", {{"type", "object"}, {"additionalProperties", domain}}}};
  Json required = Json::array();
  for (const char* name :
       {"samples", "correct", "unparsed", "truncated", "failed", "strict_correct", "compat_correct"}) {
    properties[name] = count;
    required.push_back(name);
  }
  return {{"type", "object"}, {"properties", properties}, {"required", required}};
}

}  // namespace

std::string VerdictSchema() {
  Json run = record::MakeSchema<record::RunRecord>();
  Json& cell = run["properties"]["cells"]["items"]["properties"];
  Remove(cell["accuracy"], "samples");
  cell["accuracy"]["properties"]["summary"] = SummarySchema();
  Remove(cell["serving"]["items"], "requests");

  Json schema = record::MakeSchema<record::Verdict>();
  schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  schema["title"] = "assay verdict: what was concluded of a run, with the run but without its samples";
  schema["properties"]["schema"] = {{"const", record::kVerdictSchema}};
  schema["properties"]["run"] = run;
  schema["required"].push_back("run");
  return schema.dump(1) + "\n";
}

}  // namespace assay::reports
