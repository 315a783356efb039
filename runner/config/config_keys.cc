#include "runner/config/config_file.h"
#include "runner/config/hardware_names.h"

namespace assay::runner {
namespace {

std::vector<std::string> Hardware() {
  std::vector<std::string> names;
  for (const HardwareName& hardware : HardwareNames()) names.push_back(hardware.name);
  return names;
}

// The mandatory kind of the tolerance lives in the program's policy as a plain value.
std::optional<gate::ThresholdPolicy> Threshold(const GpqaFile& gpqa) {
  if (!gpqa.threshold || !gpqa.tolerance || !gpqa.tolerance->kind) return std::nullopt;
  return gate::ThresholdPolicy{*gpqa.threshold, *gpqa.tolerance->kind, gpqa.tolerance->value, gpqa.proof,
                               gpqa.broken_below};
}

}  // namespace

const Section<ConfigFile>& ConfigSection() {
  using C = ConfigFile;
  static const Section<C> section = {
      "",
      "One file for each hardware and variant.",
      {
          {"schema", &C::schema, OneOf({kConfigSchema, kBaseSchema}),
           "Kind and version of the file. `assay/base/1` is a part of a config that others extend.",
           kConfigSchema, kRequired},
          {"extends", &C::extends, Text(),
           "A file, relative to this one, whose keys hold where this one says nothing (see *Extending*).",
           "../base/gpt-oss-20b.yaml", kNotMeasured},
          {"name", &C::name, SafeName(kMaxConfigName, true),
           "Name of the config; cells, reports and stored runs are kept by it.", "gpt-oss-20b-mxfp4-bf16",
           kRequired | kNotMeasured},
          {"hardware", &C::hardware, OneOf(Hardware()),
           "What the machine must report; on another one the run is refused.", "gfx950",
           kRequired | kNotMeasured},
          {"description", &C::description, Text(), "For people.", "Baseline of the MXFP4 model.",
           kNotMeasured},
          {"engine", &C::engine, Sub(EngineSection()), "The server to launch.",
           "{kind: bundled, model: openai/gpt-oss-20b}", kRequired},
          {"evals", &C::evals, Sub(EvalsSection()), "What is measured.", "{gpqa: {variant: diamond}}",
           kRequired},
          {"gate", &C::gate, Sub(GateSection()), "How results are judged.", "{accuracy: {margin: 0.03}}",
           kNotMeasured},
          {"workarounds", &C::workarounds, ListOf(Sub(WorkaroundSection()), "a list of workarounds"),
           "What is here only until something else is fixed; the report says when it can go.",
           "[{id: moe-fallback, until: \"aiter>=0.1.20\"}]", kNotMeasured},
      },
      nullptr,
  };
  return section;
}

Config ToConfig(const ConfigFile& file) {
  Config config;
  config.name = file.name;
  config.hardware = file.hardware;
  config.description = file.description;
  config.engine = file.engine;
  config.evals.serving = file.evals.serving;
  config.evals.reproducibility = file.evals.reproducibility;
  config.gate.accuracy = file.gate.accuracy;
  config.gate.performance = file.gate.performance;
  config.gate.baseline = file.gate.baseline;
  config.gate.workarounds = file.workarounds;
  config.gate.declared_differences = file.gate.declared_differences;
  if (file.evals.gpqa) {
    config.evals.gpqa = file.evals.gpqa->options;
    if (file.evals.gpqa->options.dataset.empty()) {
      config.evals.gpqa_variant = file.evals.gpqa->variant;
    } else {
      config.evals.gpqa->variant = file.evals.gpqa->variant;
    }
    config.gate.threshold = Threshold(*file.evals.gpqa);
  }
  return config;
}

ConfigFile ToConfigFile(const Config& config) {
  ConfigFile file;
  file.schema = kConfigSchema;
  file.name = config.name;
  file.hardware = config.hardware;
  file.description = config.description;
  file.engine = config.engine;
  file.evals.serving = config.evals.serving;
  file.evals.reproducibility = config.evals.reproducibility;
  file.gate = {config.gate.accuracy, config.gate.performance, config.gate.baseline,
               config.gate.declared_differences};
  file.workarounds = config.gate.workarounds;
  if (config.evals.gpqa) {
    GpqaFile& gpqa = file.evals.gpqa.emplace();
    gpqa.options = *config.evals.gpqa;
    gpqa.variant = gpqa.options.variant;
    if (!config.evals.gpqa_variant.empty()) {
      gpqa.variant = config.evals.gpqa_variant;
      gpqa.options.dataset.clear();  // found from the variant, on this machine
    }
    if (const auto& threshold = config.gate.threshold) {
      gpqa.threshold = threshold->threshold;
      gpqa.tolerance = Tolerance{threshold->kind, threshold->tolerance};
      gpqa.proof = threshold->proof;
      gpqa.broken_below = threshold->broken_below;
    }
  }
  return file;
}

}  // namespace assay::runner
