#include "reports/check_names.h"

#include "base/text.h"

namespace assay::reports {

using record::Outcome;

std::string Benchmark(const record::Check& check) {
  constexpr std::string_view kPrefix = "serving:";
  return StartsWith(check.group, kPrefix) ? check.group.substr(kPrefix.size()) : "";
}

std::string CheckName(const Say& say, const record::Check& check) {
  if (check.rule == "server") return say("server {}", ReplaceAll(check.metric, "_", " "));
  if (const std::string benchmark = Benchmark(check); !benchmark.empty())
    return benchmark + " " + check.metric;
  if (check.rule == "paired" || check.rule == "unpaired")
    return say("{}, against the baseline", check.metric);
  if (check.rule == "threshold") return say("{}, threshold", check.metric);
  if (check.rule == "broken_line") return say("{}, near chance", check.metric);
  if (check.rule == "baseline") return say("{} baseline", check.group);
  return check.metric;
}

const char* Symbol(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPass:
      return "✅";
    case Outcome::kInconclusive:
      return "❔";
    case Outcome::kFail:
      return "❌";
    case Outcome::kInvalid:
      return "⚠️";
    case Outcome::kInfrastructure:
      return "🔁";
  }
  return "";
}

const char* Symbol(const record::Verdict& verdict) {
  return NeedsAttention(verdict) ? "🟡" : Symbol(verdict.outcome);
}

}  // namespace assay::reports
