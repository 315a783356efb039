#pragma once

#include <string>
#include <vector>

#include "record/verdict.h"

// All speeds of a run are tested at once, and of 16 tests at 0.05 one is a false alarm more often than not.
namespace assay::gate {

// A loss fails when it is shown at this level, one-sided: the lower end of a 95 % interval.
inline constexpr double kLossLevel = 0.025;

// A loss has to be above this, as a log ratio: the margin, or the noise floor where it is larger.
double LossLimit(const record::Check& check);
std::string LimitInWords(const record::Check& check);  // "the margin of 3 %"

// The loss that fails four times in five in a family of so many, all others being without one. From the
// interval of the check, so it needs two baseline runs.
double SmallestDetectable(const record::Check& check, size_t family);

// Holm over the primary performance checks of the run, Benjamini and Hochberg over the observations: fills
// p_adjusted, states the mde for the family, and takes a FAIL back where it is none among so many.
void AdjustForFamily(const std::vector<record::Check*>& checks);

}  // namespace assay::gate
