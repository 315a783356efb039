#include "runner/config/reference.h"

#include "base/text.h"
#include "runner/config/config_file.h"
#include "runner/config/gpu_profiles.h"
#include "runner/config/perf_eval.h"
#include "runner/config/vllm_eval.h"

namespace assay::runner {
namespace {

void AddWithInner(const SectionInfo& section, std::vector<SectionInfo>& all) {
  all.push_back(section);
  for (const KeyInfo& key : section.keys) {
    if (key.section) AddWithInner(*key.section, all);
  }
}

std::string Cell(std::string text) {
  return ReplaceAll(std::move(text), "|", "\\|");
}

std::string Default(const KeyInfo& key) {
  if (key.required) return "required";
  if (key.section || key.default_value.is_null() || key.default_value.empty()) return "";
  return fmt::format("`{}`", key.default_value.is_string() ? key.default_value.get<std::string>()
                                                           : key.default_value.dump());
}

Json SectionSchema(const SectionInfo& section, bool partial);

Json KeySchema(const KeyInfo& key, bool partial) {
  Json schema = key.schema;
  if (key.section) {
    const bool is_list = schema.value("type", Json()) == "array";
    (is_list ? schema["items"] : schema) = SectionSchema(*key.section, partial && !is_list);
  }
  schema["description"] = key.meaning;
  if (!key.section && !key.default_value.is_null()) schema["default"] = key.default_value;
  return schema;
}

// `partial`: the rest comes from the file that is extended. Items of a list are always whole.
Json SectionSchema(const SectionInfo& section, bool partial) {
  Json schema = {{"type", "object"}, {"additionalProperties", false}};
  Json required = Json::array();
  for (const KeyInfo& key : section.keys) {
    schema["properties"][key.name] = KeySchema(key, partial);
    if (key.required && !partial) required.push_back(key.name);
  }
  if (!required.empty()) schema["required"] = std::move(required);
  return schema;
}

Json When(Json condition, const char* definition, Json otherwise) {
  return {{"if", std::move(condition)},
          {"then", {{"$ref", std::string("#/$defs/") + definition}}},
          {"else", std::move(otherwise)}};
}

Json SchemaIs(const char* name) {
  return {{"properties", {{"schema", {{"const", name}}}}}, {"required", Json::array({"schema"})}};
}

}  // namespace

const std::vector<SectionInfo>& ConfigSections() {
  static const std::vector<SectionInfo> sections = [] {
    std::vector<SectionInfo> all;
    AddWithInner(ConfigSection().Info(), all);
    AddWithInner(SuiteSection().Info(), all);
    return all;
  }();
  return sections;
}

const std::vector<SectionInfo>& SectionsOfOthers() {
  static const std::vector<SectionInfo> sections = [] {
    std::vector<SectionInfo> all;
    AddWithInner(VllmEvalSection().Info(), all);
    AddWithInner(PerfEvalSection().Info(), all);
    AddWithInner(GpuProfileSection().Info(), all);
    return all;
  }();
  return sections;
}

bool IsOfOthers(const SectionInfo& section) {
  return StartsWith(section.path, "vllm-eval") || StartsWith(section.path, "perf-eval");
}

std::string ReferenceTable(const SectionInfo& section) {
  std::string table = "| key | type | default | meaning | example |\n|---|---|---|---|---|\n";
  for (const KeyInfo& key : section.keys) {
    table += fmt::format("| `{}` | {} | {} | {} | `{}: {}` |\n", key.name, Cell(key.type), Cell(Default(key)),
                         Cell(key.meaning), key.name, Cell(key.example));
  }
  return table;
}

std::string ConfigJsonSchema() {
  const Json extends = {{"required", Json::array({"extends"})}};
  Json schema = {
      {"$schema", "https://json-schema.org/draft/2020-12/schema"},
      {"title", "assay config, base or suite"},
      {"$comment", "Written from the key tables in runner/config; docs/configs.md is the reference."}};
  schema.update(When(SchemaIs(kSuiteSchema), "suite",
                     When({{"anyOf", Json::array({SchemaIs(kBaseSchema), extends})}}, "partial_config",
                          {{"$ref", "#/$defs/config"}})));
  schema["$defs"]["config"] = SectionSchema(ConfigSection().Info(), false);
  schema["$defs"]["partial_config"] = SectionSchema(ConfigSection().Info(), true);
  schema["$defs"]["suite"] = SectionSchema(SuiteSection().Info(), false);
  return schema.dump(2) + "\n";
}

}  // namespace assay::runner
