#pragma once

#include <vector>

// Many tests at once: one in twenty is below 0.05 by itself. Both return one adjusted p for each p, in the
// same order, to be held against the level that a single test would have.
namespace assay::record {

// Holm (1979): the chance of any false rejection stays at the level, whatever depends on what.
std::vector<double> HolmAdjusted(const std::vector<double>& p_values);

// Benjamini and Hochberg (1995): the share of false ones among the rejected does.
std::vector<double> BenjaminiHochbergAdjusted(const std::vector<double>& p_values);

}  // namespace assay::record
