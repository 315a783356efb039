#pragma once

#include <string>
#include <vector>

#include "base/file.h"
#include "gate/conclude.h"

// judged.json: what the gate said of each cell of a run before it concluded on all of them together. `assay
// merge` concludes on the cells of many runs from it, and so needs neither their stores nor their machines.
namespace assay::runner {

inline constexpr char kJudgedFile[] = "judged.json";

struct JudgedRun {
  std::string base_name;  // what the reports call the arm that was compared with
  std::vector<gate::JudgedCell> cells;
};

// Numbers are kept whole: a p value that was rounded could be decided upon differently.
Status SaveJudgedRun(const JudgedRun& run, const Path& file);
Result<JudgedRun> LoadJudgedRun(const Path& file);

}  // namespace assay::runner
