#pragma once

#include <string>
#include <vector>

#include "record/arms.h"
#include "record/run_record.h"
#include "testing/example_run.h"

namespace assay::gate {

// Runs of two arms in ABBA order, as slow as these factors of time say, pair by pair.
struct Slowness {
  double base = 1, head = 1;
};
inline record::RunRecord TwoArms(const std::vector<Slowness>& pairs,
                                 std::vector<int64_t> looks = {4, 5, 6, 7, 8}) {
  record::RunRecord run = testing::ExampleRun();
  run.cells.clear();
  run.ab.emplace();
  run.ab->base = {"base", "git main", ""};
  run.ab->head = {"head", "git change", ""};
  run.ab->error = 0.05;
  run.ab->looks = std::move(looks);
  for (size_t i = 0; i < pairs.size(); ++i) {
    for (const bool second : {false, true}) {
      const bool head = (i % 2 == 1) != second;
      const double slowness = head ? pairs[i].head : pairs[i].base;
      record::CellRecord cell = testing::ExampleCell();
      cell.key = record::RunKey(cell.key, static_cast<int64_t>(i + 1), head ? "head" : "base");
      cell.fingerprint.engine_binary = std::string(64, head ? 'e' : 'f');
      cell.serving = {testing::ExampleServing(20 * slowness, 5 * slowness)};
      run.cells.push_back(std::move(cell));
      run.ab->runs.push_back({static_cast<int64_t>(i + 1), head ? "head" : "base"});
    }
  }
  return run;
}

// Pairs whose ratio is `loss` and half a per cent more or less, alternating.
inline std::vector<Slowness> SteadyPairs(size_t n, double loss) {
  std::vector<Slowness> pairs;
  for (size_t i = 0; i < n; ++i) pairs.push_back({1, (1 + loss) * (i % 2 == 0 ? 1.005 : 0.995)});
  return pairs;
}

}  // namespace assay::gate
