#include "engine/make_model_flags.h"

#include <span>

#include "base/text.h"
#include "engine/command_line.h"
#include "engine/model/config.h"

namespace assay::engine {

const char* const kMakeModelHelp =
    R"(assay-engine make-model: write a checkpoint with random weights, for benchmarks and tests.

  assay-engine make-model [flags] OUT

  OUT                     folder to make; one that exists is never overwritten

Shape
  --shape NAME            tiny, gpt-oss-20b or gpt-oss-120b (tiny)
  --layers N              any size of the shape can be replaced
  --vocab N
  --hidden N              a multiple of 32
  --intermediate N        of an expert, a multiple of 32
  --experts N
  --experts-per-token N
  --heads N, --kv-heads N, --head-dim N

  shape         layers   vocab  hidden  intermediate  experts  heads      size
  tiny               4    8192     256           256       32   8/2 x 32   23 MB
  gpt-oss-20b       24  201088    2880          2880       32  64/8 x 64  13.8 GB
  gpt-oss-120b      36  201088    2880          2880      128  64/8 x 64  65.2 GB

Files
  --layout NAME           how the experts are stored (mxfp4); the weights are the same in all:
                            mxfp4         as openai/gpt-oss
                            bf16          dequantised
                            quark         AMD Quark's MXFP4, a tensor for each expert
                            quark-fp8     and FP8 activations
                            quark-fp8-kv  and FP8 keys and values
  --shards N              weight files (1)
  --tokenizer FOLDER      copies its tokenizer (none)
  --seed N                same seed, same bytes, on every machine (1)

  --threads N             that write, 0: one for each core (0)
  --help                  this page

It prints one line with the size when it is done. Stopped early, it leaves nothing behind.
Exit: 0 made; 2 a flag or file cannot be used; 71 the disk or the operating system; 130 interrupted.

Example: assay-engine make-model --shape gpt-oss-20b --layers 4 --vocab 8192 /tmp/four-layers
)";

namespace {

struct NamedShape {
  const char* name;
  CheckpointShape shape;
};
constexpr CheckpointShape GptOss(int64_t layers, int64_t experts) {
  return {201088, 2880, 2880, layers, 64, 8, 64, experts, 4, 128, 131072};
}
constexpr NamedShape kShapes[] = {
    {"tiny", {8192, 256, 256, 4, 8, 2, 32, 32, 4, 128, 131072}},
    {"gpt-oss-20b", GptOss(24, 32)},
    {"gpt-oss-120b", GptOss(36, 128)},
};

struct NamedLayout {
  const char* name;
  WeightLayout layout;
};
constexpr NamedLayout kLayouts[] = {
    {"mxfp4", WeightLayout::kMxfp4},
    {"bf16", WeightLayout::kBf16},
    {"quark", WeightLayout::kQuark},
    {"quark-fp8", WeightLayout::kQuarkFp8},
    {"quark-fp8-kv", WeightLayout::kQuarkFp8Kv},
};

template <class Row, size_t n>
Result<Row> FindRow(const char* flag, const std::string& word, const Row (&rows)[n]) {
  std::vector<std::string> words;
  for (const Row& row : rows) {
    if (word == row.name) return row;
    words.push_back(row.name);
  }
  return BadFlag("{} {}: must be one of {}", flag, ShellQuote(word), Join(words, ", "));
}

// A size that replaces the shape's own when it is given.
struct SizeFlag {
  const char* name;
  int64_t CheckpointShape::*size;
};
constexpr SizeFlag kSizes[] = {
    {"--layers", &CheckpointShape::num_hidden_layers},
    {"--vocab", &CheckpointShape::vocab_size},
    {"--hidden", &CheckpointShape::hidden_size},
    {"--intermediate", &CheckpointShape::intermediate_size},
    {"--experts", &CheckpointShape::num_local_experts},
    {"--experts-per-token", &CheckpointShape::num_experts_per_tok},
    {"--heads", &CheckpointShape::num_attention_heads},
    {"--kv-heads", &CheckpointShape::num_key_value_heads},
    {"--head-dim", &CheckpointShape::head_dim},
};

struct Words {
  std::string shape = "tiny", layout = "mxfp4";
  int64_t sizes[std::size(kSizes)] = {};  // 0: not given
};

void Declare(CLI::App& app, MakeModelFlags& flags, Words& words) {
  app.set_help_flag();
  app.add_flag("-h,--help", flags.help);
  app.add_option("--shape", words.shape);
  app.add_option("--layout", words.layout);
  for (size_t i = 0; i < std::size(kSizes); ++i) app.add_option(kSizes[i].name, words.sizes[i]);
  app.add_option("--shards", flags.checkpoint.shards);
  app.add_option("--seed", flags.checkpoint.seed);
  app.add_option("--tokenizer", flags.tokenizer);
  app.add_option("--threads", flags.threads);
  app.add_option("OUT", flags.out);
}

Status Resolve(const Words& words, MakeModelFlags& flags) {
  ASSIGN_OR_RETURN(const NamedShape shape, FindRow("--shape", words.shape, kShapes));
  ASSIGN_OR_RETURN(const NamedLayout layout, FindRow("--layout", words.layout, kLayouts));
  flags.checkpoint.shape = shape.shape;
  flags.checkpoint.layout = layout.layout;
  for (size_t i = 0; i < std::size(kSizes); ++i) {
    const int64_t size = words.sizes[i];
    RETURN_IF_ERROR(CheckRanges({{kSizes[i].name, size, 0, int64_t{1} << 24}}));
    if (size != 0) flags.checkpoint.shape.*kSizes[i].size = size;
  }
  RETURN_IF_ERROR(CheckRanges({{"--threads", flags.threads, 0, 1024}}));
  // The engine's own rules say what it could load.
  const auto config = ParseModelConfig(RandomConfigJson(flags.checkpoint), "the model to make");
  if (!config) return FailWithin("bad flag", config.error());
  return {};
}

}  // namespace

Result<MakeModelFlags> ParseMakeModelFlags(std::vector<std::string> arguments) {
  MakeModelFlags flags;
  Words words;
  CLI::App app;
  Declare(app, flags, words);
  RETURN_IF_ERROR(ParseArguments(app, std::move(arguments), "make-model"));
  if (flags.help) return flags;
  if (flags.out.empty()) return BadFlag("the folder to make is missing: make-model [flags] OUT");
  RETURN_IF_ERROR(Resolve(words, flags));
  return flags;
}

}  // namespace assay::engine
