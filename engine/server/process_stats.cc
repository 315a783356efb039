#include "engine/server/process_stats.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace assay::engine {
namespace {

double SecondsOf(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

}  // namespace

ProcessStats ReadProcessStats() {
  ProcessStats stats;
  int64_t virtual_pages = 0, resident_pages = 0;
  if (std::ifstream("/proc/self/statm") >> virtual_pages >> resident_pages) {
    const int64_t page = ::sysconf(_SC_PAGESIZE);
    stats.virtual_bytes = virtual_pages * page;
    stats.resident_bytes = resident_pages * page;
  }
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) == 0) {
    stats.cpu_seconds = SecondsOf(usage.ru_utime) + SecondsOf(usage.ru_stime);
  }
  std::error_code error;
  for (std::filesystem::directory_iterator at("/proc/self/fd", error), end; !error && at != end;
       at.increment(error)) {
    ++stats.open_descriptors;
  }
  return stats;
}

}  // namespace assay::engine
