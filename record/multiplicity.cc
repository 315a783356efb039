#include "record/multiplicity.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace assay::record {
namespace {

// Indices from the smallest p to the largest.
std::vector<size_t> Ascending(const std::vector<double>& p_values) {
  std::vector<size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return p_values[a] < p_values[b]; });
  return order;
}

}  // namespace

std::vector<double> HolmAdjusted(const std::vector<double>& p_values) {
  std::vector<double> adjusted(p_values.size());
  double largest = 0;
  size_t left = p_values.size();
  for (size_t i : Ascending(p_values)) {
    largest = std::max(largest, std::min(1.0, p_values[i] * static_cast<double>(left--)));
    adjusted[i] = largest;
  }
  return adjusted;
}

std::vector<double> BenjaminiHochbergAdjusted(const std::vector<double>& p_values) {
  std::vector<double> adjusted(p_values.size());
  const auto all = static_cast<double>(p_values.size());
  const std::vector<size_t> order = Ascending(p_values);
  double smallest = 1;
  for (size_t rank = order.size(); rank > 0; --rank) {
    const size_t i = order[rank - 1];
    smallest = std::min(smallest, p_values[i] * all / static_cast<double>(rank));
    adjusted[i] = smallest;
  }
  return adjusted;
}

}  // namespace assay::record
