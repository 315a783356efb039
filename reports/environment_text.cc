#include "reports/environment_text.h"

#include "base/text.h"

namespace assay::reports {

std::string ShownField(const Say& say, const std::string& field) {
  if (field.empty()) return say("unknown");
  const bool hash = field.size() == 64 && field.find_first_not_of("0123456789abcdef") == std::string::npos;
  return hash ? field.substr(0, 12) : field;
}

std::string EffectOf(const Say& say, const record::FingerprintDifference& difference) {
  if (difference.breaks_accuracy) return say("neither answers nor speed are comparable");
  if (difference.breaks_performance) return say("speed is not comparable");
  return StartsWith(difference.field, "engine") ? say("the program under test") : say("suspect");
}

}  // namespace assay::reports
