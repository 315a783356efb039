#pragma once

#include <cstdint>
#include <string>
#include <vector>

// Numbers and lists in the words of a reason.
namespace assay::gate {

std::string Signed(double share);                   // "-2.0", in hundredths; "0.0" for next to nothing
std::string Points(double difference);              // "-2.0 points", of a score
std::string Percent(double share);                  // "-3.1 %", signed
std::string Score(int64_t correct, int64_t total);  // "0.9420 (422/448)"
// The first few and how many more: "rec1, rec2 and 3 more".
std::string FirstFew(const std::vector<std::string>& names, size_t limit);

}  // namespace assay::gate
