#include "gate/ab/run_checks.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "gate/text.h"

namespace assay::gate {
namespace {

constexpr std::string_view kNotPossible = "not possible: ";

}  // namespace

using record::Check;
using record::Outcome;

void RunChecks::Add(const std::string& run, Check check) {
  auto name = std::find_if(names_.begin(), names_.end(),
                           [&](const OfOneName& known) { return known.metric == check.metric; });
  if (name == names_.end()) name = names_.insert(names_.end(), {check.metric, {}});
  name->runs.emplace_back(run, std::move(check));
}

void RunChecks::Add(const std::string& run, std::vector<Check> checks) {
  for (Check& check : checks) Add(run, std::move(check));
}

std::vector<Check> RunChecks::Merged(const std::string& cell) const {
  constexpr size_t kRunsNamed = 4;
  std::vector<Check> merged;
  for (const OfOneName& name : names_) {
    // The worst first: INVALID, then what is not possible or observed, then PASS.
    const auto rank = [](const auto& run) {
      return run.second.outcome == Outcome::kInvalid ? 2 : run.second.outcome == Outcome::kPass ? 0 : 1;
    };
    const auto worst = std::max_element(name.runs.begin(), name.runs.end(),
                                        [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
    Check check = worst->second;
    check.cell = cell;
    std::vector<std::string> alike;
    for (const auto& run : name.runs)
      if (rank(run) == rank(*worst)) alike.push_back(run.first);
    const size_t n = name.runs.size();
    const std::string which = n == 1              ? ""
                              : alike.size() == n ? fmt::format("in all {}, here ", n)
                                                  : fmt::format("{} of {} ({}), here ", alike.size(), n,
                                                                FirstFew(alike, kRunsNamed));
    // Pages know by its first words what is not possible.
    const std::string_view sign = StartsWith(check.reason, kNotPossible) ? kNotPossible : "";
    check.reason = fmt::format("{}{}{}: {}", sign, which, worst->first, check.reason.substr(sign.size()));
    merged.push_back(std::move(check));
  }
  return merged;
}

}  // namespace assay::gate
