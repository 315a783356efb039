#include "runner/run/machine_pace.h"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"

namespace assay::runner {
namespace {

constexpr std::chrono::milliseconds kDuration{50};
constexpr unsigned kMostThreads = 16;
constexpr double kMostLost = 0.99;    // a pace of 0 could not be compared
constexpr size_t kWords = 64 * 1024;  // larger than a first cache, smaller than most second ones

// Each word depends on the one before, so that no compiler or core may skip any.
uint32_t OnePass(std::vector<uint32_t>& words, uint32_t state) {
  for (uint32_t& word : words) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    word += state;
    state += word >> 7;
  }
  return state;
}

std::atomic<uint32_t> kept{0};  // what a pass computed counts for something

int64_t PassesUntil(TimePoint end) {
  std::vector<uint32_t> words(kWords, 1);
  uint32_t state = 2463534242U;
  int64_t passes = 0;
  do {  // a thread that had no turn in all that time makes one pass late, which the time it took shows
    state = OnePass(words, state | 1U);
    ++passes;
  } while (RealClock().Now() < end);
  kept += state;
  return passes;
}

}  // namespace

double MachinePace() {
  const unsigned threads = std::clamp(std::thread::hardware_concurrency(), 1U, kMostThreads);
  std::atomic<int64_t> passes{0};
  const TimePoint start = RealClock().Now();
  {
    std::vector<std::jthread> workers;
    for (unsigned i = 0; i < threads; ++i)
      workers.emplace_back([&] { passes += PassesUntil(start + kDuration); });
  }
  return static_cast<double>(passes) / Seconds(RealClock().Now() - start);
}

CpuTime ReadCpuTime() {
  std::ifstream stat("/proc/stat");
  std::string name;
  CpuTime time;
  int64_t jiffies = 0;
  if (!(stat >> name) || name != "cpu") return time;
  // user nice system idle iowait irq softirq steal (proc(5)); guest time is in user time already
  for (int field = 0; field < 8 && stat >> jiffies; ++field) {
    time.all += jiffies;
    if (field == 7) time.stolen = jiffies;
  }
  return time;
}

PaceWatch::PaceWatch() : before_(MachinePace()), start_(ReadCpuTime()) {}

double PaceWatch::PassesPerSecond() const {
  const CpuTime end = ReadCpuTime();
  const int64_t all = end.all - start_.all, stolen = end.stolen - start_.stolen;
  const double lost =
      all > 0 ? std::clamp(static_cast<double>(stolen) / static_cast<double>(all), 0.0, kMostLost) : 0;
  return std::min(before_, MachinePace()) * (1 - lost);
}

}  // namespace assay::runner
