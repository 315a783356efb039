#include "engine/parallel/pin.h"

#include <sched.h>

#include <vector>

#include "engine/parallel/partition.h"

namespace assay::engine {

void PinThisThread(int64_t index, int64_t shares) {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return;
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &allowed)) cores.push_back(core);
  }
  if (static_cast<int64_t>(cores.size()) < shares) return;
  const Range own = Split({0, static_cast<int64_t>(cores.size())}, index, shares);
  cpu_set_t share;
  CPU_ZERO(&share);
  for (int64_t i = own.begin; i < own.end; ++i) CPU_SET(cores[static_cast<size_t>(i)], &share);
  ::sched_setaffinity(0, sizeof(share), &share);
}

}  // namespace assay::engine
