#include "reports/view.h"

#include <algorithm>

namespace assay::reports {
namespace {

// The cells of such a record are runs of both arms, and each knows which.
void TakeArms(const record::RunRecord& record, View& view) {
  const record::AbRecord& ab = *record.ab;
  std::vector<const record::CellRecord*> base;
  for (size_t i = 0; i < record.cells.size() && i < ab.runs.size(); ++i) {
    const bool head = ab.runs[i].arm == "head";
    if (!head) base.push_back(&record.cells[i]);
    if (head && view.cells.empty()) view.cells.push_back(&record.cells[i]);
  }
  if (view.cells.empty() && !record.cells.empty()) view.cells.push_back(&record.cells.front());
  if (view.cells.empty()) return;
  const std::string& key = view.cells.front()->key;
  view.baseline[key] = base;
  std::vector<const record::Check*>& own = view.checks[key];
  for (const record::Check& check : view.input.verdict.checks) {
    const bool of_a_run = std::any_of(record.cells.begin(), record.cells.end(),
                                      [&](const record::CellRecord& cell) { return cell.key == check.cell; });
    if (!of_a_run) own.push_back(&check);  // of the comparison
  }
  view.checks.erase("");
  view.base_name = ab.base.what;
  view.head_name = ab.head.what;
}

}  // namespace

View::View(const ReportInput& report)
    : input(report),
      say(report.language),
      baseline(report.baseline),
      base_name(report.base_name),
      head_name(report.head_name) {
  for (const record::Check& check : input.verdict.checks) checks[check.cell].push_back(&check);
  if (input.record.ab) {
    TakeArms(input.record, *this);
    return;
  }
  for (const record::CellRecord& cell : input.record.cells) cells.push_back(&cell);
}

const std::vector<const record::Check*>& View::ChecksOf(const std::string& cell) const {
  static const std::vector<const record::Check*> none;
  const auto found = checks.find(cell);
  return found == checks.end() ? none : found->second;
}

}  // namespace assay::reports
