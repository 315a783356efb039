#include "runner/plan/command_line.h"

#include "base/text.h"

namespace assay::runner {
namespace {

// assay-engine picks a free port itself and announces it, so that nobody can take it in between.
std::vector<std::string> BundledArgv(const Config& config, const Surroundings& here) {
  const EngineConfig& engine = config.engine;
  std::vector<std::string> argv = {
      engine.binary.empty() ? (here.program_folder / "assay-engine").string() : engine.binary, "serve"};
  const auto add = [&](const char* flag, const std::string& value) {
    argv.insert(argv.end(), {flag, value});
  };
  add("--model", engine.model);
  if (!engine.tokenizer.empty()) add("--tokenizer", engine.tokenizer);
  if (!engine.model_id.empty()) add("--served-model-name", engine.model_id);
  if (config.hardware != "cpu") add("--device", "gpu");
  add("--tensor-parallel-size", std::to_string(engine.tensor_parallel_size));
  if (!engine.moe_backend.empty()) add("--moe-backend", engine.moe_backend);
  add("--seed", "0");
  add("--port", "0");
  argv.insert(argv.end(), engine.extra_args.begin(), engine.extra_args.end());
  return argv;
}

std::vector<std::string> CommandArgv(const EngineConfig& engine) {
  std::vector<std::string> argv = engine.argv;
  argv.insert(argv.end(), engine.extra_args.begin(), engine.extra_args.end());
  for (std::string& argument : argv) {
    argument = ReplaceAll(std::move(argument), "{host}", "127.0.0.1");
    argument = ReplaceAll(std::move(argument), "{tp}", std::to_string(engine.tensor_parallel_size));
    argument = ReplaceAll(std::move(argument), "{moe_backend}", engine.moe_backend);
    argument = ReplaceAll(std::move(argument), "{tokenizer}", engine.tokenizer);
    argument = ReplaceAll(std::move(argument), "{model}", engine.model);
  }
  return argv;
}

std::string LastPart(const std::string& folder) {
  const Path path = (Path(folder) / "").lexically_normal().parent_path();
  return path.filename().string();
}

std::string ModelId(const EngineConfig& engine) {
  if (!engine.model_id.empty()) return engine.model_id;
  return engine.kind == EngineKind::kBundled ? LastPart(engine.model) : engine.model;
}

}  // namespace

LaunchPlan MakeLaunchPlan(const Config& config, const Surroundings& here) {
  const EngineConfig& engine = config.engine;
  const bool bundled = engine.kind == EngineKind::kBundled;
  LaunchPlan plan;
  plan.argv = bundled ? BundledArgv(config, here) : CommandArgv(engine);
  plan.env = engine.env;
  plan.model_id = ModelId(engine);
  plan.announces_port = bundled;
  plan.ready_path = engine.ready_path;
  plan.ready_timeout_s = engine.ready_timeout_s;
  plan.stop_timeout_s = engine.stop_timeout_s;
  return plan;
}

}  // namespace assay::runner
