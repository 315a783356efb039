#include "engine/bench/bench_flags.h"

#include <algorithm>

#include "engine/command_line.h"

namespace assay::engine {

const char* const kBenchHelp =
    R"(assay-engine bench: how fast a model runs here, and how fast this machine could run it.

  assay-engine bench --model FOLDER [flags]

  --model FOLDER               config.json and weights; make-model writes random ones
  --device, --batch-invariant, --moe-backend, --activations, --dense-dtype, --threads,
  --tensor-parallel-size: as in serve --help

  --prompt N                   tokens of the prefill measurement; 0 leaves it out (512)
  --streams N,N,...            requests that decode together, measured one after the other (1,8,16)
  --generate N                 tokens that each of them decodes (64)
  --context N                  tokens of its prompt (16)
  --rounds N                   each measurement; the median is shown (3)
  --profile                    also where the time of each went, by operation; a GPU waits after each
  --graphs                     on a GPU: batches that decode are recorded and replayed, padded

  --help                       this page

Beside each speed stand the bytes of weights and cache that a token reads, the rate that makes, and its share
of the read bandwidth probed just before; and the arithmetic, as a share of the peak probed there too: float32
on a CPU, a large product of bf16 matrices on a GPU.

Example: assay-engine bench --model /tmp/four-layers --threads 2
)";

Result<BenchFlags> ParseBenchFlags(std::vector<std::string> arguments) {
  BenchFlags flags;
  CLI::App app;
  app.set_help_flag();
  app.add_flag("-h,--help", flags.help);
  DeclareModelFlags(app, flags);
  app.add_option("--prompt", flags.prompt);
  app.add_option("--streams", flags.streams)->delimiter(',');
  app.add_option("--generate", flags.generate);
  app.add_option("--context", flags.context);
  app.add_option("--rounds", flags.rounds);
  app.add_flag("--profile", flags.profile);
  app.add_flag("--graphs", flags.graphs);
  const Status parsed = ParseArguments(app, std::move(arguments), "bench");
  if (flags.help) return flags;
  RETURN_IF_ERROR(parsed);
  RETURN_IF_ERROR(CheckModelFlags(flags));
  RETURN_IF_ERROR(CheckRanges({{"--prompt", flags.prompt, 0, 1 << 20},
                               {"--generate", flags.generate, 2, 1 << 20},
                               {"--context", flags.context, 1, 1 << 20},
                               {"--rounds", flags.rounds, 1, 1000}}));
  for (const int64_t streams : flags.streams) RETURN_IF_ERROR(CheckRanges({{"--streams", streams, 1, 4096}}));
  return flags;
}

}  // namespace assay::engine
