#pragma once

#include <string>
#include <vector>

#include "reports/page.h"

namespace assay::reports {

// The column or word that tells cells apart. With a single cell the head of the page has said it, so there is
// none.
std::vector<std::string> Prepend(std::vector<std::string> head, const std::vector<std::string>& tail);
std::vector<std::string> WithCell(const Page& page, const std::string& cell,
                                  const std::vector<std::string>& columns);
std::vector<std::string> WithCellName(const Page& page, const std::vector<std::string>& names);
std::string CellPrefix(const Page& page, const std::string& cell);  // "`key` " or ""

// "`a`, `b` and 3 more"; `limit` names at most.
std::string NameList(const Page& page, const std::vector<std::string>& names, size_t limit);

// The verdict of a row, loud where it is no pass.
std::string LoudVerdict(const Page& page, const record::Check& check);

}  // namespace assay::reports
