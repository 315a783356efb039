#include "reports/check_names.h"

#include "base/text.h"

namespace assay::reports {

using record::Outcome;

std::string Benchmark(const record::Check& check) {
  constexpr std::string_view kPrefix = "serving:";
  return StartsWith(check.group, kPrefix) ? check.group.substr(kPrefix.size()) : "";
}

std::string CheckName(const record::Check& check) {
  if (check.rule == "server") return "server " + ReplaceAll(check.metric, "_", " ");
  if (const std::string benchmark = Benchmark(check); !benchmark.empty())
    return benchmark + " " + check.metric;
  if (check.rule == "paired" || check.rule == "unpaired") return check.metric + ", against the baseline";
  if (check.rule == "threshold") return check.metric + ", threshold";
  if (check.rule == "broken_line") return check.metric + ", near chance";
  if (check.rule == "baseline") return check.group + " baseline";
  return check.metric;
}

const char* Meaning(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPass:
      return "No check fails.";
    case Outcome::kInconclusive:
      return "Nothing is shown to be wrong, and nothing could be decided either.";
    case Outcome::kFail:
      return "Something got worse or does not work. Running again until it is green would only hide it.";
    case Outcome::kInvalid:
      return "The numbers cannot be trusted or have nothing to be compared with, so they say nothing about "
             "this change.";
    case Outcome::kInfrastructure:
      return "The server could not be measured for a reason outside the change; one retry is reasonable.";
  }
  return "";
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

}  // namespace assay::reports
