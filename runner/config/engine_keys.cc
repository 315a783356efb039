#include <algorithm>
#include <array>

#include "base/text.h"
#include "runner/config/config_file.h"
#include "runner/config/server_args.h"

namespace assay::runner {
namespace {

// Flags of the bundled engine that other keys, or assay itself, decide.
struct OwnedFlag {
  std::string_view flag;
  std::string_view instead;
};
constexpr std::array kOwnedFlags = {
    OwnedFlag{"--port", "assay chooses the port; remove it"},
    OwnedFlag{"-p", "assay chooses the port; remove it"},
    OwnedFlag{"--host", "assay decides where the engine listens; remove it"},
    OwnedFlag{"--seed", "assay sets the seed so that runs can be compared; remove it"},
    OwnedFlag{"--model", "write engine.model"},
    OwnedFlag{"--served-model-name", "write engine.model_id"},
    OwnedFlag{"--tokenizer", "write engine.tokenizer"},
    OwnedFlag{"--tensor-parallel-size", "write engine.tensor_parallel_size"},
    OwnedFlag{"-tp", "write engine.tensor_parallel_size"},
    OwnedFlag{"--moe-backend", "write engine.moe_backend"},
};

constexpr std::array<std::string_view, 6> kPlaceholders = {"port",      "host", "model",
                                                           "tokenizer", "tp",   "moe_backend"};
const std::vector<std::string>& BundledMoeBackends() {
  static const std::vector<std::string> names = {"reference", "grouped", "fused"};
  return names;
}

void CheckExtraArgs(const YamlNode& list, const std::string& path, Reading& reading) {
  for (size_t i = 0; i < list.items.size(); ++i) {
    const std::string flag = FlagName(list.items[i].text);
    for (const OwnedFlag& owned : kOwnedFlags) {
      if (flag != owned.flag) continue;
      reading.mistakes.Add(list.items[i].mark, fmt::format("{}[{}]", path, i),
                           fmt::format("{} is not for extra_args; {}", list.items[i].text, owned.instead));
    }
  }
}

bool Uses(const std::vector<std::string>& arguments, std::string_view placeholder) {
  const std::string braced = fmt::format("{{{}}}", placeholder);
  return std::any_of(arguments.begin(), arguments.end(),
                     [&](const std::string& argument) { return argument.find(braced) != std::string::npos; });
}

// "{prot}" in an argument; JSON such as {"a": 1} is no placeholder.
void CheckPlaceholders(const YamlNode& list, const std::string& path, Reading& reading) {
  const std::vector<std::string> known(kPlaceholders.begin(), kPlaceholders.end());
  for (size_t i = 0; i < list.items.size(); ++i) {
    const std::string& text = list.items[i].text;
    for (size_t open = text.find('{'); open != std::string::npos; open = text.find('{', open + 1)) {
      const size_t close = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", open + 1);
      if (close == std::string::npos || text[close] != '}' || close == open + 1) continue;
      const std::string word = text.substr(open + 1, close - open - 1);
      if (std::find(known.begin(), known.end(), word) != known.end()) continue;
      if (const auto nearest = NearestWord(word, known)) {
        reading.mistakes.Add(list.items[i].mark, fmt::format("{}[{}]", path, i),
                             fmt::format("{{{}}} is no placeholder; did you mean {{{}}}?", word, *nearest));
      }
    }
  }
}

void CheckBundled(const YamlNode& node, const std::string& path, Reading& reading) {
  if (const YamlNode* argv = node.Find("argv")) {
    reading.mistakes.Add(argv->mark, JoinPath(path, "argv"),
                         "is for kind: command; the bundled engine takes further flags in extra_args");
  }
  if (const YamlNode* extra = node.Find("extra_args")) {
    CheckExtraArgs(*extra, JoinPath(path, "extra_args"), reading);
  }
  if (const YamlNode* backend = node.Find("moe_backend")) {
    ReadChoice(ChoiceType(BundledMoeBackends()), BundledMoeBackends(), *backend,
               {JoinPath(path, "moe_backend"), "grouped"}, reading);
  }
}

void CheckCommand(const YamlNode& node, const std::string& path, const EngineConfig& engine,
                  Reading& reading) {
  if (const YamlNode* binary = node.Find("binary")) {
    reading.mistakes.Add(binary->mark, JoinPath(path, "binary"),
                         "is for kind: bundled; write the server's program in argv");
  }
  const YamlNode* argv = node.Find("argv");
  if (argv == nullptr || argv->items.empty()) {
    reading.mistakes.Add(argv != nullptr ? argv->mark : node.mark, JoinPath(path, "argv"),
                         "is missing; kind: command needs the server's command line, for example [vllm, "
                         "serve, \"{model}\", --port, \"{port}\"]");
    return;
  }
  CheckPlaceholders(*argv, JoinPath(path, "argv"), reading);
  if (const YamlNode* extra = node.Find("extra_args")) {
    CheckPlaceholders(*extra, JoinPath(path, "extra_args"), reading);
  }
  if (!Uses(engine.argv, "port") && !Uses(engine.extra_args, "port")) {
    reading.mistakes.Add(argv->mark, JoinPath(path, "argv"),
                         "has no {port}; assay chooses a free port, so write for example --port, \"{port}\"");
  }
  const auto check_used = [&](const char* key, const char* placeholder) {
    if (Uses(engine.argv, placeholder) || Uses(engine.extra_args, placeholder)) return;
    reading.mistakes.Add(
        node.Find(key)->mark, JoinPath(path, key),
        fmt::format("is not used by argv; put {{{}}} where the server's flag takes it", placeholder));
  };
  if (engine.tensor_parallel_size != EngineConfig().tensor_parallel_size)
    check_used("tensor_parallel_size", "tp");
  if (!engine.tokenizer.empty()) check_used("tokenizer", "tokenizer");
  if (!engine.moe_backend.empty()) check_used("moe_backend", "moe_backend");
}

void CheckEngine(const YamlNode& node, const std::string& path, const EngineConfig& engine,
                 Reading& reading) {
  if (engine.kind == EngineKind::kBundled) {
    CheckBundled(node, path, reading);
  } else {
    CheckCommand(node, path, engine, reading);
  }
  if (engine.ready_path.front() != '/') {
    reading.mistakes.Add(node.Find("ready_path")->mark, JoinPath(path, "ready_path"),
                         fmt::format("must start with /, got {}; for example /health", engine.ready_path));
  }
}

}  // namespace

const Section<EngineConfig>& EngineSection() {
  using E = EngineConfig;
  static const Section<E> section = {
      "engine",
      "The server to launch.",
      {
          {"kind", &E::kind,
           OneOfEnum<EngineKind>({{"bundled", EngineKind::kBundled}, {"command", EngineKind::kCommand}}),
           "`bundled` is assay-engine, `command` any OpenAI-compatible server.", "bundled"},
          {"model", &E::model, ModelName(),
           "Model folder (see *Paths*); a server of `kind: command` may take a model id of a hub instead.",
           "openai/gpt-oss-20b", kRequired},
          {"tokenizer", &E::tokenizer, ModelName(),
           "Tokenizer to use instead of the model's own, for models whose `tokenizer_class` cannot be "
           "loaded.",
           "openai/gpt-oss-20b"},
          {"model_id", &E::model_id, Text(),
           "Name that `/v1/models` must list. Default: the last part of `model` for `bundled`, all of it for "
           "`command`.",
           "gpt-oss-20b"},
          {"tensor_parallel_size", &E::tensor_parallel_size, Integer<int>(1, 1024),
           "Tensor-parallel degree: flag of the bundled engine, `{tp}` of a command.", "2"},
          {"gpus", &E::gpus, Integer<int>(1, 1024),
           "GPUs that the server takes, for servers that split work in more ways than tensor-parallel. "
           "Default: `tensor_parallel_size`.",
           "8", kNotMeasured},
          {"moe_backend", &E::moe_backend, Text(),
           "Expert kernels. `bundled`: reference, grouped or fused; a `command` gets it as `{moe_backend}`. "
           "Default: the server's choice.",
           "grouped"},
          {"argv", &E::argv, ListOf(Text(), "a list of arguments, one item each"),
           "Program and arguments of a `command`. `{port}` `{host}` `{model}` `{tokenizer}` `{tp}` "
           "`{moe_backend}` are filled in; `{port}` must be there.",
           "[vllm, serve, \"{model}\", --port, \"{port}\"]"},
          {"extra_args", &E::extra_args, ListOf(Text(), "a list of arguments, one item each"),
           "Arguments appended to the command line; so that files which share `argv` through `extends` can "
           "differ. For `bundled`, flags that other keys or assay decide (port, seed, model ...) are "
           "refused.",
           "[--max-num-seqs, 64]"},
          {"binary", &E::binary, Text(), "Path of assay-engine. Default: the one beside `assay`.",
           "build/release/bin/assay-engine", kNotMeasured},
          {"env", &E::env, Environment(),
           "Environment variables added for the server. Values are kept as their source text: `1`, `\"1\"`, "
           "`true`, `on`.",
           "{HIP_VISIBLE_DEVICES: \"0,1\"}"},
          {"ready_path", &E::ready_path, Text(), "Path that answers 2xx once the server is up.", "/health",
           kNotMeasured},
          {"ready_timeout_s", &E::ready_timeout_s, Number({0, 86400, true}),
           "Seconds until the first real token; longer is a failed start.", "1800", kNotMeasured},
          {"stop_timeout_s", &E::stop_timeout_s, Number({0, 3600}), "Seconds between TERM and KILL.", "15",
           kNotMeasured},
          {"hang_timeout_s", &E::hang_timeout_s, Number({0, 86400, true}),
           "Requests in flight and no token anywhere for so many seconds is a hang.", "120", kNotMeasured},
      },
      CheckEngine,
  };
  return section;
}

}  // namespace assay::runner
