#include <algorithm>

#include "base/text.h"
#include "evals/gpqa/gpqa.h"
#include "runner/plan/engine_build.h"
#include "runner/plan/machine.h"
#include "runner/plan/plan.h"
#include "runner/plan/resolve.h"

namespace assay::runner {
namespace {

// Problems of one cell, each with the key it belongs to; the exit code follows the first kind in this order.
class Problems {
 public:
  explicit Problems(const Config& config) : config_(config) {}

  void Add(ErrorKind kind, std::string_view what) {
    list_.push_back({kind, fmt::format("{}: {}", config_.file.string(), what)});
  }
  void Add(const Status& status) {
    if (!status) Add(status.error().kind, status.error().message);
  }

  Status Outcome() const {
    if (list_.empty()) return {};
    std::vector<std::string> lines;
    for (const Error& problem : list_) lines.push_back(problem.message);
    return tl::unexpected(Error{list_.front().kind, Join(lines, "\n")});
  }

 private:
  const Config& config_;
  std::vector<Error> list_;
};

bool IsFolder(const Path& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

std::string ModelsAdvice(const std::string& text, const Surroundings& here) {
  if (IsExplicitPath(text)) return "correct the path";
  return here.models
             ? fmt::format("put the model there ($ASSAY_MODELS is {})", here.models->string())
             : fmt::format("put the model there, or set ASSAY_MODELS to the folder that holds {}", text);
}

// The bundled engine loads from folders only. Other servers may fetch a model id themselves, so that only a
// path can be found missing.
void CheckModelFolder(const std::string& key, const std::string& text, const char* file, const Cell& cell,
                      const Surroundings& here, Problems& problems) {
  const bool bundled = cell.config.engine.kind == EngineKind::kBundled;
  const Found found = FindModel(text, cell.config.file, here);
  if (!found.path) {
    if (!bundled && !IsExplicitPath(text)) return;
    problems.Add(ErrorKind::kUsage, fmt::format("{}: {} is not on this machine; {}; {}", key, text,
                                                LookedIn(found.looked), ModelsAdvice(text, here)));
    return;
  }
  if (!bundled) return;
  std::error_code ignored;
  if (!IsFolder(*found.path)) {
    problems.Add(ErrorKind::kUsage, fmt::format("{}: {} is a file; name the folder that holds {}", key,
                                                found.path->string(), file));
  } else if (!std::filesystem::exists(*found.path / file, ignored)) {
    problems.Add(ErrorKind::kUsage,
                 fmt::format("{}: {} has no {}; it is no {} folder, or the download did not finish", key,
                             found.path->string(), file, key == "engine.model" ? "model" : "tokenizer"));
  }
}

// Where the hardware is another, its engine is not this machine's either.
void CheckProgram(const Cell& cell, bool hardware_is_here, const Surroundings& here, const Probe& probe,
                  Problems& problems) {
  const std::string& program = cell.launch.argv.front();
  const Found found = FindProgram(program, here);
  const bool bundled = cell.config.engine.kind == EngineKind::kBundled;
  const char* key = !bundled                            ? "engine.argv[0]"
                    : cell.config.engine.binary.empty() ? "engine.kind"
                                                        : "engine.binary";
  if (!found.path) {
    problems.Add(ErrorKind::kInfrastructure,
                 fmt::format("{}: no program {} to start; {}", key, program,
                             bundled ? "build it (make build), or name another one in engine.binary"
                                     : "install the server, or put its folder into PATH"));
  } else if (bundled && hardware_is_here) {
    const Status built = CheckEngineBuild(found.path->string(), cell.config.hardware, probe);
    if (!built) problems.Add(built.error().kind, fmt::format("{}: {}", key, built.error().message));
  }
}

std::string GpqaAdvice(const std::string& variant, const Path& file) {
  return fmt::format(
      "evals.gpqa.variant: {} is not on this machine: no file {}; download dataset.zip from "
      "github.com/idavidrein/gpqa and run `assay data gpqa --from dataset.zip`, or set ASSAY_DATA to the "
      "folder "
      "that holds gpqa/",
      variant, file.string());
}

void CheckData(const Cell& cell, Problems& problems) {
  for (const evals::ServingOptions& serving : cell.config.evals.serving) {
    if (const Status checked = evals::CheckFiles(serving); !checked) {
      problems.Add(ErrorKind::kUsage,
                   fmt::format("evals.serving {}: {}", serving.name, checked.error().message));
    }
  }
  const auto& gpqa = cell.config.evals.gpqa;
  if (!gpqa) return;
  const std::string& variant = cell.config.evals.gpqa_variant;
  std::error_code ignored;
  if (!variant.empty() && !std::filesystem::exists(gpqa->dataset, ignored)) {
    problems.Add(ErrorKind::kUsage, GpqaAdvice(variant, gpqa->dataset));
    return;
  }
  if (const auto checked = evals::CheckGpqa(*gpqa); !checked) {
    const std::string& message = checked.error().message;
    const char* key = StartsWith(message, gpqa->prompt) || StartsWith(message, "prompt ")
                          ? "evals.gpqa.prompt: "
                      : variant.empty() ? "evals.gpqa.dataset: "
                                        : "evals.gpqa.variant: ";
    problems.Add(ErrorKind::kUsage, key + message);
  }
}

// What the bundled engine cannot do, found here and not by its death.
void CheckBundledEngine(const Config& config, Problems& problems) {
  if (config.engine.kind != EngineKind::kBundled) return;
  const bool gpu = config.hardware != "cpu";
  const std::string& backend = config.engine.moe_backend;
  if (backend == (gpu ? "reference" : "fused")) {
    problems.Add(ErrorKind::kUsage,
                 fmt::format("engine.moe_backend: {}: the bundled engine has {}", backend,
                             gpu ? "grouped and fused on a GPU" : "reference and grouped on a CPU"));
  }
  if (gpu && backend == "fused" && config.engine.tensor_parallel_size > 1) {
    problems.Add(
        ErrorKind::kUsage,
        fmt::format("engine.moe_backend: fused: on {} GPUs the bundled engine computes as by grouped, "
                    "which would be measured under this name; set tensor_parallel_size 1, or grouped",
                    config.engine.tensor_parallel_size));
  }
}

void CheckPinnedBaseline(const Config& config, Problems& problems) {
  const std::string& file = config.gate.baseline.pinned_file;
  std::error_code ignored;
  if (file.empty() || std::filesystem::exists(file, ignored)) return;
  problems.Add(
      ErrorKind::kUsage,
      fmt::format("gate.baseline.pinned_file: no file {}; correct the path, or record one with `assay "
                  "baseline show RUN`",
                  file));
}

Status CheckHardwareOf(const Cell& cell, const Machine& machine) {
  const EngineConfig& engine = cell.config.engine;
  return CheckHardware(cell.config.hardware, engine.gpus.value_or(engine.tensor_parallel_size), machine);
}

// All but the program.
void CheckAround(const Cell& cell, const Machine& machine, const Surroundings& here, Problems& problems) {
  const EngineConfig& engine = cell.config.engine;
  const Status hardware = CheckHardwareOf(cell, machine);
  problems.Add(hardware);
  if (hardware) CheckBundledEngine(cell.config, problems);
  CheckModelFolder("engine.model", engine.model, "config.json", cell, here, problems);
  if (!engine.tokenizer.empty()) {
    CheckModelFolder("engine.tokenizer", engine.tokenizer, "tokenizer.json", cell, here, problems);
  }
  CheckData(cell, problems);
}

}  // namespace

Status Preflight(const Cell& cell, const Machine& machine, const Surroundings& here, const Probe& probe) {
  Problems problems(cell.config);
  CheckAround(cell, machine, here, problems);
  CheckPinnedBaseline(cell.config, problems);
  CheckProgram(cell, CheckHardwareOf(cell, machine).has_value(), here, probe, problems);
  return problems.Outcome();
}

Status PreflightBeforeBuild(const Cell& cell) {
  Problems problems(cell.config);
  CheckAround(cell, DetectMachine(Probe::OfThisMachine()), Surroundings::OfThisProcess(), problems);
  return problems.Outcome();
}

Status PreflightOfEvals(const Cell& cell) {
  Problems problems(cell.config);
  CheckData(cell, problems);
  return problems.Outcome();
}

Status Preflight(const Cell& cell) {
  const Probe probe = Probe::OfThisMachine();
  return Preflight(cell, DetectMachine(probe), Surroundings::OfThisProcess(), probe);
}

record::Fingerprint DetectFingerprint(const std::string& hardware) {
  return ToFingerprint(DetectMachine(Probe::OfThisMachine()), hardware);
}

}  // namespace assay::runner
