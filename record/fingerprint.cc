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
};

}  // namespace

std::vector<FingerprintDifference> Differences(const Fingerprint& ours, const Fingerprint& theirs) {
  std::vector<FingerprintDifference> differences;
  for (const Rule& rule : kRules) {
    std::string our_text = rule.text(ours), their_text = rule.text(theirs);
    if (our_text == their_text) continue;
    differences.push_back({rule.field, std::move(our_text), std::move(their_text), rule.breaks_performance,
                           rule.breaks_accuracy});
  }
  return differences;
}

}  // namespace assay::record
