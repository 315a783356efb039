#include "reports/place.h"

#include "base/text.h"
#include "reports/numbers.h"

namespace assay::reports {

std::vector<std::string> Prepend(std::vector<std::string> head, const std::vector<std::string>& tail) {
  head.insert(head.end(), tail.begin(), tail.end());
  return head;
}

std::vector<std::string> WithCell(const Page& page, const std::string& cell,
                                  const std::vector<std::string>& columns) {
  return page.ManyRuns() ? Prepend({page.markup.Code(cell)}, columns) : columns;
}

std::vector<std::string> WithCellName(const Page& page, const std::vector<std::string>& names) {
  return page.ManyRuns() ? Prepend({page.say("cell")}, names) : names;
}

std::string CellPrefix(const Page& page, const std::string& cell) {
  return page.ManyRuns() && !cell.empty() ? page.markup.Code(cell) + " " : "";
}

std::string NameList(const Page& page, const std::vector<std::string>& names, size_t limit) {
  std::vector<std::string> shown;
  for (const std::string& name : names) {
    if (shown.size() == limit) break;
    shown.push_back(page.markup.Code(name));
  }
  const std::string list = Join(shown, ", ");
  return names.size() > limit ? page.say("{} and {} more", list, names.size() - limit) : list;
}

std::string LoudVerdict(const Page& page, const record::Check& check) {
  const std::string text = VerdictText(page.say, check);
  const bool loud = check.outcome != record::Outcome::kPass && (check.primary || !check.acknowledged.empty());
  return loud ? page.markup.Outcome(check.outcome, text) : text;
}

}  // namespace assay::reports
