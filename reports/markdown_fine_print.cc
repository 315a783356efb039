#include <fmt/format.h>

#include "base/text.h"
#include "reports/markdown_place.h"
#include "reports/markdown_sections.h"
#include "reports/markdown_text.h"
#include "reports/numbers.h"

namespace assay::reports {
namespace {

using record::Check;
using record::Outcome;
using record::RunRecord;
using record::Verdict;

// A hash is told from another by its first digits.
std::string Shown(const std::string& field) {
  const bool hash = field.size() == 64 && field.find_first_not_of("0123456789abcdef") == std::string::npos;
  return field.empty() ? "unknown" : Inline(hash ? field.substr(0, 12) : field, 80);
}

const char* Effect(const record::FingerprintDifference& difference) {
  if (difference.breaks_accuracy) return "neither answers nor speed are comparable";
  if (difference.breaks_performance) return "speed is not comparable";
  return StartsWith(difference.field, "engine") ? "the program under test" : "suspect";
}

}  // namespace

std::string EnvironmentSection(const Verdict& verdict) {
  if (verdict.environment.empty()) return "";
  std::string table = TableHead({"field", "this run", "baseline", "effect"});
  for (const record::FingerprintDifference& difference : verdict.environment) {
    table += TableRow(
        {Code(difference.field), Shown(difference.ours), Shown(difference.theirs), Effect(difference)});
  }
  const size_t n = verdict.environment.size();
  if (verdict.outcome == Outcome::kPass) {
    return Folded(
        fmt::format("environment: {} field{} from the baseline", n, n == 1 ? " differs" : "s differ"), table);
  }
  return "### Environment differences\n\nWhat else changed since the baseline, any of which may explain a "
         "change:\n\n" +
         table + "\n";
}

std::string ValiditySection(const RunRecord& record, const Verdict& verdict) {
  std::string rows;
  int64_t hold = 0, broken = 0, other = 0;
  const auto number = [](const std::optional<double>& value, const std::string& unit) {
    return value ? Quantity(*value, unit) : "";
  };
  for (const Check& check : verdict.checks) {
    if (check.group != "validity") continue;
    const bool passes = check.outcome == Outcome::kPass;
    hold += passes;
    broken += check.outcome == Outcome::kInvalid;
    other += check.outcome == Outcome::kInconclusive;
    const char* word = passes ? "holds" : check.outcome == Outcome::kInvalid ? "**INVALID**" : "observation";
    rows += TableRow(WithCell(record, check.cell,
                              {Code(check.metric), number(check.value, check.unit),
                               number(check.reference, check.unit), word, Inline(check.reason)}));
  }
  if (rows.empty()) return "";
  std::string summary = fmt::format("validity checks: {} hold", hold);
  if (broken > 0) summary += fmt::format(", {} do not", broken);
  if (other > 0) summary += fmt::format(", {} observations", other);
  return Folded(summary,
                TableHead(WithCellName(record, {"check", "value", "reference", "", "measured"})) + rows);
}

std::string DefinitionsSection() {
  return Folded(
      "definitions",
      R"(- **FAIL** needs evidence: the whole 95 % interval lies beyond the margin, or the score is below its limit, or the server broke.
- **PASS** needs evidence too: a loss of the margin's size is excluded. **INCONCLUSIVE** is neither. **INVALID** means that the measurement is broken and says nothing.
- **Accuracy change** is in points of the score (0.01), paired question by question with the baseline; its interval counts only the questions whose answers differ.
- **Speed change** compares one run with the mean of earlier runs on the same machine with equal flags and model; its interval is where one more run like those would fall. Too few earlier runs (three, unless the config says otherwise) decide nothing.
- **Observations** are shown and decide nothing: metrics that the config does not call primary, and a p99 of fewer than 299 requests.
- **TTFT** is the time from sending a request to its first chunk, **TPOT** the time from there to the last chunk divided by one less than the number of output tokens, **E2EL** the time from sending to the last chunk.
)");
}

}  // namespace assay::reports
