#include "runner/config/config_file.h"

namespace assay::runner {
namespace {

const Section<SuiteGpqa>& SuiteGpqaSection() {
  using G = SuiteGpqa;
  static const Section<G> section = {
      "suite.gpqa",
      "What the suite makes of the accuracy eval.",
      {
          {"enabled", &G::enabled, TrueOrFalse(), "Whether it is run.", "true"},
          {"subset", &G::subset, Integer<int64_t>(1), "Instead of the config's `evals.gpqa.subset`.", "50"},
          {"repeats", &G::repeats, Integer<int>(1, 1000), "Instead of the config's `evals.gpqa.repeats`.",
           "1"},
      },
      nullptr,
  };
  return section;
}

const Section<SuiteServing>& SuiteServingSection() {
  using S = SuiteServing;
  static const Section<S> section = {
      "suite.serving",
      "What the suite makes of the serving benchmarks.",
      {
          {"enabled", &S::enabled, TrueOrFalse(), "Whether any is run.", "true"},
          {"first", &S::first, Integer<int64_t>(1), "Only the first so many of the config's list.", "1"},
          {"names", &S::names, ListOf(SafeName(40, false), "a list of shape names"),
           "Only the shapes of these names. Default: all.", "[1k1k, 8k8k]"},
      },
      [](const YamlNode& node, const std::string& path, const SuiteServing& serving, Reading& reading) {
        if (serving.first && !serving.names.empty()) {
          reading.mistakes.Add(node.Find("first")->mark, JoinPath(path, "first"),
                               "cannot stand beside names; keep one of the two");
        }
      },
  };
  return section;
}

}  // namespace

const Section<SuiteFile>& SuiteSection() {
  using S = SuiteFile;
  static const Section<S> section = {
      "suite",
      "A suite selects among the evals of a config, so that a quick and a full run share one config.",
      {
          {"schema", &S::schema, OneOf({kSuiteSchema}), "Kind and version of the file.", kSuiteSchema,
           kRequired},
          {"name", &S::name, SafeName(14, false), "Name of the suite, part of the cell key.", "smoke",
           kRequired},
          {"description", &S::description, Text(), "For people.", "One pass, first shape only."},
          {"gpqa", &S::gpqa, Sub(SuiteGpqaSection()), "The accuracy eval.", "{repeats: 1}"},
          {"serving", &S::serving, Sub(SuiteServingSection()), "The serving benchmarks.", "{first: 1}"},
      },
      nullptr,
  };
  return section;
}

Suite ToSuite(const SuiteFile& file) {
  Suite suite;
  suite.name = file.name;
  suite.gpqa = file.gpqa.enabled;
  suite.gpqa_subset = file.gpqa.subset;
  suite.gpqa_repeats = file.gpqa.repeats;
  suite.serving_enabled = file.serving.enabled;
  suite.serving_first = file.serving.first;
  suite.serving = file.serving.names;
  return suite;
}

}  // namespace assay::runner
