#include "engine/model_flags.h"

namespace assay::engine {
namespace {

template <typename Value>
struct Choice {
  const char* name;
  Value value;
};
constexpr Choice<Device> kDevices[] = {{"cpu", Device::kCpu}, {"gpu", Device::kGpu}};
constexpr Choice<MoeBackend> kMoeBackends[] = {
    {"reference", MoeBackend::kReference}, {"grouped", MoeBackend::kGrouped}, {"fused", MoeBackend::kFused}};
constexpr Choice<Activations> kActivations[] = {
    {"bf16", Activations::kBf16}, {"bf16-pair", Activations::kBf16Pair}, {"int8", Activations::kInt8}};
constexpr Choice<DenseDtype> kDenseDtypes[] = {{"bf16", DenseDtype::kBf16}, {"int8", DenseDtype::kInt8}};

template <typename Value, size_t n>
Status CheckChoice(const char* flag, const std::string& word, const Choice<Value> (&choices)[n]) {
  std::vector<std::string> words;
  for (const auto& choice : choices) words.push_back(choice.name);
  return CheckWord(flag, word, words);
}

template <typename Value, size_t n>
Value Chosen(const std::string& word, const Choice<Value> (&choices)[n]) {
  for (const auto& choice : choices) {
    if (word == choice.name) return choice.value;
  }
  return choices[0].value;
}

}  // namespace

void DeclareModelFlags(CLI::App& app, ModelFlags& flags) {
  app.add_option("--model", flags.model);
  app.add_option("--device", flags.device);
  app.add_option("--moe-backend", flags.moe_backend);
  app.add_option("--activations", flags.activations);
  app.add_option("--dense-dtype", flags.dense_dtype);
  app.add_option("--tensor-parallel-size", flags.tensor_parallel_size);
  app.add_option("--threads", flags.threads);
  app.add_flag("--batch-invariant,!--no-batch-invariant", flags.batch_invariant);
}

Status CheckModelFlags(const ModelFlags& flags) {
  if (flags.model.empty()) return BadFlag("--model FOLDER is missing");
  RETURN_IF_ERROR(CheckRanges({{"--tensor-parallel-size", flags.tensor_parallel_size, 1, 64},
                               {"--threads", flags.threads, 0, 1024}}));
  RETURN_IF_ERROR(CheckChoice("--device", flags.device, kDevices));
  RETURN_IF_ERROR(CheckChoice("--moe-backend", flags.moe_backend, kMoeBackends));
  RETURN_IF_ERROR(CheckChoice("--activations", flags.activations, kActivations));
  RETURN_IF_ERROR(CheckChoice("--dense-dtype", flags.dense_dtype, kDenseDtypes));
  const bool plain =
      flags.activations == ModelFlags{}.activations && flags.dense_dtype == ModelFlags{}.dense_dtype;
  if (flags.moe_backend == "reference" && !plain) {
    return BadFlag(
        "--activations and --dense-dtype: the reference backend computes in float32; leave them out");
  }
  return {};
}

ModelOptions ToModelOptions(const ModelFlags& flags) {
  ModelOptions options;
  options.tensor_parallel_size = flags.tensor_parallel_size;
  options.threads = flags.threads;
  options.device = Chosen(flags.device, kDevices);
  options.batch_invariant = flags.batch_invariant;
  options.moe_backend = Chosen(flags.moe_backend, kMoeBackends);
  options.activations = Chosen(flags.activations, kActivations);
  options.dense_dtype = Chosen(flags.dense_dtype, kDenseDtypes);
  return options;
}

}  // namespace assay::engine
