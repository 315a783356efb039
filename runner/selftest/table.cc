#include "runner/selftest/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "runner/cli/exit_code.h"

namespace assay::runner {
namespace {

int64_t CountOf(const std::vector<FaultResult>& results, Standing standing) {
  return std::count_if(results.begin(), results.end(),
                       [standing](const FaultResult& result) { return StandingOf(result) == standing; });
}

std::string Summary(const std::vector<FaultResult>& results) {
  const int64_t missed = CountOf(results, Standing::kMissed),
                wrong = CountOf(results, Standing::kWrongReason);
  std::string text = fmt::format("{} fault{}: {} caught for the right reason", results.size(),
                                 results.size() == 1 ? "" : "s", CountOf(results, Standing::kCaught));
  if (const int64_t below = CountOf(results, Standing::kBelowMde); below > 0)
    text += fmt::format(", {} below the MDE and not noticed", below);
  if (wrong > 0) text += fmt::format(", {} noticed for a wrong reason", wrong);
  if (missed > 0) text += fmt::format(", {} MISSED", missed);
  return text + ".";
}

std::string Conditions(const SelftestHead& head) {
  return fmt::format("seed {}, {}, {}, {} clean runs of the speed evals, {:.0f} s in all, {}", head.seed,
                     head.machine, head.engine, head.clean_runs, head.seconds, head.created);
}

std::string Mde(const FaultResult& result) {
  return result.mde_text.empty() ? "any" : result.mde_text;
}

std::string InTable(const std::string& text) {
  return ReplaceAll(Printable(text), "|", "\\|");
}

}  // namespace

std::vector<FaultResult> Sorted(std::vector<FaultResult> results) {
  std::stable_sort(results.begin(), results.end(),
                   [](const FaultResult& a, const FaultResult& b) { return StandingOf(a) < StandingOf(b); });
  return results;
}

std::string SelftestMarkdown(const SelftestHead& head, const std::vector<FaultResult>& results) {
  std::string text = fmt::format("`{}`\n\n{}.\n\n", head.command, Conditions(head)) +
                     "| fault | what it does | effect | noticed from | | by | samples | seconds |\n"
                     "|---|---|---|---|---|---|---:|---:|\n";
  for (const FaultResult& result : Sorted(results)) {
    const Standing standing = StandingOf(result);
    const std::string word =
        standing == Standing::kCaught ? Name(standing) : fmt::format("**{}**", Name(standing));
    text += fmt::format("| `{}` | {} | {} | {} | {} | {} | {} | {:.0f} |\n", result.name,
                        InTable(result.what), InTable(result.effect), InTable(Mde(result)), word,
                        InTable(result.caught_by), result.samples, result.seconds);
  }
  return text + "\n" + Summary(results) + "\n";
}

std::string SelftestTerminal(const SelftestHead& head, const std::vector<FaultResult>& results) {
  std::string text = fmt::format("{}\n{}\n\n", head.command, Conditions(head));
  size_t name = 5, effect = 6, mde = 12;
  for (const FaultResult& result : results) {
    name = std::max(name, result.name.size());
    effect = std::max(effect, result.effect.size());
    mde = std::max(mde, Mde(result).size());
  }
  const auto line = [&](std::string_view a, std::string_view b, std::string_view c, std::string_view d,
                        std::string_view e) {
    text += fmt::format("{:<12}  {:<{}}  {:<{}}  {:<{}}  {}\n", a, b, name, c, effect, d, mde, e);
  };
  line("", "fault", "effect", "noticed from", "by");
  for (const FaultResult& result : Sorted(results)) {
    line(Name(StandingOf(result)), result.name, Printable(result.effect), Mde(result),
         fmt::format("{} ({} samples, {:.0f} s)", result.caught_by.empty() ? "nothing" : result.caught_by,
                     result.samples, result.seconds));
  }
  return text + "\n" + Summary(results) + "\n";
}

int SelftestExitCode(const std::vector<FaultResult>& results) {
  const bool well = std::all_of(results.begin(), results.end(), [](const FaultResult& result) {
    const Standing standing = StandingOf(result);
    return standing == Standing::kCaught || standing == Standing::kBelowMde;
  });
  return well ? kExitPass : kExitFail;
}

}  // namespace assay::runner
