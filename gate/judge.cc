#include "gate/judge.h"

#include <utility>

#include "base/check.h"
#include "gate/conclude.h"

namespace assay::gate {

record::Verdict Judge(const record::RunRecord& record, const std::vector<CellPolicy>& policies) {
  CHECK_EQ(record.cells.size(), policies.size());
  std::vector<JudgedCell> cells;
  for (size_t i = 0; i < record.cells.size(); ++i)
    cells.push_back(JudgeAlone(record.cells[i], policies[i], record.created));
  return Conclude(record, std::move(cells));
}

}  // namespace assay::gate
