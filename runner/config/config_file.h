#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runner/config/config.h"
#include "runner/config/keys.h"

// The files as they are written. They differ from Config where what a user thinks of together (a score's
// threshold) is kept apart in the program (evals measure, the gate judges).
namespace assay::runner {

struct Tolerance {
  std::optional<gate::ToleranceKind> kind;
  double value = 0;
};

struct GpqaFile {
  std::string variant;
  evals::GpqaOptions options;
  std::optional<double> threshold;
  std::optional<Tolerance> tolerance;
  gate::ThresholdProof proof = gate::ThresholdPolicy().proof;
  double broken_below = gate::ThresholdPolicy().broken_below;
};

struct EvalsFile {
  std::optional<GpqaFile> gpqa;
  std::vector<evals::ServingOptions> serving;
  std::optional<evals::ReproducibilityOptions> reproducibility;
};

struct GateFile {
  gate::AccuracyPolicy accuracy;
  gate::PerformancePolicy performance;
  gate::BaselinePolicy baseline;
  std::vector<std::string> declared_differences;
};

struct ConfigFile {
  std::string schema;
  std::string extends;
  std::string name;
  std::string hardware;
  std::string description;
  EngineConfig engine;
  EvalsFile evals;
  GateFile gate;
  std::vector<gate::Workaround> workarounds;
};

struct SuiteServing {
  bool enabled = true;
  std::optional<int64_t> first;
  std::vector<std::string> names;
};

struct SuiteGpqa {
  bool enabled = true;
  std::optional<int64_t> subset;
  std::optional<int> repeats;
};

struct SuiteFile {
  std::string schema;
  std::string name;
  std::string description;
  SuiteGpqa gpqa;
  SuiteServing serving;
};

inline constexpr char kConfigSchema[] = "assay/config/1";
inline constexpr char kBaseSchema[] = "assay/base/1";  // a part of a config, for `extends`
inline constexpr char kSuiteSchema[] = "assay/suite/1";

const Section<EngineConfig>& EngineSection();
const Section<evals::ServingOptions>& ServingSection();
const Section<GpqaFile>& GpqaSection();
const Section<evals::ReproducibilityOptions>& ReproducibilitySection();
const Section<EvalsFile>& EvalsSection();
const Section<GateFile>& GateSection();
const Section<gate::Workaround>& WorkaroundSection();
const Section<ConfigFile>& ConfigSection();
const Section<SuiteFile>& SuiteSection();

Config ToConfig(const ConfigFile& file);
ConfigFile ToConfigFile(const Config& config);
Suite ToSuite(const SuiteFile& file);

}  // namespace assay::runner
