#include "runner/config/server_args.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/text.h"
#include "runner/config/shell_words.h"

namespace assay::runner {
namespace {

constexpr char kType[] = "a command line as text";
constexpr int kMostRanks = 1024;
constexpr std::array<std::string_view, 5> kReachable = {"127.0.0.1", "localhost", "0.0.0.0", "::", "::1"};

std::optional<int> ParseDegree(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && number >= 1 && number <= kMostRanks ? std::optional(number) : std::nullopt;
}

bool AllDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

class ArgsReader {
 public:
  ArgsReader(const Mark& mark, const std::string& path, Reading& reading)
      : mark_(mark), path_(path), reading_(reading) {}

  ServerArgs Read(std::vector<std::string> words) {
    args_.words = std::move(words);
    for (at_ = 0; at_ < args_.words.size(); ++at_) Flag();
    const int64_t ranks = int64_t{args_.tensor_parallel_size} * pipeline_ * data_;
    if (ranks > kMostRanks) Mistake("parallel sizes", fmt::format("multiply to {} GPUs", ranks));
    args_.gpus = static_cast<int>(std::min<int64_t>(ranks, kMostRanks));
    return std::move(args_);
  }

 private:
  void Flag() {
    const std::string word = args_.words[at_];
    const std::string flag = FlagName(word);
    if (flag == "--port" || flag == "-p" || (StartsWith(flag, "-p") && AllDigits(flag.substr(2)))) {
      Mistake(word, "assay chooses a free port; remove it");
    } else if (flag == "--seed") {
      Mistake(word, "assay sets the seed to 0, so that runs can be compared; remove it");
    } else if (flag == "--host") {
      Host();
    } else if (flag == "--tensor-parallel-size" || flag == "-tp") {
      Degree(flag, args_.tensor_parallel_size, "{tp}");
    } else if (flag == "--pipeline-parallel-size" || flag == "-pp") {
      Degree(flag, pipeline_, "");
    } else if (flag == "--data-parallel-size" || flag == "-dp") {
      Degree(flag, data_, "");
    } else if (flag == "--tokenizer") {
      Text(flag, args_.tokenizer, "{tokenizer}");
    } else if (flag == "--moe-backend") {
      Text(flag, args_.moe_backend, "{moe_backend}");
    } else if (flag == "--served-model-name") {
      Text(flag, args_.model_id, "");
    }
  }

  // The value of the flag at hand, after its = or in the next word; `placeholder` takes its place.
  std::optional<std::string> Take(const std::string& flag, std::string_view placeholder) {
    std::string& word = args_.words[at_];
    const size_t equals = word.find('=');
    const bool joined = equals != std::string::npos;
    if (!joined && at_ + 1 == args_.words.size()) {
      Mistake(flag, "has no value");
      return std::nullopt;
    }
    std::string& place = joined ? word : args_.words[++at_];
    const std::string value = joined ? word.substr(equals + 1) : place;
    if (std::find(taken_.begin(), taken_.end(), flag) != taken_.end())
      Mistake(flag, "stands twice; keep one");
    taken_.push_back(flag);
    if (value.empty()) Mistake(flag, "has an empty value");
    if (!placeholder.empty()) {
      place = (joined ? word.substr(0, equals + 1) : "") + std::string(placeholder);
    }
    return value;
  }

  void Degree(const std::string& flag, int& degree, std::string_view placeholder) {
    const auto value = Take(flag == "-tp"   ? "--tensor-parallel-size"
                            : flag == "-pp" ? "--pipeline-parallel-size"
                            : flag == "-dp" ? "--data-parallel-size"
                                            : flag,
                            placeholder);
    if (!value) return;
    if (const auto number = ParseDegree(*value)) {
      degree = *number;
    } else {
      Mistake(flag, fmt::format("must be a whole number between 1 and {}, got {}", kMostRanks, *value));
    }
  }

  void Text(const std::string& flag, std::string& text, std::string_view placeholder) {
    if (auto value = Take(flag, placeholder)) text = std::move(*value);
  }

  void Host() {
    const auto value = Take("--host", "");
    if (!value || std::find(kReachable.begin(), kReachable.end(), *value) != kReachable.end()) return;
    Mistake("--host", fmt::format("is {}, but assay asks 127.0.0.1; remove it", *value));
  }

  void Mistake(std::string_view flag, std::string_view what) {
    reading_.mistakes.Add(mark_, path_, fmt::format("{}: {}", flag, what));
  }

  const Mark& mark_;
  const std::string& path_;
  Reading& reading_;
  ServerArgs args_;
  size_t at_ = 0;
  int pipeline_ = 1, data_ = 1;
  std::vector<std::string> taken_;
};

bool Has(const std::vector<std::string>& words, std::string_view flag) {
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return FlagName(word) == flag; });
}

}  // namespace

std::string FlagName(std::string_view argument) {
  return ReplaceAll(std::string(argument.substr(0, argument.find('='))), "_", "-");
}

Value<ServerArgs> ServerArgsValue() {
  Value<ServerArgs> value;
  value.type = kType;
  value.schema = {{"type", "string"}};
  value.read = [](const YamlNode& node, const Where& where, Reading& reading) -> std::optional<ServerArgs> {
    if (node.kind == YamlNode::Kind::kNull) return ServerArgs();
    if (node.kind != YamlNode::Kind::kScalar) {
      AddWrongType(kType, node, where, reading);
      return std::nullopt;
    }
    auto words = ShellWords(node.text);
    if (!words) {
      reading.mistakes.Add(node.mark, where.path,
                           words.error().message + "; arguments are split as a shell would");
      return std::nullopt;
    }
    return ArgsReader(node.mark, where.path, reading).Read(std::move(*words));
  };
  value.write = [](const ServerArgs&, Form) { return Json(); };
  return value;
}

EngineConfig VllmEngine(const std::string& model, const ServerArgs& args,
                        const std::vector<std::string>& always) {
  EngineConfig engine;
  engine.kind = EngineKind::kCommand;
  engine.model = model;
  engine.model_id = args.model_id;
  engine.tokenizer = args.tokenizer;
  engine.moe_backend = args.moe_backend;
  engine.tensor_parallel_size = args.tensor_parallel_size;
  if (args.gpus != args.tensor_parallel_size) engine.gpus = args.gpus;
  engine.argv = {"vllm", "serve", "{model}"};
  engine.argv.insert(engine.argv.end(), args.words.begin(), args.words.end());
  for (const std::string& flag : always) {
    if (!Has(args.words, flag)) engine.argv.push_back(flag);
  }
  if (!Has(args.words, "--host")) engine.argv.insert(engine.argv.end(), {"--host", "{host}"});
  engine.argv.insert(engine.argv.end(), {"--port", "{port}", "--seed", "0"});
  return engine;
}

}  // namespace assay::runner
