#pragma once

#include <cstdint>
#include <vector>

// Looking at a part of the data several times, and ending when it is clear what the whole would say, without
// being wrong more often than one look would be.
namespace assay::record {

// How much of the permitted error may be spent when a share `t` (0..1) is in: Lan and DeMets (1983), of
// O'Brien and Fleming's type, 2 - 2 Phi(z_{1 - error/2} / sqrt(t)). Next to nothing early, all of it at 1.
double SpentError(double t, double error);

// Bounds for standardised sums Z_1, Z_2 ... with these amounts of information (their only matter is their
// ratio): with no effect, the chance that some Z_i of the first j passes its bound is spent[j]. Numerical
// recursion (Armitage, McPherson and Rowe, 1969). Infinite where there is next to nothing to spend.
std::vector<double> SequentialBounds(const std::vector<double>& information,
                                     const std::vector<double>& spent);

// A population of `size` holds `successes` right ones and is drawn in random order. Bounds for the counts of
// right ones after each number of draws in `looks`: the chance that some count of the first j reaches its
// bound is at most spent[j], exactly (hypergeometric), and smaller for a population with fewer successes. A
// bound above the draws is one that cannot be reached.
std::vector<int64_t> CountBounds(int64_t size, int64_t successes, const std::vector<int64_t>& looks,
                                 const std::vector<double>& spent);

}  // namespace assay::record
