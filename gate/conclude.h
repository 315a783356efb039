#pragma once

#include <string>
#include <vector>

#include "gate/judge.h"
#include "gate/judge_cell.h"

// Judging in two steps, so that cells which ran on different machines are concluded upon as if one run had
// measured them all: each cell by itself, where its baseline is; then all of them together.
namespace assay::gate {

// A cell judged by itself, with what is needed of its policy afterwards. Its FAILs are not yet corrected for
// the family, and nobody has accepted any.
struct JudgedCell {
  std::string key;
  CellVerdict verdict;
  bool strict = false;
  std::string today;                              // what acknowledgements are held against
  std::vector<Acknowledgement> acknowledgements;  // of this cell
};

JudgedCell JudgeAlone(const record::CellRecord& cell, const CellPolicy& policy, const std::string& created);

// Corrects all speeds together (gate/family.h), applies acknowledgements, folds. `cells` are those of the
// record, in its order. Judge is this of JudgeAlone of every cell.
record::Verdict Conclude(const record::RunRecord& record, std::vector<JudgedCell> cells);

}  // namespace assay::gate
