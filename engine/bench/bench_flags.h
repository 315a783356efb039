#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/model_flags.h"

namespace assay::engine {

// The flags of `assay-engine bench`; the help text shows these defaults.
struct BenchFlags : ModelFlags {
  bool help = false;
  int64_t prompt = 512;  // tokens of the prefill measurement; 0 leaves it out
  int64_t generate = 64;
  int64_t context = 16;  // prompt tokens of a stream that decodes
  std::vector<int64_t> streams = {1, 8, 16};
  int64_t rounds = 3;
  bool profile = false;
  bool graphs = false;
};
// `arguments` follow the word "bench". A mistake is an error that begins "bad flag: ".
Result<BenchFlags> ParseBenchFlags(std::vector<std::string> arguments);

extern const char* const kBenchHelp;

}  // namespace assay::engine
