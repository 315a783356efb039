#pragma once

#include <string>
#include <vector>

#include "record/verdict.h"

// Many checks into one word, one number and one line.
namespace assay::gate {

// A FAIL of something that makes answers worse. Answers that are merely others are as fast as any.
bool HasWrongAnswers(const std::vector<record::Check>& checks);

// Whether a check that decides came out so.
bool Has(const std::vector<record::Check>& checks, record::Outcome outcome);

// FAIL, INVALID, INFRASTRUCTURE in that order of weight. Undecided checks beside passing ones leave a PASS,
// unless strict; where nothing passed they make it INCONCLUSIVE. Observations do not count.
record::Outcome Fold(const std::vector<record::Check>& checks, bool strict);

// 130 interrupted, 1 FAIL, 4 INVALID or no baseline, 75 infrastructure, 3 anything undecided under strict, 0.
int ExitCode(const std::vector<record::Check>& checks, bool strict, bool interrupted);

std::string Headline(const record::Verdict& verdict, bool interrupted);

}  // namespace assay::gate
