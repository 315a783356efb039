#include "engine/serve.h"

#include <assay_version.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/log.h"
#include "base/planted_fault.h"
#include "base/text.h"
#include "engine/cache/cache_plan.h"
#include "engine/memory_budget.h"
#include "engine/model/device.h"
#include "engine/scheduler/scheduler.h"
#include "engine/server/http_server.h"
#include "engine/server/service.h"

namespace assay::engine {
namespace {

constexpr std::chrono::milliseconds kAnswersGrace{500};
constexpr std::chrono::milliseconds kStepGrace{500};

struct Vocabulary {
  tokenizer::Tokenizer tokenizer;
  tokenizer::HarmonyTokens harmony;
};

std::string ServedName(const ServeFlags& flags) {
  if (Planted(Fault::kWrongModel)) return "another-model";
  if (!flags.served_model_name.empty()) return flags.served_model_name;
  return std::filesystem::absolute(flags.model).lexically_normal().filename().string();
}

Error UnusableTokenizer(Error error) {
  constexpr std::string_view kBegins = "unusable tokenizer: ";
  if (!StartsWith(error.message, kBegins)) error.message = std::string(kBegins) + error.message;
  if (error.message.find("--tokenizer") == std::string::npos) {
    error.message += "; --tokenizer FOLDER gives another";
  }
  error.kind = ErrorKind::kUsage;
  return error;
}

// The tokenizer of the model or of --tokenizer, if it fits the model.
Result<Vocabulary> LoadVocabulary(const ServeFlags& flags, const ModelConfig& config) {
  const Path folder = flags.tokenizer.empty() ? flags.model : flags.tokenizer;
  auto tokenizer = tokenizer::Tokenizer::Load(folder);
  if (!tokenizer) return tl::unexpected(UnusableTokenizer(tokenizer.error()));
  std::string file = (folder / "tokenizer.json").string();
  if (!tokenizer->ClassName().empty()) file += fmt::format(" (class {})", tokenizer->ClassName());
  if (tokenizer->Size() > config.vocab_size) {
    return tl::unexpected(UnusableTokenizer(
        {ErrorKind::kUsage, fmt::format("{}: has ids up to {}, and the model's embedding has {} rows", file,
                                        tokenizer->Size() - 1, config.vocab_size)}));
  }
  const auto harmony = tokenizer::FindHarmonyTokens(*tokenizer);
  if (!harmony) {
    return tl::unexpected(
        UnusableTokenizer({ErrorKind::kUsage, fmt::format("{}: {}", file, harmony.error().message)}));
  }
  return Vocabulary{std::move(*tokenizer), *harmony};
}

// The model's end tokens, and harmony's, which older generation_config.json files name in part only.
GenerationConfig WithHarmonyEnds(GenerationConfig generation, const tokenizer::HarmonyTokens& harmony) {
  for (const int32_t id : {harmony.return_, harmony.call, harmony.end_of_text}) {
    auto& ids = generation.eos_token_ids;
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  }
  return generation;
}

// A thousand streams are a thousand descriptors.
void RaiseDescriptorLimit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

void PrintReadyLine(const ServeFlags& flags, const HttpServer& http, const Model& model,
                    const tokenizer::Tokenizer& tokenizer) {
  nlohmann::ordered_json line;
  line["event"] = "ready";
  line["port"] = http.Port();
  line["pid"] = ::getpid();
  line["model"] = ServedName(flags);
  line["model_hash"] = model.WeightsHash();
  line["tokenizer_hash"] = tokenizer.Hash();
  line["version"] = std::string(ASSAY_VERSION) += PlantedVersion();
  line["commit"] = ASSAY_COMMIT;
  line["versions"] = {{"compiler", __VERSION__}};
  line["tensor_parallel_size"] = flags.tensor_parallel_size;
  line["moe_backend"] = flags.moe_backend;
  line["device"] = flags.device;
  constexpr auto kReplaceBadUtf8 = nlohmann::ordered_json::error_handler_t::replace;
  fmt::print("{}\n", line.dump(-1, ' ', false, kReplaceBadUtf8));
  std::fflush(stdout);
}

// A step of a large model may take seconds, and after the last answer it computes for nobody.
void ExitUnlessDoneWithin(std::chrono::milliseconds time) {
  std::thread([time] {
    std::this_thread::sleep_for(time);
    std::_Exit(kExitOk);
  }).detach();
}

ModelOptions ToModelOptions(const ServeFlags& flags, const CachePlan& cache) {
  ModelOptions options = ToModelOptions(static_cast<const ModelFlags&>(flags));
  options.max_batch_tokens = flags.max_num_batched_tokens;
  options.max_requests = flags.max_num_seqs;
  options.block_size = flags.block_size;
  options.num_blocks = cache.num_blocks;
  options.num_sliding_blocks = cache.num_sliding_blocks;
  options.max_positions = cache.max_model_len;
  options.graph_replay = !flags.enforce_eager;
  options.poison_padding |= Planted(Fault::kPaddingNan);
  return options;
}

Result<MemoryLimit> MemoryFor(const ModelOptions& options) {
  if (options.device == Device::kCpu) return AvailableMemory();
  ASSIGN_OR_RETURN(const int64_t bytes, FreeDeviceMemory(options.tensor_parallel_size));
  return MemoryLimit{bytes, options.tensor_parallel_size == 1 ? "the GPU" : "the GPUs together"};
}

// Before gigabytes are read for nothing. Where the system does not say what it has, nothing is refused.
Status CheckMemoryOfThisMachine(const Path& folder, const ModelConfig& config, const ModelOptions& options,
                                int64_t cache_bytes) {
  const auto limit = MemoryFor(options);
  if (!limit && options.device == Device::kGpu) return tl::unexpected(limit.error());
  if (!limit) {
    spdlog::warn("memory is not checked: {}", limit.error().message);
    return {};
  }
  return CheckMemory(EstimateMemory(folder, config, options, cache_bytes), *limit);
}

SchedulerOptions ToSchedulerOptions(const ServeFlags& flags, const CachePlan& cache) {
  SchedulerOptions options;
  options.max_num_seqs = flags.max_num_seqs;
  options.max_num_batched_tokens = flags.max_num_batched_tokens;
  options.max_model_len = cache.max_model_len;
  options.block_size = flags.block_size;
  options.num_blocks = cache.num_blocks;
  options.num_sliding_blocks = cache.num_sliding_blocks;
  options.enable_prefix_caching = flags.enable_prefix_caching;
  options.enforce_eager = flags.enforce_eager;
  return options;
}

ServiceOptions ToServiceOptions(const ServeFlags& flags, const GenerationConfig& generation,
                                const ModelConfig& config, const CachePlan& cache) {
  ServiceOptions options;
  options.model_name = ServedName(flags);
  options.api_key = flags.api_key;
  options.harmony.reasoning_effort = flags.reasoning_effort;
  options.harmony.current_date = flags.current_date;
  options.generation = generation;
  options.vocab_size = config.vocab_size;
  options.seed = flags.seed;
  options.metrics_prefix = flags.metrics_prefix;
  options.stall_seconds = flags.stall_seconds;
  options.created = static_cast<int64_t>(std::time(nullptr));
  options.cache = {cache.num_blocks, flags.block_size};
  return options;
}

}  // namespace

Status Serve(const ServeFlags& flags) {
  std::signal(SIGPIPE, SIG_IGN);
  RaiseDescriptorLimit();
  ASSIGN_OR_RETURN(const auto http, HttpServer::Bind(flags.host, flags.port, HttpLimits{}));
  if (flags.host != "127.0.0.1" && flags.host != "localhost" && flags.host != "::1" &&
      flags.api_key.empty()) {
    spdlog::warn("{} can be reached from other machines, and there is no --api-key", flags.host);
  }
  ASSIGN_OR_RETURN(const ModelConfig config, LoadModelConfig(flags.model));
  ASSIGN_OR_RETURN(const Vocabulary vocabulary, LoadVocabulary(flags, config));
  ASSIGN_OR_RETURN(GenerationConfig generation, LoadGenerationConfig(flags.model));
  generation = WithHarmonyEnds(std::move(generation), vocabulary.harmony);
  const CacheWish wish{flags.block_size,
                       flags.kv_cache_blocks,
                       flags.kv_cache_memory_mb,
                       flags.max_model_len,
                       flags.max_num_seqs,
                       flags.max_num_batched_tokens,
                       flags.enable_prefix_caching,
                       KvElementBytes(config, flags.device == "gpu" ? Device::kGpu : Device::kCpu)};
  ASSIGN_OR_RETURN(const CachePlan cache, PlanCache(wish, config));

  const ModelOptions model_options = ToModelOptions(flags, cache);
  if (Status fits = CheckModelOptions(config, model_options); !fits)
    return FailWithin("bad flag", fits.error());
  RETURN_IF_ERROR(CheckMemoryOfThisMachine(flags.model, config, model_options, cache.bytes));

  spdlog::info("loading {}", flags.model);
  ASSIGN_OR_RETURN(const auto model, Model::Load(flags.model, model_options));
  auto scheduler = Scheduler::Start(*model, ToSchedulerOptions(flags, cache));
  Service service(*http, *scheduler, vocabulary.tokenizer, vocabulary.harmony,
                  ToServiceOptions(flags, generation, config, cache));
  http->OnTerminate([&] {
    spdlog::info("stopping");
    service.Stop();
    http->Stop(kAnswersGrace);
  });
  RETURN_IF_ERROR(http->Listen());
  spdlog::info("serving {} on {}:{}: {} + {} KV blocks of {} tokens ({} MB), requests up to {} tokens",
               ServedName(flags), flags.host, http->Port(), cache.num_blocks, cache.num_sliding_blocks,
               flags.block_size, cache.bytes >> 20, cache.max_model_len);
  PrintReadyLine(flags, *http, *model, vocabulary.tokenizer);
  http->Run();
  ExitUnlessDoneWithin(kStepGrace);
  scheduler.reset();
  spdlog::info("stopped");
  return {};
}

int ExitCodeOf(const Error& error) {
  if (error.kind == ErrorKind::kInterrupted) return kExitInterrupted;
  return error.kind == ErrorKind::kUsage ? kExitUsage : kExitSystem;
}

}  // namespace assay::engine
