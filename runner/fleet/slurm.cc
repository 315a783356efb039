#include <fmt/format.h>

#include "base/text.h"
#include "runner/fleet/pipeline.h"

// One array job a kind of machine, whose task i measures line i of its part of cells.tsv, and a report job
// after all of them, however they ended.
namespace assay::runner {
namespace {

// MaxArraySize is 1001 unless a cluster says otherwise: indices up to 1000.
constexpr size_t kTasksAnArray = 1000;

std::string Directive(std::string_view option, const std::string& value) {
  return value.empty() ? "" : fmt::format("#SBATCH --{}={}\n", option, value);
}

std::string GpuDirective(const SlurmOptions& slurm, int gpus) {
  if (gpus == 0) return "";
  return slurm.gpu_option == "gres" ? fmt::format("#SBATCH --gres=gpu:{}\n", gpus)
                                    : fmt::format("#SBATCH --{}={}\n", slurm.gpu_option, gpus);
}

// sbatch's own options for a hardware, as they were given.
std::string RunnerDirectives(const Pipeline& pipeline, const std::string& hardware) {
  std::string text;
  for (const std::string& option : RunnerOf(pipeline, hardware, {})) text += "#SBATCH " + option + "\n";
  return text;
}

// The first that fails ends the task, without an exit_code: nothing was measured.
std::string SetupLines(const Pipeline& pipeline) {
  return pipeline.setup.empty() ? "" : "set -e\n" + JoinLines(pipeline.setup, "") + "set +e\n";
}

// `first` is the line of cells.tsv, from 1, that task 0 measures.
std::string MeasureScript(const Pipeline& pipeline, const CellGroup& group, size_t first) {
  const SlurmOptions& slurm = pipeline.slurm;
  std::string text = "#!/bin/bash\n";
  text += Directive("job-name", pipeline.name + "-" + group.name);
  text +=
      Directive("array", fmt::format("0-{}{}", group.cells.size() - 1,
                                     slurm.max_parallel > 0 ? fmt::format("%{}", slurm.max_parallel) : ""));
  text += Directive("partition", slurm.partition);
  text += Directive("account", slurm.account);
  text += Directive("constraint", slurm.constraint);
  text += "#SBATCH --nodes=1\n#SBATCH --ntasks=1\n";
  text += GpuDirective(slurm, group.gpus);
  text += Directive("time", std::to_string(pipeline.timeout_minutes));
  text += "#SBATCH --no-requeue\n";
  text += RunnerDirectives(pipeline, group.hardware);
  text += fmt::format(
      "# usage: sbatch THIS FOLDER RESULTS (submit.sh does it). Task i measures line {} + i of "
      "FOLDER/cells.tsv.\n"
      "fleet=$1\n"
      "results=$2\n"
      "key=$(sed -n \"$(({} + SLURM_ARRAY_TASK_ID))p\" \"$fleet/cells.tsv\" | cut -f 1)\n"
      "[ -n \"$key\" ] || {{ echo \"$fleet/cells.tsv has no line $(({} + SLURM_ARRAY_TASK_ID))\" >&2; exit "
      "2; }}\n",
      first, first, first);
  text +=
      "mkdir -p \"$results/$key\"\n"
      "echo \"${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID\" > \"$results/$key/job\"\n";
  text += SetupLines(pipeline);
  text += "# Only exit code 75 (infrastructure) is worth a second attempt.\n";
  text += "for attempt in 1 2; do\n";
  text += JoinLines(MeasureLines(pipeline, "\"$key\"", "attempt-$attempt", "\"$results\""), "  ");
  text += "  [ \"$code\" -eq 75 ] || break\ndone\nexit \"$code\"\n";
  return text;
}

std::string ReportScript(const Pipeline& pipeline) {
  std::string text = "#!/bin/bash\n";
  text += Directive("job-name", pipeline.name + "-report");
  text += Directive("partition", pipeline.slurm.partition);
  text += Directive("account", pipeline.slurm.account);
  text += "#SBATCH --nodes=1\n#SBATCH --ntasks=1\n#SBATCH --time=30\n#SBATCH --no-requeue\n";
  text += RunnerDirectives(pipeline, "report");
  text +=
      "# usage: sbatch THIS FOLDER RESULTS (submit.sh does it). The exit code is that of the whole fleet.\n"
      "fleet=$1\n"
      "results=$2\n"
      "rm -rf \"$results/report\"\n"
      "# What Slurm calls the end of a task that left no exit_code; the report says it. Slurm forgets it "
      "after "
      "a while.\n"
      "for job in \"$results\"/*/job; do\n"
      "  for folder in \"${job%/job}\"/attempt-*; do\n"
      "    if [ -d \"$folder\" ] && [ ! -f \"$folder/exit_code\" ]; then\n"
      "      scontrol -o show job \"$(cat \"$job\")\" 2>/dev/null |\n"
      "        sed -n 's/.* JobState=\\([A-Z_]*\\) .* NodeList=\\([^ ]*\\).*/\\1 on \\2/p' > "
      "\"$folder/job_state\"\n"
      "    fi\n"
      "  done\n"
      "done\n";
  text += SetupLines(pipeline);
  text += fmt::format("exec {} \"$results\" --expect \"$fleet/cells.tsv\" --out \"$results/report\"\n",
                      ShellJoin(pipeline.merge_words));
  return text;
}

std::string SubmitScript(const std::vector<std::string>& scripts) {
  std::string text =
      "#!/bin/bash\n"
      "# usage: bash submit.sh [RESULTS [SBATCH-FLAG...]]\n"
      "# Submits the arrays and the report that waits for all of them. Run it where assay finds its configs; "
      "flags\n"
      "# are for the report job: with --wait the exit code is the fleet's.\n"
      "set -euo pipefail\n"
      "fleet=$(cd \"$(dirname \"$0\")\" && pwd)\n"
      "results=${1:-out/fleet-$(date -u +%Y%m%d-%H%M%S)}\n"
      "[ $# -eq 0 ] || shift\n"
      "mkdir -p \"$results\"\n"
      "results=$(cd \"$results\" && pwd)\n"
      "jobs=\n";
  for (const std::string& script : scripts) {
    text += fmt::format(
        "job=$(sbatch --parsable --output=\"$results/%x-%A_%a.log\" \"$fleet/{}\" \"$fleet\" \"$results\")\n"
        "jobs+=:${{job%%;*}}\n",
        script);
  }
  text +=
      "echo \"results $results\"\n"
      "echo \"arrays  ${jobs#:}\"\n"
      "# afterany: a cell that failed, or whose node was lost, still gets its line in the report.\n"
      "sbatch --parsable --dependency=\"afterany$jobs\" --kill-on-invalid-dep=no "
      "--output=\"$results/%x-%j.log\" \"$@\" \"$fleet/report.sbatch\" \"$fleet\" \"$results\"\n";
  return text;
}

}  // namespace

std::vector<EmittedFile> EmitSlurm(const Pipeline& pipeline) {
  std::vector<EmittedFile> arrays;
  std::vector<std::string> scripts;
  std::vector<FleetCell> cells;  // those of one array lie together
  for (const CellGroup& group : GroupByMachine(pipeline.cells, kTasksAnArray)) {
    const std::string name = group.name + ".sbatch";
    arrays.push_back({name, MeasureScript(pipeline, group, cells.size() + 1)});
    scripts.push_back(name);
    cells.insert(cells.end(), group.cells.begin(), group.cells.end());
  }
  std::vector<EmittedFile> files = {{"cells.tsv", CellsTable(cells)}};
  files.insert(files.end(), arrays.begin(), arrays.end());
  files.push_back({"report.sbatch", ReportScript(pipeline)});
  files.push_back({"submit.sh", SubmitScript(scripts)});
  return files;
}

}  // namespace assay::runner
