#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay::evals {

struct CsvRow {
  int64_t line = 0;  // where the row starts, from 1
  std::vector<std::string> fields;
};

// RFC 4180: quoted fields may hold commas, doubled quotes and newlines; LF or CRLF ends a row. A byte-order
// mark is skipped, blank lines are dropped, values are kept to the byte. Every row has as many fields as the
// first. `source` names the text in errors.
Result<std::vector<CsvRow>> ParseCsv(std::string_view text, std::string_view source);

}  // namespace assay::evals
