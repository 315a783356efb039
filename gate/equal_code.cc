#include "gate/equal_code.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>

#include "gate/comparable.h"

namespace assay::gate {
namespace {

using record::CellRecord;

// Of "2026-12-01T05:00:00Z" or "2026-12-01".
std::optional<std::chrono::sys_days> Day(std::string_view utc) {
  if (utc.size() < 10 || utc[4] != '-' || utc[7] != '-') return std::nullopt;
  const auto number = [&](size_t from, size_t digits) {
    int value = -1;
    std::from_chars(utc.data() + from, utc.data() + from + digits, value);
    return value;
  };
  const std::chrono::year_month_day day{std::chrono::year(number(0, 4)),
                                        std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                        std::chrono::day(static_cast<unsigned>(number(8, 2)))};
  if (!day.ok()) return std::nullopt;
  return std::chrono::sys_days(day);
}

// A run that does not say when it was made is taken for too old.
bool Recent(std::string_view created, std::string_view now, int days) {
  const auto then = Day(created), today = Day(now);
  return then && today && *today - *then <= std::chrono::days(days);
}

}  // namespace

std::vector<EqualRuns> FindEqualRuns(const CellRecord& ours, const CellPolicy& policy, std::string_view now) {
  std::vector<EqualRuns> found;
  std::vector<std::string> commits;  // of the lists in `found`
  for (const DatedCell& run : policy.baseline.dated) {
    if (run.commit.empty() || run.cell.serving.empty() || run.cell.server.failure) continue;
    if (!Recent(run.created, now, policy.policy.performance.noise_floor_days)) continue;
    if (!SpeedObstacles(ours, run.cell, policy).empty()) continue;
    size_t list = 0;
    while (list < found.size() &&
           !(commits[list] == run.commit && found[list].front()->fingerprint == run.cell.fingerprint))
      ++list;
    if (list == found.size()) {
      found.emplace_back();
      commits.push_back(run.commit);
    }
    found[list].push_back(&run.cell);
  }
  std::erase_if(found, [](const EqualRuns& runs) { return runs.size() < 2; });
  return found;
}

}  // namespace assay::gate
