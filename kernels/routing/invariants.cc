#include "kernels/routing/invariants.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <set>

namespace assay::kernels {
namespace {

using Violations = std::vector<std::string>;

template <class T>
T At(std::span<const T> values, int64_t i) {
  return values[static_cast<size_t>(i)];
}
int32_t At(const std::vector<int32_t>& values, int64_t i) {
  return values[static_cast<size_t>(i)];
}

void CheckIds(const RoutingResult& in, Violations& out) {
  for (int64_t t = 0; t < in.tokens; ++t) {
    std::set<int32_t> seen;
    for (int64_t j = 0; j < in.k; ++j) {
      const int32_t id = At(in.ids, t * in.k + j);
      if (id >= in.experts) out.push_back(fmt::format("row {}: id {} of {} experts", t, id, in.experts));
      if (id >= 0 && !seen.insert(id).second) out.push_back(fmt::format("row {}: id {} twice", t, id));
    }
  }
}

void CheckBits(const RoutingResult& in, Violations& out) {
  for (int64_t t = 0; t < in.tokens; ++t) {
    std::set<int32_t> chosen;
    for (int64_t j = 0; j < in.k; ++j) {
      if (At(in.ids, t * in.k + j) >= 0) chosen.insert(At(in.ids, t * in.k + j));
    }
    int64_t bits = 0;
    for (int64_t word = 0; word < in.matrix->words; ++word) {
      bits += std::popcount(in.matrix->bits[static_cast<size_t>(t * in.matrix->words + word)]);
    }
    if (bits != static_cast<int64_t>(chosen.size())) {
      out.push_back(fmt::format("row {}: {} bits for {} experts", t, bits, chosen.size()));
    }
    for (int64_t e = 0; e < in.matrix->words * 32; ++e) {
      if (in.matrix->Has(t, e) != chosen.contains(static_cast<int32_t>(e))) {
        out.push_back(fmt::format("row {}: bit {} disagrees with the ids", t, e));
      }
    }
  }
}

int64_t CheckCounts(const RoutingResult& in, Violations& out) {
  int64_t valid = 0, sum = 0;
  for (const int32_t id : in.ids) valid += id >= 0 ? 1 : 0;
  for (int64_t e = 0; e < in.experts; ++e) {
    int64_t column = 0;
    for (int64_t t = 0; t < in.tokens; ++t) column += in.matrix->Has(t, e) ? 1 : 0;
    if (At(in.metadata->col_sum, e) != column)
      out.push_back(fmt::format("expert {}: count is not its column", e));
    if (At(in.metadata->expert_offsets, e) != sum) out.push_back(fmt::format("expert {}: wrong offset", e));
    sum += At(in.metadata->col_sum, e);
  }
  if (At(in.metadata->expert_offsets, in.experts) != sum) out.push_back("the last offset is not the sum");
  if (sum != valid) out.push_back(fmt::format("counts add up to {} for {} valid slots", sum, valid));
  return valid;
}

void CheckPlaces(const RoutingResult& in, int64_t valid, Violations& out) {
  const RoutingMetadata& m = *in.metadata;
  std::vector<bool> seen(in.ids.size());
  for (int64_t p = 0; p < in.tokens * in.k; ++p) {
    const int32_t g = At(m.col_sorted, p);
    if ((g >= 0) != (p < valid))
      out.push_back(fmt::format("position {}: gate {} with {} valid", p, g, valid));
    if (g < 0) continue;
    if (seen[static_cast<size_t>(g)]) out.push_back(fmt::format("gate {} has two positions", g));
    seen[static_cast<size_t>(g)] = true;
    const int32_t id = At(in.ids, g);
    if (id < 0 || id >= in.experts || p < At(m.expert_offsets, id) || p >= At(m.expert_offsets, id + 1)) {
      out.push_back(fmt::format("position {}: outside the run of expert {}", p, id));
    }
    if (p > 0 && At(m.col_sorted, p - 1) > g && At(in.ids, At(m.col_sorted, p - 1)) == id) {
      out.push_back(fmt::format("position {}: gates of expert {} out of order", p, id));
    }
    if (At(m.row_sorted, g) != p) out.push_back(fmt::format("gate {}: not the inverse", g));
  }
  for (int64_t g = 0; g < in.tokens * in.k; ++g) {
    if (At(in.ids, g) < 0 && At(m.row_sorted, g) != -1)
      out.push_back(fmt::format("gate {}: place of none", g));
  }
}

void CheckWeights(const RoutingResult& in, Violations& out) {
  const std::vector<float> sorted = SortedGateWeights(*in.metadata, in.weights);
  for (int64_t p = 0; p < in.tokens * in.k; ++p) {
    const int32_t g = At(in.metadata->col_sorted, p);
    const float expected = g < 0 ? -1.0f : At(in.weights, g);
    const float actual = sorted[static_cast<size_t>(p)];
    if (actual != expected && !(std::isnan(actual) && std::isnan(expected))) {
      out.push_back(fmt::format("position {}: weight {} is not {}", p, actual, expected));
    }
  }
  for (int64_t t = 0; t < in.tokens; ++t) {
    double sum = 0;
    bool whole = true;
    for (int64_t j = 0; j < in.k; ++j) {
      whole = whole && At(in.ids, t * in.k + j) >= 0;
      sum += At(in.weights, t * in.k + j);
    }
    if (whole && std::isfinite(sum) && std::abs(sum - 1) > 1.0 / 256) {
      out.push_back(fmt::format("row {}: weights add up to {}", t, sum));
    }
  }
}

}  // namespace

std::vector<std::string> RoutingViolations(const RoutingResult& routing) {
  Violations out;
  CheckIds(routing, out);
  CheckBits(routing, out);
  CheckPlaces(routing, CheckCounts(routing, out), out);
  CheckWeights(routing, out);
  return out;
}

std::vector<std::string> ScheduleViolations(std::span<const int32_t> col_sum, int64_t block,
                                            std::span<const int32_t> schedule) {
  Violations out;
  std::set<int32_t> seen;
  bool ended = false;
  for (const int32_t entry : schedule) {
    if (entry < 0) {
      if (entry != -1) out.push_back(fmt::format("entry {}", entry));
      ended = true;
      continue;
    }
    const int64_t expert = entry & 0xFFFF, tile = entry >> 16;
    if (ended) out.push_back(fmt::format("expert {} tile {} after the end", expert, tile));
    if (!seen.insert(entry).second) out.push_back(fmt::format("expert {} tile {} twice", expert, tile));
    if (expert >= static_cast<int64_t>(col_sum.size()) || tile * block >= At(col_sum, expert)) {
      out.push_back(fmt::format("expert {} has no tile {}", expert, tile));
    }
  }
  int64_t needed = 0;
  for (const int32_t count : col_sum) needed += (count + block - 1) / block;
  if (static_cast<int64_t>(seen.size()) != needed) {
    out.push_back(fmt::format("{} tiles scheduled, {} needed", seen.size(), needed));
  }
  return out;
}

}  // namespace assay::kernels
