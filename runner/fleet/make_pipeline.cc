#include "runner/fleet/make_pipeline.h"

#include <algorithm>
#include <cctype>

#include "base/secrets.h"
#include "base/text.h"
#include "runner/plan/config_files.h"
#include "runner/plan/plan.h"

namespace assay::runner {
namespace {

// Where cells run on another machine, what this one is must not decide their keys.
Status CheckHardwareIsNamed(const std::vector<Config>& configs, const std::string& hardware) {
  for (const Config& config : configs) {
    if (!config.hardware.empty() || !hardware.empty()) continue;
    return Fail(ErrorKind::kUsage,
                "{}: names no hardware, and its job may run anywhere; give --hardware NAME",
                config.file.string());
  }
  return {};
}

FleetCell MakeFleetCell(const Cell& cell) {
  const EngineConfig& engine = cell.config.engine;
  const int gpus = cell.config.hardware == "cpu" ? 0 : engine.gpus.value_or(engine.tensor_parallel_size);
  return {cell.key, cell.config.hardware, gpus, cell.config.file.string(), cell.suite};
}

// The configs as they were named, so that every job plans what was planned here.
std::vector<std::string> PlanWords(const FleetRequest& request) {
  std::vector<std::string> words;
  for (const Path& config : request.configs) words.push_back(config.string());
  if (request.suite) words.insert(words.end(), {"--suite", *request.suite});
  if (!request.hardware.empty()) words.insert(words.end(), {"--hardware", request.hardware});
  return words;
}

std::vector<std::string> Command(const FleetRequest& request, std::vector<std::string> words,
                                 const std::vector<std::string>& more) {
  words.insert(words.begin(), request.program);
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// Words that end up in a shell line, a table or a comment, all of which end with the line.
Status CheckWords(const std::string& target, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    const bool one_line =
        std::none_of(word.begin(), word.end(), [](unsigned char c) { return std::iscntrl(c) != 0; });
    if (!one_line) {
      return Fail(ErrorKind::kUsage,
                  "{}: has a line end or a control character, which a job's script cannot have",
                  Printable(word));
    }
    if (!IsValidUtf8(word)) {
      return Fail(ErrorKind::kUsage, "{}: is not UTF-8, which the engine's file must be", Printable(word));
    }
    if (HideUserInfo(word) != word) {
      return Fail(ErrorKind::kUsage, "{}: would write a password into a file; set ASSAY_STORE where jobs run",
                  HideUserInfo(word));
    }
    if (target == "github" && word.find("${{") != std::string::npos)
      return Fail(ErrorKind::kUsage, "{}: GitHub would replace ${{{{; choose another name", word);
  }
  return {};
}

Status CheckName(std::string_view flag, const std::string& name, size_t longest) {
  const bool plain = !name.empty() && name.size() <= longest && name.front() != '-' && name.back() != '-' &&
                     std::all_of(name.begin(), name.end(), [](unsigned char c) {
                       return std::islower(c) != 0 || std::isdigit(c) != 0 || c == '-';
                     });
  if (plain) return {};
  return Fail(ErrorKind::kUsage,
              "{} {}: must be up to {} of a-z, 0-9 and -, and neither begin nor end with -", flag,
              Printable(name), longest);
}

// A word as the engine wants it: "queue=mi355" for tags, "--partition=mi355" for Slurm.
Status CheckRunnerWord(const std::string& target, const std::string& runner, const std::string& word) {
  const bool pair = word.find('=') != std::string::npos && word.front() != '=';
  const bool option = StartsWith(word, "--");
  const bool good = target == "slurm"                                 ? option
                    : target == "buildkite" || target == "kubernetes" ? pair
                                                                      : true;
  if (good && !word.empty()) return {};
  return Fail(ErrorKind::kUsage, "--runner {}: {} takes {}, got {}", runner, target,
              target == "slurm" ? "options of sbatch (cpu=--partition=short,--exclusive)"
                                : "words of the form NAME=VALUE (cpu=queue=short,os=linux)",
              word.empty() ? "an empty word" : word);
}

Status AddRunner(const FleetRequest& request, const std::string& text, Pipeline& pipeline) {
  std::vector<std::string> known = {"report"};
  for (const FleetCell& cell : pipeline.cells) {
    if (std::find(known.begin(), known.end(), cell.hardware) == known.end()) known.push_back(cell.hardware);
  }
  const size_t equals = text.find('=');
  const std::string hardware = text.substr(0, equals);
  if (equals == std::string::npos || std::find(known.begin(), known.end(), hardware) == known.end()) {
    return Fail(ErrorKind::kUsage, "--runner {}: must begin with HARDWARE=, and the hardware here is {}",
                text, Join(known, ", "));
  }
  const std::vector<std::string> words = Split(text.substr(equals + 1), ',');
  for (const std::string& word : words) RETURN_IF_ERROR(CheckRunnerWord(request.target, text, word));
  pipeline.runners[hardware] = words;
  return {};
}

Status CheckAllWords(const FleetRequest& request, const Pipeline& pipeline) {
  const SlurmOptions& slurm = pipeline.slurm;
  const KubernetesOptions& kubernetes = pipeline.kubernetes;
  for (const auto* words : {&pipeline.run_words, &pipeline.emit_words, &pipeline.setup, &request.runners}) {
    RETURN_IF_ERROR(CheckWords(request.target, *words));
  }
  RETURN_IF_ERROR(CheckWords(request.target, {slurm.partition, slurm.account, slurm.constraint,
                                              kubernetes.image, kubernetes.name_space, kubernetes.claim}));
  for (const FleetCell& cell : pipeline.cells) RETURN_IF_ERROR(CheckWords(request.target, {cell.config}));
  RETURN_IF_ERROR(CheckName("--namespace", kubernetes.name_space, 63));
  // With a group, a run and an index behind it, it has to fit into the 63 characters of a host name.
  return CheckName("--name", pipeline.name, 20);
}

}  // namespace

Result<const CiTarget*> FindCiTarget(const std::string& name) {
  std::vector<std::string> names;
  for (const CiTarget& target : CiTargets()) {
    if (target.name == name) return &target;
    names.emplace_back(target.name);
  }
  const auto nearest = NearestWord(name, names);
  return Fail(ErrorKind::kUsage, "--to {}: unknown{}; the engines are {}", name,
              nearest ? "; did you mean " + *nearest + "?" : "", Join(names, ", "));
}

Result<Pipeline> MakePipeline(const FleetRequest& request) {
  ASSIGN_OR_RETURN(std::vector<Config> configs, LoadConfigs(request.configs));
  RETURN_IF_ERROR(CheckHardwareIsNamed(configs, request.hardware));
  ASSIGN_OR_RETURN(const std::vector<Cell> cells,
                   PlanConfigs(std::move(configs), request.suite, request.hardware));
  Pipeline pipeline = request.pipeline;
  for (const Cell& cell : cells) pipeline.cells.push_back(MakeFleetCell(cell));
  std::vector<std::string> run = PlanWords(request), table = PlanWords(request);
  run.insert(run.begin(), "run");
  table.insert(table.begin(), {"ci", "emit", "--to", "cells"});
  pipeline.run_words = Command(request, run, request.run_flags);
  pipeline.cells_words = Command(request, table, {});
  pipeline.emit_words = Command(request, request.emit_words, {});
  pipeline.merge_words = Command(request, {"merge"}, request.merge_flags);
  for (const std::string& runner : request.runners) RETURN_IF_ERROR(AddRunner(request, runner, pipeline));
  RETURN_IF_ERROR(CheckAllWords(request, pipeline));
  return pipeline;
}

}  // namespace assay::runner
