#include "gate/acknowledge.h"

#include <fmt/format.h>

#include "base/text.h"

namespace assay::gate {
namespace {

using record::Check;
using record::Outcome;

bool CanBeAccepted(const Check& check) {
  if (check.outcome == Outcome::kInvalid) return MetricOf(check) == kMachinePace;
  return check.outcome == Outcome::kFail && check.rule != "broken_line";
}

}  // namespace

const Acknowledgement* FindAcknowledgement(const std::vector<Acknowledgement>& all, const std::string& cell,
                                           const std::string& metric) {
  const Acknowledgement* found = nullptr;
  for (const Acknowledgement& each : all) {
    if (each.cell != cell || each.metric != metric) continue;
    if (found == nullptr || found->expires < each.expires) found = &each;
  }
  return found;
}

bool IsAccepted(const std::vector<Acknowledgement>& all, const std::string& cell, const std::string& metric,
                const std::string& today) {
  const Acknowledgement* found = FindAcknowledgement(all, cell, metric);
  return found != nullptr && HoldsOn(*found, today);
}

std::string Words(const Acknowledgement& acknowledgement) {
  return fmt::format("{} until {}: {}", acknowledgement.owner, acknowledgement.expires,
                     acknowledgement.reason);
}

std::string MetricOf(const Check& check) {
  constexpr std::string_view kServing = "serving:";
  if (check.rule == "baseline" || check.rule == "not_judged") return "";
  if (check.group == "accuracy" || check.rule == "same_answers") return check.metric;
  if (StartsWith(check.metric, "V10_machine_pace.") || StartsWith(check.metric, "V11_gpu_clocks."))
    return kMachinePace;
  return StartsWith(check.group, kServing) ? check.group.substr(kServing.size()) + "." + check.metric : "";
}

bool HoldsOn(const Acknowledgement& acknowledgement, const std::string& today) {
  return today <= acknowledgement.expires;
}

void Acknowledge(const std::vector<Acknowledgement>& acknowledgements, const std::string& today,
                 std::vector<Check>& checks, std::vector<record::VerdictNote>& notes) {
  for (Check& check : checks) {
    const bool fails = check.primary && CanBeAccepted(check);
    if (!fails || MetricOf(check).empty()) continue;
    const Acknowledgement* found = FindAcknowledgement(acknowledgements, check.cell, MetricOf(check));
    if (found == nullptr) continue;
    if (!HoldsOn(*found, today)) {
      check.reason += fmt::format("; the acknowledgement of {} held until {}", found->owner, found->expires);
      continue;
    }
    check.primary = false;
    check.acknowledged = Words(*found);
    notes.push_back({check.cell, "acknowledged",
                     fmt::format("{} fails and is acknowledged by {}", MetricOf(check), check.acknowledged)});
  }
}

}  // namespace assay::gate
