#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/page.h"

// What a run's checks come to, for those who read only the top of a report.
namespace assay::reports {

struct CheckCounts {
  int64_t fail = 0, invalid = 0, infrastructure = 0, inconclusive = 0, pass = 0, improved = 0, not_judged = 0;
  int64_t validity = 0, validity_holds = 0;
};
CheckCounts CountChecks(const record::Verdict& verdict);

// The worst outcome of a cell: FAIL, INVALID, INFRASTRUCTURE, INCONCLUSIVE, PASS in this order.
record::Outcome CellOutcome(const View& view, const std::string& cell);

// The cells with this outcome, in the record's order.
std::vector<std::string> CellsThat(const View& view, record::Outcome outcome);

// "accuracy loss", "slowdown": English phrases that name what a reviewer should know before merging.
std::vector<std::string_view> RiskFlags(const View& view);

// What happened and what to do about it, in a sentence each.
std::string InOneSentence(const Page& page);
std::string RecommendedAction(const Page& page);

}  // namespace assay::reports
