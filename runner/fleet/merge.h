#pragma once

#include <string>
#include <vector>

#include "base/file.h"
#include "gate/conclude.h"
#include "record/run_record.h"

namespace assay::runner {

struct MergeOptions {
  std::vector<Path> folders;  // of runs, or folders of such folders
  Path expect;                // a table of cells (CellsTable); "" takes those that are there
  Path out;                   // "" makes out/<run id>
  std::vector<std::string> command;
};

// Many runs as one: what is needed to conclude on them.
struct MergedRun {
  record::RunRecord record;
  std::vector<gate::JudgedCell> cells;  // those of the record, in its order
  std::string base_name;
};

// The newest attempt of every cell. A cell that was expected and is not there, or whose newest attempt is
// damaged, is in the record with a failure of the infrastructure; it never passes. kUsage where a cell was
// measured that nobody expects, or the table cannot be read; kInvalid where the cells measured different
// commits. kUsage where `out` holds what is to be merged, kInfrastructure for a folder that cannot be read.
Result<MergedRun> MergeRuns(const MergeOptions& options);

}  // namespace assay::runner
