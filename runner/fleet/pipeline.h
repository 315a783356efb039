#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"

// Cells as jobs of an engine that schedules. assay never does: it writes the engine's own file, every job
// runs `assay run ... --cell KEY`, and one last job runs `assay merge`, which decides.
namespace assay::runner {

struct FleetCell {
  std::string key;         // [a-z0-9_.-]
  std::string hardware;    // "gfx950"
  int gpus = 0;            // that its server takes; 0 on a CPU
  std::string config;      // the file that describes it, as it was named
  std::string suite = {};  // "" when none was asked for
};

struct SlurmOptions {
  std::string partition, account, constraint;  // "" leaves it to the cluster
  std::string gpu_option = "gpus-per-node";    // or "gres": some clusters take only one of them
  int max_parallel = 0;                        // tasks of an array at once; 0 is no limit
};

struct KubernetesOptions {
  std::string image = "assay:latest";
  std::string name_space = "default";
  std::string claim = "assay-results";  // the persistent volume claim that results go to
};

// What every emitter takes.
struct Pipeline {
  std::string name = "assay";            // of workflows, jobs and groups: [a-z0-9-]
  std::vector<FleetCell> cells;          // in the order of the plan
  std::vector<std::string> run_words;    // "assay run configs --suite smoke": --cell and --out are added
  std::vector<std::string> cells_words;  // "assay ci emit --to cells ...": prints CellsTable once more
  std::vector<std::string> emit_words;   // "assay ci emit --to github ...": what made these files
  std::vector<std::string> merge_words;  // "assay merge": folders, --expect and --out are added
  std::vector<std::string> setup;        // shell lines that every job begins with
  int timeout_minutes = 60;              // of a cell
  // Where cells of a hardware run, in the engine's words: agent tags, runner labels, sbatch options, node
  // labels. Without an entry the hardware's own name is it. "report" is the last job.
  std::map<std::string, std::vector<std::string>> runners;
  SlurmOptions slurm;
  KubernetesOptions kubernetes;
};

struct EmittedFile {
  std::string name;  // relative to the folder that takes all of them
  std::string text;
};

// The files, in the order in which they are to be handed to the engine. Pure: the same pipeline gives the
// same bytes.
std::vector<EmittedFile> EmitCells(const Pipeline& pipeline);
std::vector<EmittedFile> EmitBuildkite(const Pipeline& pipeline);
std::vector<EmittedFile> EmitGithub(const Pipeline& pipeline);
std::vector<EmittedFile> EmitGitlab(const Pipeline& pipeline);
std::vector<EmittedFile> EmitSlurm(const Pipeline& pipeline);
std::vector<EmittedFile> EmitKubernetes(const Pipeline& pipeline);

struct CiTarget {
  std::string_view name;
  std::string_view description;
  std::vector<EmittedFile> (*emit)(const Pipeline&);
  size_t max_file_bytes = 0;  // where the engine has such a limit that chunks cannot keep; 0: none
};

// Every engine there is; --to, its help and the tests walk it.
const std::vector<CiTarget>& CiTargets();

// ---- what emitters share

// One cell a line: key, hardware, GPUs, config, suite; tabs between. `assay merge --expect` reads it.
std::string CellsTable(const std::vector<FleetCell>& cells);
// Of a line only the key has to be there, so that a list by hand will do. kUsage, with the line, for one
// without a key, a key that is there twice, and a table of nothing.
Result<std::vector<FleetCell>> ReadCellsTable(const Path& file);

// Cells that one kind of machine runs, in the order of the plan.
struct CellGroup {
  std::string hardware;
  int gpus = 0;
  std::string name;  // "gfx950-8", "cpu": [a-z0-9-]
  std::vector<FleetCell> cells;
};
// At most `limit` cells each; a kind of machine with more has several groups.
std::vector<CellGroup> GroupByMachine(const std::vector<FleetCell>& cells, size_t limit);

// Consecutive pieces of at most `limit`.
std::vector<std::vector<FleetCell>> Chunks(const std::vector<FleetCell>& cells, size_t limit);

// The folder that jobs leave their results in, of checkouts that one job has for itself.
inline constexpr char kResultsFolder[] = "assay-out";

// The shell lines that measure one cell once. `key`, `attempt` and `out` are shell text, already quoted: a
// key or "$KEY", a name that differs from attempt to attempt. They leave <out>/<key>/<attempt> with what
// `assay run` writes, and beside it `started` (UTC) and `exit_code`; a job that was killed leaves no
// exit_code, which `assay merge` counts as a machine that was lost. The shell variable `code` holds the exit
// code after them.
std::vector<std::string> MeasureLines(const Pipeline& pipeline, const std::string& key,
                                      const std::string& attempt, const std::string& out = "out");
// The shell lines that merge what lies below `out` (shell text); `code` holds the fleet's exit code after
// them.
std::vector<std::string> ReportLines(const Pipeline& pipeline, const std::string& out = kResultsFolder);

std::string JoinLines(const std::vector<std::string>& lines, std::string_view indent = "");

// Where cells of this hardware run, or `fallback` where nobody said.
std::vector<std::string> RunnerOf(const Pipeline& pipeline, const std::string& hardware,
                                  std::vector<std::string> fallback);

}  // namespace assay::runner
