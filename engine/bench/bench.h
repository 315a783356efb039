#pragma once

#include "engine/bench/bench_flags.h"

namespace assay::engine {

// Loads the model, measures, prints the table on standard output.
Status RunBench(const BenchFlags& flags);

}  // namespace assay::engine
