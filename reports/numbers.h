#pragma once

#include <cstdint>
#include <string>

#include "record/verdict.h"
#include "reports/say.h"

// Numbers as people read them: four significant digits, a unit, and k/n beside every score.
namespace assay::reports {

std::string Quantity(double value, const std::string& unit);  // "392.6 tok/s", "3.250 ms"
std::string Score(double value, int64_t samples);             // "0.9375 (420/448)"

// The columns of a check, empty where it has none.
std::string BaselineText(const Say& say, const record::Check& check);
std::string ValueText(const Say& say, const record::Check& check);
std::string ChangeText(const Say& say, const record::Check& check);
std::string IntervalText(const Say& say, const record::Check& check);
std::string MarginText(const Say& say, const record::Check& check);
std::string FindsText(const Say& say, const record::Check& check);    // the smallest loss that would be seen
std::string VerdictText(const Say& say, const record::Check& check);  // "PASS", "PASS, improved"

bool IsScore(const record::Check& check);

}  // namespace assay::reports
