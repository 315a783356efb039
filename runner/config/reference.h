#pragma once

#include <string>
#include <vector>

#include "runner/config/keys.h"

// The key tables as documents. Tests compare docs/configs.md and configs/schema.json with these.
namespace assay::runner {

// Every section of configs and suites, outer before inner.
const std::vector<SectionInfo>& ConfigSections();
// The same of files that other projects wrote.
const std::vector<SectionInfo>& SectionsOfOthers();
bool IsOfOthers(const SectionInfo& section);

// A section's keys as a markdown table.
std::string ReferenceTable(const SectionInfo& section);

// JSON Schema 2020-12 of configs, bases and suites, as configs/schema.json holds it.
std::string ConfigJsonSchema();

}  // namespace assay::runner
