#include "record/metric.h"

#include <algorithm>

namespace assay::record {

const Metric* Find(const std::vector<Metric>& metrics, std::string_view name) {
  const auto found = std::find_if(metrics.begin(), metrics.end(),
                                  [name](const Metric& metric) { return metric.name == name; });
  return found == metrics.end() ? nullptr : &*found;
}

}  // namespace assay::record
