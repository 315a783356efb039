#pragma once

#include <map>
#include <string>
#include <vector>

#include "record/verdict.h"

namespace assay::gate {

// The same check of many runs as one: where it holds in all of them it says so once, where not it names the
// runs. In the order in which the checks first came.
class RunChecks {
 public:
  // `run`: "pair 2 head", or "pair 2" for a check of both.
  void Add(const std::string& run, record::Check check);
  void Add(const std::string& run, std::vector<record::Check> checks);

  std::vector<record::Check> Merged(const std::string& cell) const;

 private:
  struct OfOneName {
    std::string metric;
    std::vector<std::pair<std::string, record::Check>> runs;
  };
  std::vector<OfOneName> names_;
};

}  // namespace assay::gate
