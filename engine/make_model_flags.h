#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/model/random_checkpoint.h"

namespace assay::engine {

// The flags of `assay-engine make-model`; the help text shows these defaults.
struct MakeModelFlags {
  bool help = false;
  RandomCheckpoint checkpoint;
  std::string tokenizer;  // folder; empty: none is copied
  int threads = 0;
  std::string out;
};

// `arguments` follow the word "make-model". A mistake is an error that begins "bad flag: ".
Result<MakeModelFlags> ParseMakeModelFlags(std::vector<std::string> arguments);

extern const char* const kMakeModelHelp;

}  // namespace assay::engine
