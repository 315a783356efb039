#pragma once

#include <string>
#include <vector>

#include "record/run_record.h"

// The column or word that tells cells apart. With a single cell the head of the page has said it, so there is
// none.
namespace assay::reports {

std::vector<std::string> Prepend(std::vector<std::string> head, const std::vector<std::string>& tail);
std::vector<std::string> WithCell(const record::RunRecord& record, const std::string& cell,
                                  const std::vector<std::string>& columns);
std::vector<std::string> WithCellName(const record::RunRecord& record, const std::vector<std::string>& names);
std::string CellPrefix(const record::RunRecord& record, const std::string& cell);  // "`key` " or ""

}  // namespace assay::reports
