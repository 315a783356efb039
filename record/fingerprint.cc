#include <fmt/format.h>

#include "record/run_record.h"

namespace assay::record {
namespace {

// What a difference breaks. A new engine binary breaks nothing: it is the change under test.
struct Rule {
  const char* field;
  std::string (*text)(const Fingerprint&);
  bool breaks_performance;
  bool breaks_accuracy;
  bool unknown_breaks = true;  // false: not every machine says so, and records of an older assay never do
};

const Rule kRules[] = {
    {"hardware", [](const Fingerprint& f) { return f.hardware; }, true, false},
    {"device", [](const Fingerprint& f) { return f.device; }, true, false},
    {"devices", [](const Fingerprint& f) { return fmt::format("{}", f.devices); }, true, false},
    // Two machines of one kind differ by more than a run does: cooling, neighbours, firmware.
    {"host", [](const Fingerprint& f) { return f.host; }, true, false},
    {"memory_mb", [](const Fingerprint& f) { return fmt::format("{}", f.memory_mb); }, false, false},
    {"driver", [](const Fingerprint& f) { return f.driver; }, true, false},
    {"os", [](const Fingerprint& f) { return f.os; }, false, false},
    {"kernel", [](const Fingerprint& f) { return f.kernel; }, false, false},
    {"engine", [](const Fingerprint& f) { return f.engine; }, false, false},
    {"engine_flags", [](const Fingerprint& f) { return f.engine_flags; }, true, false},
    {"engine_binary", [](const Fingerprint& f) { return f.engine_binary; }, false, false},
    {"model_hash", [](const Fingerprint& f) { return f.model_hash; }, true, true},
    // Lengths and speeds are counted in tokens, so another tokenizer changes what a token is.
    {"tokenizer_hash", [](const Fingerprint& f) { return f.tokenizer_hash; }, true, true},
    {"clocks", [](const Fingerprint& f) { return f.clocks; }, true, false, false},
    {"ecc", [](const Fingerprint& f) { return f.ecc; }, true, false, false},
};

// Libraries and compilers are often the change under test, so another version is a suspect and breaks
// nothing.
void AddVersions(const Fingerprint& ours, const Fingerprint& theirs,
                 std::vector<FingerprintDifference>& differences) {
  std::map<std::string, std::pair<std::string, std::string>> both;
  for (const auto& [name, version] : ours.versions) both[name].first = version;
  for (const auto& [name, version] : theirs.versions) both[name].second = version;
  for (auto& [name, pair] : both) {
    if (pair.first == pair.second) continue;
    differences.push_back({"versions." + name, std::move(pair.first), std::move(pair.second), false, false});
  }
}

}  // namespace

std::vector<std::string> BreakingFields() {
  std::vector<std::string> fields;
  for (const Rule& rule : kRules) {
    if (rule.breaks_performance || rule.breaks_accuracy) fields.emplace_back(rule.field);
  }
  return fields;
}

std::vector<FingerprintDifference> Differences(const Fingerprint& ours, const Fingerprint& theirs) {
  std::vector<FingerprintDifference> differences;
  for (const Rule& rule : kRules) {
    std::string our_text = rule.text(ours), their_text = rule.text(theirs);
    if (our_text == their_text) continue;
    const bool known = !our_text.empty() && !their_text.empty();
    const bool counts = known || rule.unknown_breaks;
    differences.push_back({rule.field, std::move(our_text), std::move(their_text),
                           counts && rule.breaks_performance, counts && rule.breaks_accuracy});
  }
  AddVersions(ours, theirs, differences);
  return differences;
}

}  // namespace assay::record
