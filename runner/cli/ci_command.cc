#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/log.h"
#include "base/text.h"
#include "runner/cli/command.h"
#include "runner/cli/exit_code.h"
#include "runner/cli/parse.h"
#include "runner/fleet/make_pipeline.h"

namespace assay::runner {

const std::string_view kCiHelp =
    R"(usage: assay ci emit --to ENGINE CONFIG... [--suite NAME] [flags]

Writes the cells of these configs as jobs of an engine that schedules: every job runs `assay run ... --cell KEY`,
is tried once more when it exits 75, and a last job runs `assay merge`, whose exit code is the fleet's. The same
configs give the same bytes. docs/ci.md has what to do with the files.

  --to ENGINE           buildkite, github, gitlab, slurm, kubernetes; or cells, the table that merge --expect reads
  --out DIR             where to write (default: stdout, for engines that take one file)
  --suite, --hardware, --baseline, --store, --no-store, --strict, --allow-missing-baseline, --lang
                        as for `assay run`, which every job is given
  --timeout MINUTES     of a cell (default: 60)
  --runner HW=WORD,...  where cells of a hardware run: agent tags (Buildkite), labels (GitHub, GitLab), options of
                        sbatch, node labels; HW may be report, the last job; may be repeated
  --setup LINE          a shell line that every job begins with, such as make build; may be repeated
  --assay PROGRAM       how jobs call assay (default: assay)
  --name NAME           of the workflow, its groups and jobs (default: assay)

  slurm       --partition, --account, --constraint NAME   --gpu-option gpus-per-node|gres   --max-parallel N
  kubernetes  --image NAME (default: assay:latest)  --namespace NAME (default: default)
              --claim NAME  persistent volume claim for results (default: assay-results)

examples
  assay ci emit --to buildkite configs/cpu --suite smoke | buildkite-agent pipeline upload
  assay ci emit --to slurm configs/amd.txt --suite full --partition mi355 --out fleet && bash fleet/submit.sh
)";

namespace {

// A flag of one engine is a mistake with another.
struct EngineFlag {
  const char* flag;
  const char* engine;
};
constexpr EngineFlag kEngineFlags[] = {
    {"--partition", "slurm"},      {"--account", "slurm"},      {"--constraint", "slurm"},
    {"--gpu-option", "slurm"},     {"--max-parallel", "slurm"}, {"--image", "kubernetes"},
    {"--namespace", "kubernetes"}, {"--claim", "kubernetes"},
};

Status CheckEngineFlags(const CLI::App& app, const std::string& engine) {
  for (const EngineFlag& each : kEngineFlags) {
    if (app.count(each.flag) == 0 || engine == each.engine) continue;
    return Fail(ErrorKind::kUsage, "{} is for --to {}, not for {}", each.flag, each.engine, engine);
  }
  return {};
}

// The command line without --out, for files that say what made them.
std::vector<std::string> EmitWords(int argc, char** argv) {
  std::vector<std::string> words;
  for (int i = 0; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--out") {
      ++i;
    } else if (!StartsWith(word, "--out=")) {
      words.push_back(word);
    }
  }
  return words;
}

// Flags of `assay run` as they were given.
std::vector<std::string> RunFlags(const CLI::App& app) {
  std::vector<std::string> flags;
  for (const char* flag : {"--baseline", "--store", "--lang"}) {
    for (const std::string& value : app.get_option(flag)->results()) flags.insert(flags.end(), {flag, value});
  }
  for (const char* flag : {"--no-store", "--strict", "--allow-missing-baseline"}) {
    if (app.count(flag) > 0) flags.emplace_back(flag);
  }
  return flags;
}

void WarnOfOthers(const Path& folder, const std::vector<EmittedFile>& files) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    const bool ours =
        std::any_of(files.begin(), files.end(), [&](const EmittedFile& file) { return file.name == name; });
    if (!ours) spdlog::warn("{}: was there before and is no part of this", entry.path().string());
  }
}

// Prints the paths in the order in which the engine wants them.
Status WriteFiles(const std::vector<EmittedFile>& files, const Path& folder) {
  if (const Status made = MakeFolders(folder); !made)
    return Fail(ErrorKind::kUsage, "--out: {}", made.error().message);
  WarnOfOthers(folder, files);
  for (const EmittedFile& file : files) {
    RETURN_IF_ERROR(WriteFileAtomic(folder / file.name, file.text));
    fmt::print("{}\n", (folder / file.name).string());
  }
  return {};
}

Status CheckSizes(const std::vector<EmittedFile>& files, const CiTarget& target) {
  for (const EmittedFile& file : files) {
    if (target.max_file_bytes == 0 || file.text.size() <= target.max_file_bytes) continue;
    return Fail(ErrorKind::kUsage,
                "--to {}: {} would have {} bytes, and {} are read; emit a pipeline each of "
                "some of the configs",
                target.name, file.name, file.text.size(), target.max_file_bytes);
  }
  return {};
}

Status Emit(const FleetRequest& request, const Path& out) {
  ASSIGN_OR_RETURN(const CiTarget* target, FindCiTarget(request.target));
  ASSIGN_OR_RETURN(const Pipeline pipeline, MakePipeline(request));
  const std::vector<EmittedFile> files = target->emit(pipeline);
  RETURN_IF_ERROR(CheckSizes(files, *target));
  if (!out.empty()) return WriteFiles(files, out);
  if (files.size() > 1) {
    return Fail(ErrorKind::kUsage, "--to {} makes {} files here; give --out DIR", request.target,
                files.size());
  }
  fmt::print("{}", files.front().text);
  return {};
}

int EmitCommand(int argc, char** argv) {
  FleetRequest request;
  Pipeline& pipeline = request.pipeline;
  std::string suite, baseline, store, lang;
  Path out;
  bool ignored = false;
  CLI::App app;
  app.set_help_flag();
  app.add_option("config", request.configs)->required();
  app.add_option("--to", request.target)->required();
  app.add_option("--out", out);
  app.add_option("--suite", suite);
  app.add_option("--hardware", request.hardware);
  app.add_option("--baseline", baseline);
  app.add_option("--store", store);
  app.add_option("--lang", lang)->check(CLI::IsMember({"en", "zh"}));
  app.add_flag("--no-store", ignored);
  app.add_flag("--strict", ignored);
  app.add_flag("--allow-missing-baseline", ignored);
  app.add_option("--timeout", pipeline.timeout_minutes)->check(CLI::Range(1, 100000));
  app.add_option("--runner", request.runners)->allow_extra_args(false);
  app.add_option("--setup", pipeline.setup)->allow_extra_args(false);
  app.add_option("--assay", request.program);
  app.add_option("--name", pipeline.name);
  app.add_option("--partition", pipeline.slurm.partition);
  app.add_option("--account", pipeline.slurm.account);
  app.add_option("--constraint", pipeline.slurm.constraint);
  app.add_option("--gpu-option", pipeline.slurm.gpu_option)->check(CLI::IsMember({"gpus-per-node", "gres"}));
  app.add_option("--max-parallel", pipeline.slurm.max_parallel)->check(CLI::Range(1, 100000));
  app.add_option("--image", pipeline.kubernetes.image);
  app.add_option("--namespace", pipeline.kubernetes.name_space);
  app.add_option("--claim", pipeline.kubernetes.claim);
  if (const auto exit_code = ParseArguments(app, argc, argv)) return *exit_code;

  if (!suite.empty()) request.suite = suite;
  request.run_flags = RunFlags(app);
  if (!lang.empty()) request.merge_flags = {"--lang", lang};
  request.emit_words = EmitWords(argc, argv);
  request.emit_words.insert(request.emit_words.begin(), "ci");
  Status done = CheckEngineFlags(app, request.target);
  if (done) done = Emit(request, out);
  if (done) return kExitPass;
  fmt::print(stderr, "assay ci emit: {}\n", done.error().message);
  return ExitCodeOf(done.error().kind);
}

}  // namespace

int CiCommand(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "emit") return EmitCommand(argc - 1, argv + 1);
  fmt::print(stderr, "assay ci: {}; assay ci --help shows what there is\n",
             argc > 1 ? fmt::format("unknown command {}, the only one is emit", argv[1])
                      : std::string("emit is required"));
  return kExitUsage;
}

}  // namespace assay::runner
