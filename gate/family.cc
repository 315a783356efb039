#include "gate/family.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gate/text.h"
#include "record/distributions.h"
#include "record/multiplicity.h"

namespace assay::gate {
namespace {

using record::Check;
using record::Outcome;

constexpr double kPower = 0.8;

void TakeBack(Check& check, size_t family) {
  check.outcome = Outcome::kInconclusive;
  check.reason = fmt::format(
      "{} (95 % {} to {}): worse than {} by itself (p {:.3f}), but n is too small to say so among {} metrics "
      "of this run (adjusted p {:.3f}, level {}); more baseline runs decide",
      Percent(*check.change), Percent(*check.ci_low), Percent(*check.ci_high), LimitInWords(check),
      *check.p_value, family, *check.p_adjusted, kLossLevel);
}

void Adjust(const std::vector<Check*>& family, std::vector<double> (*adjusted)(const std::vector<double>&)) {
  std::vector<double> p_values;
  for (const Check* check : family) p_values.push_back(*check->p_value);
  const std::vector<double> together = adjusted(p_values);
  for (size_t i = 0; i < family.size(); ++i) {
    Check& check = *family[i];
    check.p_adjusted = together[i];
    check.mde = SmallestDetectable(check, family.size());
    if (check.outcome == Outcome::kFail && together[i] >= kLossLevel) TakeBack(check, family.size());
  }
}

}  // namespace

double LossLimit(const Check& check) {
  return std::log1p(std::max(*check.margin, check.noise_floor.value_or(0)));
}

std::string LimitInWords(const Check& check) {
  if (check.noise_floor.value_or(0) > *check.margin)
    return fmt::format("the noise floor of {:.1f} %", *check.noise_floor * 100);
  return fmt::format("the margin of {:.0f} %", *check.margin * 100);
}

double SmallestDetectable(const Check& check, size_t family) {
  const double degrees_of_freedom = static_cast<double>(check.baseline_samples) - 1;
  const double half = (std::log1p(*check.ci_high) - std::log1p(*check.ci_low)) / 2;
  const double standard_error = half / record::StudentQuantile(0.975, degrees_of_freedom);
  const double critical =
      record::StudentQuantile(1 - kLossLevel / static_cast<double>(family), degrees_of_freedom);
  const double shift = record::StudentShiftForPower(critical, degrees_of_freedom, kPower);
  return std::expm1(LossLimit(check) + shift * standard_error);
}

void AdjustForFamily(const std::vector<Check*>& checks) {
  std::vector<Check*> primary, observations;
  for (Check* check : checks) {
    if (check->rule == "performance" && check->p_value)
      (check->primary ? primary : observations).push_back(check);
  }
  Adjust(primary, record::HolmAdjusted);
  Adjust(observations, record::BenjaminiHochbergAdjusted);
}

}  // namespace assay::gate
