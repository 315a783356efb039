#include "reports/markdown_place.h"

#include "reports/markdown_text.h"

namespace assay::reports {

using record::RunRecord;

std::vector<std::string> Prepend(std::vector<std::string> head, const std::vector<std::string>& tail) {
  head.insert(head.end(), tail.begin(), tail.end());
  return head;
}

std::vector<std::string> WithCell(const RunRecord& record, const std::string& cell,
                                  const std::vector<std::string>& columns) {
  return record.cells.size() > 1 ? Prepend({Code(cell)}, columns) : columns;
}

std::vector<std::string> WithCellName(const RunRecord& record, const std::vector<std::string>& names) {
  return record.cells.size() > 1 ? Prepend({"cell"}, names) : names;
}

std::string CellPrefix(const RunRecord& record, const std::string& cell) {
  return record.cells.size() > 1 && !cell.empty() ? Code(cell) + " " : "";
}

}  // namespace assay::reports
