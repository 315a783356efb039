#include "reports/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace assay::reports {

using record::Check;
using record::Outcome;

namespace {

// A change that rounds to nothing has no sign.
std::string Signed(double share) {
  const std::string text = fmt::format("{:+.1f}", share * 100);
  return text == "-0.0" || text == "+0.0" ? "0.0" : text;
}

}  // namespace

std::string Quantity(double value, const std::string& unit) {
  if (unit.empty() && value == std::floor(value) && std::abs(value) < 1e15)
    return fmt::format("{:.0f}", value);
  const int magnitude = value == 0 ? 0 : static_cast<int>(std::floor(std::log10(std::abs(value))));
  const int decimals = std::clamp(3 - magnitude, 0, 6);
  const std::string number = fmt::format("{:.{}f}", value, value == 0 ? 0 : decimals);
  return unit.empty() ? number : number + " " + unit;
}

std::string Score(double value, int64_t samples) {
  if (samples <= 0) return fmt::format("{:.4f}", value);
  return fmt::format("{:.4f} ({:.0f}/{})", value, value * static_cast<double>(samples), samples);
}

bool IsScore(const Check& check) {
  return check.group == "accuracy";
}

std::string BaselineText(const Say& say, const Check& check) {
  if (!check.reference) return "";
  if (check.rule == "paired" || check.rule == "unpaired")
    return Score(*check.reference, check.baseline_samples);
  if (IsScore(check)) return say("at least {:.4f}", *check.reference);
  const std::string value = Quantity(*check.reference, check.unit);
  return check.baseline_samples > 1 ? say("{} (mean of {})", value, check.baseline_samples) : value;
}

std::string ValueText(const Say& say, const Check& check) {
  if (!check.value) return say("not measured");
  return IsScore(check) ? Score(*check.value, check.samples) : Quantity(*check.value, check.unit);
}

std::string ChangeText(const Say& say, const Check& check) {
  if (!check.change) return "";
  return IsScore(check) ? say("{} points", Signed(*check.change)) : Signed(*check.change) + " %";
}

std::string IntervalText(const Say& say, const Check& check) {
  if (!check.ci_low || !check.ci_high) return "";
  return say("{} to {}", Signed(*check.ci_low), Signed(*check.ci_high));
}

std::string MarginText(const Say& say, const Check& check) {
  if (!check.margin) return "";
  return IsScore(check) ? say("{:.1f} points", *check.margin * 100)
                        : fmt::format("{:.3g} %", *check.margin * 100);
}

std::string FindsText(const Say& say, const Check& check) {
  if (!check.mde) return "";
  return IsScore(check) ? say("{:.1f} points", *check.mde * 100) : fmt::format("{:.1f} %", *check.mde * 100);
}

std::string VerdictText(const Say& say, const Check& check) {
  if (check.rule == "not_judged") return say("not judged");
  if (!check.acknowledged.empty()) return say("{}, acknowledged", record::Name(check.outcome));
  if (!check.primary) return say("observation");
  const std::string name = record::Name(check.outcome);
  return check.improved ? say("{}, improved", name) : name;
}

}  // namespace assay::reports
