#include "engine/bench/probe.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "kernels/roofline/roofline.h"

namespace assay::engine {
namespace {

constexpr int64_t kMemory = int64_t{512} << 20;
constexpr int64_t kWorth = 1'000'000'000;  // a piece for each worker
constexpr int kPasses = 3;

template <typename Work>
double SecondsOf(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

MachineProbe::MachineProbe(int64_t threads) : pool_(1, threads), memory_(kMemory) {
  std::memset(memory_.data(), 1, static_cast<size_t>(kMemory));
}

double MachineProbe::ReadBandwidth() {
  constexpr int64_t kChunk = int64_t{8} << 20;
  double best = 0;
  for (int pass = 0; pass < kPasses; ++pass) {
    std::atomic<uint64_t> all{0};
    const double seconds = SecondsOf([&] {
      pool_.ForEach({kMemory / kChunk, kWorth}, [&](Range chunks, int64_t) {
        const auto size = static_cast<size_t>((chunks.end - chunks.begin) * kChunk);
        all ^= kernels::ReadAll({memory_.data() + chunks.begin * kChunk, size});
      });
    });
    best = std::max(best, static_cast<double>(kMemory) / seconds);
  }
  return best;
}

std::vector<MachineProbe::Peak> MachineProbe::Peaks() {
  constexpr int64_t kRounds = 1'000'000, kPieces = 4;
  std::vector<Peak> peaks;
  for (const kernels::PeakLoop& loop : kernels::PeakLoops()) {
    double best = 0;
    for (int pass = 0; pass < kPasses; ++pass) {
      const double seconds = SecondsOf([&] {
        pool_.ForEach({kPieces * pool_.Size(), kWorth},
                      [&](Range pieces, int64_t) { loop.run((pieces.end - pieces.begin) * kRounds); });
      });
      const auto operations = static_cast<double>(kPieces * pool_.Size() * kRounds * loop.operations_a_round);
      best = std::max(best, operations / seconds);
    }
    peaks.push_back({loop.name, best});
  }
  return peaks;
}

}  // namespace assay::engine
