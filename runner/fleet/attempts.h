#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "gate/conclude.h"
#include "record/run_record.h"

// What jobs of a fleet left behind: folders of `assay run`, beside whose files the job may have written when
// it began (`started`) and how it ended (`exit_code`).
namespace assay::runner {

// Why a cell has no result that could be judged.
struct NotMeasured {
  enum class Why { kLost, kInvalid, kInterrupted };
  Why why = Why::kLost;  // kLost: infrastructure, worth another attempt; kInvalid: it is not
  std::string text;      // "out/a/attempt-1: ended with exit code 137 and left no record"
};

// One try at one cell.
struct Attempt {
  std::string key;
  Path folder;
  std::string began;                     // UTC; "" when nobody knows
  std::optional<record::RunRecord> run;  // what the record says besides its cells
  std::optional<record::CellRecord> record;
  std::optional<gate::JudgedCell> judged;  // there unless `problem` is
  std::string base_name;                   // what the run called what it was compared with
  std::optional<NotMeasured> problem;
};

// Every folder of a run in these folders or below them, also below another run's, each once, in the order of
// their names; `skip` and what lies in it is left out. Links to folders are not followed, unless they are one
// of `folders`. A folder that is not there has none; one that cannot be read is an error.
Result<std::vector<Path>> FindRunFolders(const std::vector<Path>& folders, const Path& skip);

// The attempts of one run folder; none for a folder that `assay merge` made. A damaged one is an attempt with
// a problem: its cell is what the record says, else the nearest folder above it, or itself, that is called
// like a key of `expected`, else what a job calls the folder above its attempts.
std::vector<Attempt> ReadRunFolder(const Path& folder, const std::vector<std::string>& expected);

// The newest decides. One whose beginning is unknown counts as newest, so that nothing older can hide it; of
// equal ones, the later of the list.
const Attempt& NewestOf(const std::vector<Attempt>& attempts);

}  // namespace assay::runner
