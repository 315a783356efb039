#include "runner/config/keys.h"

#include <algorithm>

#include "base/text.h"
#include "runner/config/reference.h"

namespace assay::runner {
namespace {

std::vector<std::string> Names(const SectionInfo& section) {
  std::vector<std::string> names;
  for (const KeyInfo& key : section.keys) names.push_back(key.name);
  return names;
}

bool Has(const SectionInfo& section, std::string_view name) {
  return std::any_of(section.keys.begin(), section.keys.end(),
                     [&](const KeyInfo& key) { return key.name == name; });
}

// The one other section that has such a key; "" when none or several have it.
std::string SectionWith(std::string_view name) {
  std::string path;
  for (const SectionInfo& section : ConfigSections()) {
    if (!Has(section, name)) continue;
    if (!path.empty()) return "";
    path = section.path;
  }
  return path;
}

std::string UnknownKeyAdvice(const SectionInfo& section, const std::string& key) {
  if (key == "<<") return "merge keys are not read; share keys with other files through extends";
  const std::vector<std::string> names = Names(section);
  const std::string elsewhere = IsOfOthers(section) ? "" : SectionWith(key);
  if (!elsewhere.empty()) return fmt::format("unknown key; it belongs under {}", elsewhere);
  if (const auto nearest = NearestName(key, names)) {
    return fmt::format("unknown key; did you mean {}?", *nearest);
  }
  return fmt::format("unknown key; the keys here are {}", Join(names, ", "));
}

}  // namespace

void MatchKeys(const SectionInfo& section, const YamlNode& node, const std::string& path, Reading& reading) {
  for (const YamlEntry& entry : node.entries) {
    if (Has(section, entry.key)) continue;
    reading.mistakes.Add(entry.mark, JoinPath(path, entry.key), UnknownKeyAdvice(section, entry.key));
  }
  if (reading.partial) return;
  for (const KeyInfo& key : section.keys) {
    if (!key.required || key.missing_is_checked || node.Find(key.name) != nullptr) continue;
    reading.mistakes.Add(node.mark, JoinPath(path, key.name),
                         fmt::format("is missing; for example {}: {}", key.name, key.example));
  }
}

}  // namespace assay::runner
