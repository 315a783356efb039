#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/model_flags.h"

namespace assay::engine {

// The flags of `assay-engine serve`; the help text shows these defaults.
struct ServeFlags : ModelFlags {
  bool help = false;
  std::string tokenizer;          // folder; empty: the model's
  std::string served_model_name;  // empty: the model folder's name
  std::string host = "127.0.0.1";
  int port = 8000;
  std::string api_key;
  uint64_t seed = 0;
  int64_t max_model_len = 0;
  int64_t max_num_seqs = 64;
  int64_t max_num_batched_tokens = 512;
  int64_t kv_cache_blocks = 0;
  int64_t kv_cache_memory_mb = 0;
  int64_t block_size = 16;
  bool enable_prefix_caching = true;
  bool enforce_eager = true;
  std::string reasoning_effort = "medium";
  std::string current_date;  // YYYY-MM-DD or empty; `today` is resolved when read
  std::string metrics_prefix = "assay";
  double stall_seconds = 60;
  bool verbose = false;
};

// `arguments` follow the word "serve". --tensor_parallel_size is read as --tensor-parallel-size, and so is
// -tp. A mistake is an error that begins "bad flag: ".
Result<ServeFlags> ParseServeFlags(std::vector<std::string> arguments);

extern const char* const kServeHelp;

}  // namespace assay::engine
