#include "engine/serve_flags.h"

#include <algorithm>
#include <chrono>

#include "base/clock.h"
#include "base/text.h"
#include "engine/command_line.h"

namespace assay::engine {

const char* const kServeHelp =
    R"(assay-engine serve: answer the OpenAI API with a gpt-oss model on this machine.

  assay-engine serve --model FOLDER [flags]

Model
  --model FOLDER               config.json, weights, tokenizer.json
  --tokenizer FOLDER           tokenizer.json to use instead (default: the model's)
  --served-model-name NAME     as clients name it (default: the model folder's name)
  --device NAME                cpu, or gpu where this was built with one (cpu)
  --batch-invariant            on a GPU: no answer depends on the batch around it, slower; a CPU is
                               always so (off)
  --tensor-parallel-size N     shards, also -tp (1)
  --moe-backend NAME           how experts are multiplied: grouped, fused or reference (grouped)
                               fused: on a GPU, few rows by one kernel a layer, the same answers;
                               reference: on a CPU, slow, every operation by definition
  --activations NAME           of matrix products: bf16; bf16-pair, which answers as float32 does;
                               int8 for experts, the fastest (bf16-pair)
  --dense-dtype NAME           weights of attention and output: bf16 as stored, or int8, half the
                               memory traffic, with int8 activations (bf16)
  --threads N                  threads that compute, 0: one for each core (0)

Server
  --host ADDRESS               IP address to listen on (127.0.0.1)
  --port N                     0: any free one; see the ready line (8000)
  --api-key KEY                what /v1 clients must send as Bearer token (none)
  --metrics-prefix NAME        names in /metrics begin with NAME: (assay)
  --stall-seconds S            /health says 503 after S without a step while requests wait (60)

Batch and memory
  --max-model-len N            longest prompt + answer (what the model and the cache allow)
  --max-num-seqs N             requests computed together (64)
  --max-num-batched-tokens N   tokens of one step (512)
  --kv-cache-blocks N          blocks of the KV cache for layers that see everything, or
  --kv-cache-memory-mb N       its whole size (1024, or less where that is enough)
  --block-size N               tokens of one block: 16, 32, ... (16)
  --enable-prefix-caching      computed prefixes are used again; --no-enable-prefix-caching (on)
  --enforce-eager              batches as they are; --no-enforce-eager pads to fixed sizes (eager)

Answers
  --seed N                     for requests without a seed of their own (0)
  --reasoning-effort LEVEL     low, medium or high, for requests that name none (medium)
  --current-date DATE          YYYY-MM-DD or today, for the system prompt (left out)

  --verbose                    more in the log on standard error
  --help                       this page

When it accepts requests it prints one line of JSON on standard output:
  {"event":"ready","port":...}
Exit: 0 stopped by SIGTERM or SIGINT; 2 a flag, the model or the tokenizer cannot be used;
70 internal error; 71 the port or the operating system.

Example: assay-engine serve --model models/tiny-moe --port 0 --max-num-seqs 32
)";

namespace {

void Declare(CLI::App& app, ServeFlags& flags) {
  DeclareModelFlags(app, flags);
  app.set_help_flag();
  app.add_flag("-h,--help", flags.help);
  app.add_flag("--verbose", flags.verbose);
  app.add_option("--tokenizer", flags.tokenizer);
  app.add_option("--served-model-name", flags.served_model_name);
  app.add_option("--host", flags.host);
  app.add_option("--port", flags.port);
  app.add_option("--api-key", flags.api_key);
  app.add_option("--seed", flags.seed);
  app.add_option("--max-model-len", flags.max_model_len);
  app.add_option("--max-num-seqs", flags.max_num_seqs);
  app.add_option("--max-num-batched-tokens", flags.max_num_batched_tokens);
  app.add_option("--kv-cache-blocks", flags.kv_cache_blocks);
  app.add_option("--kv-cache-memory-mb", flags.kv_cache_memory_mb);
  app.add_option("--block-size", flags.block_size);
  app.add_flag("--enable-prefix-caching,!--no-enable-prefix-caching", flags.enable_prefix_caching);
  app.add_flag("--enforce-eager,!--no-enforce-eager", flags.enforce_eager);
  app.add_option("--reasoning-effort", flags.reasoning_effort);
  app.add_option("--current-date", flags.current_date);
  app.add_option("--metrics-prefix", flags.metrics_prefix);
  app.add_option("--stall-seconds", flags.stall_seconds);
}

Status CheckNumbers(const ServeFlags& flags) {
  RETURN_IF_ERROR(CheckRanges({{"--port", flags.port, 0, 65535},
                               {"--max-model-len", flags.max_model_len, 0, int64_t{1} << 30},
                               {"--max-num-seqs", flags.max_num_seqs, 1, 1 << 16},
                               {"--max-num-batched-tokens", flags.max_num_batched_tokens, 1, 1 << 20},
                               {"--kv-cache-blocks", flags.kv_cache_blocks, 0, 1 << 30},
                               {"--kv-cache-memory-mb", flags.kv_cache_memory_mb, 0, 1 << 30},
                               {"--block-size", flags.block_size, 1, 4096}}));
  if (flags.stall_seconds <= 0)
    return BadFlag("--stall-seconds {}: must be more than 0", flags.stall_seconds);
  return {};
}

Status CheckMetricsPrefix(const std::string& prefix) {
  const auto fits = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':';
  };
  const bool starts_well = !prefix.empty() && std::isdigit(static_cast<unsigned char>(prefix.front())) == 0;
  if (starts_well && std::all_of(prefix.begin(), prefix.end(), fits)) return {};
  return BadFlag("--metrics-prefix {}: letters, digits, _ and : only, no digit first", ShellQuote(prefix));
}

Status ResolveDate(std::string& date) {
  if (date == "today") date = UtcNow().substr(0, 10);
  if (date.empty()) return {};
  int year = 0;
  unsigned month = 0, day = 0;
  int read = 0;
  const bool shaped = date.size() == 10 &&
                      std::sscanf(date.c_str(), "%4d-%2u-%2u%n", &year, &month, &day, &read) == 3 &&
                      read == 10;
  using namespace std::chrono;
  if (shaped &&
      year_month_day(std::chrono::year(year), std::chrono::month(month), std::chrono::day(day)).ok()) {
    return {};
  }
  return BadFlag("--current-date {}: must be YYYY-MM-DD or today", ShellQuote(date));
}

Status Check(ServeFlags& flags) {
  RETURN_IF_ERROR(CheckModelFlags(flags));
  RETURN_IF_ERROR(CheckNumbers(flags));
  RETURN_IF_ERROR(CheckWord("--reasoning-effort", flags.reasoning_effort, {"low", "medium", "high"}));
  RETURN_IF_ERROR(CheckMetricsPrefix(flags.metrics_prefix));
  RETURN_IF_ERROR(ResolveDate(flags.current_date));
  if (flags.kv_cache_blocks > 0 && flags.kv_cache_memory_mb > 0) {
    return BadFlag("--kv-cache-blocks and --kv-cache-memory-mb: give one of them");
  }
  if (flags.max_num_seqs > flags.max_num_batched_tokens) {
    return BadFlag(
        "--max-num-seqs {}: each request needs a token of a step, and --max-num-batched-tokens is {}",
        flags.max_num_seqs, flags.max_num_batched_tokens);
  }
  return {};
}

}  // namespace

Result<ServeFlags> ParseServeFlags(std::vector<std::string> arguments) {
  ServeFlags flags;
  CLI::App app;
  Declare(app, flags);
  RETURN_IF_ERROR(ParseArguments(app, std::move(arguments), "serve"));
  if (flags.help) return flags;
  RETURN_IF_ERROR(Check(flags));
  return flags;
}

}  // namespace assay::engine
