#include "runner/plan/select_cell.h"

#include "base/text.h"

namespace assay::runner {

Result<std::vector<Cell>> SelectCell(std::vector<Cell> cells, const std::string& key) {
  std::vector<std::string> keys;
  for (Cell& cell : cells) {
    if (cell.key == key) return std::vector<Cell>{std::move(cell)};
    keys.push_back(cell.key);
  }
  const auto nearest = NearestWord(key, keys);
  return Fail(ErrorKind::kUsage, "--cell {}: no config given is this cell{}; the cells are {}", key,
              nearest ? "; did you mean " + *nearest + "?" : "", Join(keys, ", "));
}

}  // namespace assay::runner
