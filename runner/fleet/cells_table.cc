#include <fmt/format.h>

#include <charconv>
#include <set>

#include "base/text.h"
#include "runner/fleet/pipeline.h"

namespace assay::runner {
namespace {

FleetCell ParseRow(const std::string& row) {
  std::vector<std::string> fields = Split(row, '\t');
  fields.resize(5);
  FleetCell cell{fields[0], fields[1], 0, fields[3], fields[4]};
  std::from_chars(fields[2].data(), fields[2].data() + fields[2].size(), cell.gpus);
  return cell;
}

}  // namespace

std::string CellsTable(const std::vector<FleetCell>& cells) {
  std::string table;
  for (const FleetCell& cell : cells)
    table += fmt::format("{}\t{}\t{}\t{}\t{}\n", cell.key, cell.hardware, cell.gpus, cell.config, cell.suite);
  return table;
}

std::vector<EmittedFile> EmitCells(const Pipeline& pipeline) {
  return {{"cells.tsv", CellsTable(pipeline.cells)}};
}

Result<std::vector<FleetCell>> ReadCellsTable(const Path& file) {
  const auto text = ReadFile(file);
  if (!text) return Fail(ErrorKind::kUsage, "--expect: {}", text.error().message);
  std::vector<FleetCell> cells;
  std::set<std::string> seen;
  int line = 0;
  for (const std::string& row : SplitLines(*text)) {
    ++line;
    FleetCell cell = ParseRow(row);
    if (cell.key.empty()) {
      return Fail(ErrorKind::kUsage,
                  "--expect: {}:{}: begins with no cell key; assay ci emit --to cells makes such a table",
                  file.string(), line);
    }
    if (!seen.insert(cell.key).second)
      return Fail(ErrorKind::kUsage, "--expect: {}:{}: {} is there twice", file.string(), line, cell.key);
    cells.push_back(std::move(cell));
  }
  if (cells.empty()) return Fail(ErrorKind::kUsage, "--expect: {}: lists no cell", file.string());
  return cells;
}

}  // namespace assay::runner
