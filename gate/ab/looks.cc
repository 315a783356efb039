#include "gate/ab/looks.h"

#include <algorithm>

#include "base/check.h"
#include "record/distributions.h"
#include "record/sequential.h"

namespace assay::gate {

Looks::Looks(std::vector<int64_t> pairs, double error) : pairs_(std::move(pairs)), error_(error) {
  CHECK_GT(pairs_.size(), size_t{0});
}

double Looks::Tail(int64_t pairs, size_t tests) const {
  const auto look = std::find(pairs_.begin(), pairs_.end(), pairs);
  if (look == pairs_.end()) return 0;
  std::vector<double>& tails = tails_[tests];
  if (tails.empty()) {
    std::vector<double> information, spent;
    for (const int64_t n : pairs_) {
      information.push_back(static_cast<double>(n));
      const double share = static_cast<double>(n) / static_cast<double>(pairs_.back());
      spent.push_back(record::SpentError(share, error_ / 2) / static_cast<double>(tests));
    }
    for (const double bound : record::SequentialBounds(information, spent))
      tails.push_back(record::NormalCdf(-bound));
  }
  return tails[static_cast<size_t>(look - pairs_.begin())];
}

}  // namespace assay::gate
