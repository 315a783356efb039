#include "runner/selftest/bench_cell.h"

#include <spdlog/spdlog.h>

#include "runner/plan/resolve.h"
#include "runner/run/vocabulary.h"

namespace assay::runner {
namespace {

void Seed(uint64_t seed, EvalsConfig& evals) {
  if (evals.gpqa) evals.gpqa->seed = seed;
  for (evals::ServingOptions& serving : evals.serving) serving.seed = seed;
  if (evals.reproducibility) evals.reproducibility->seed = static_cast<int64_t>(seed);
}

}  // namespace

Result<Cell> BenchCell(const SelftestOptions& options, const char* engine, const char* config) {
  const Path file = options.config.empty() ? Path(config) : options.config;
  ASSIGN_OR_RETURN(std::vector<Cell> cells, MakePlan({file}, std::nullopt));
  if (cells.size() != 1)
    return Fail(ErrorKind::kUsage, "{}: the selftest takes one config, and here are {}", file.string(),
                cells.size());
  Cell cell = std::move(cells.front());
  const Path program =
      options.engine.empty() ? Surroundings::OfThisProcess().program_folder / engine : options.engine;
  if (!std::filesystem::exists(program)) {
    return Fail(
        ErrorKind::kUsage,
        "{}: no such program; the tests' build has it (cmake -DASSAY_TESTS=ON, target {}), and --engine "
        "names another",
        program.string(), engine);
  }
  cell.launch.argv.front() = cell.config.engine.binary = program.string();
  Seed(options.seed, cell.config.evals);
  for (const std::string& note : cell.config.notes) spdlog::warn("{}: {}", cell.key, note);
  RETURN_IF_ERROR(Preflight(cell));
  RETURN_IF_ERROR(FillVocabulary(cell));
  return cell;
}

}  // namespace assay::runner
