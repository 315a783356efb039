#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

// How sure a statement must be that is looked at several times and ends the comparison as soon as it holds.
namespace assay::gate {

class Looks {
 public:
  // It is looked after each of these numbers of pairs. Over all looks together an interval misses the truth
  // in `error` of all comparisons, half of it each way, spent as Lan and DeMets do (record/sequential.h).
  Looks(std::vector<int64_t> pairs, double error);

  // The tail of a one-sided statement at the look after so many pairs, where it is one of `tests` that share
  // the error. 0 between looks: nothing may be decided.
  double Tail(int64_t pairs, size_t tests = 1) const;

 private:
  std::vector<int64_t> pairs_;
  double error_;
  mutable std::map<size_t, std::vector<double>>
      tails_;  // by the number of tests; worked out when first asked
};

}  // namespace assay::gate
