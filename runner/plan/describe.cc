#include "base/secrets.h"
#include "base/text.h"
#include "runner/plan/plan.h"

namespace assay::runner {
namespace {

std::string EnvWords(const LaunchPlan& launch) {
  std::string words;
  for (const auto& [name, value] : launch.env)
    words += name + "=" + ShellQuote(ShownValue(name, value)) + " ";
  return words;
}

Config WithoutSecrets(Config config) {
  config.engine.argv = HideSecrets(std::move(config.engine.argv));
  config.engine.extra_args = HideSecrets(std::move(config.engine.extra_args));
  for (auto& [name, value] : config.engine.env) value = ShownValue(name, value);
  return config;
}

std::string GpqaWords(const evals::GpqaOptions& gpqa) {
  return fmt::format("gpqa {}: {} questions, {} time{}, effort {}, {} in flight{}", gpqa.dataset.string(),
                     gpqa.subset ? std::to_string(*gpqa.subset) : std::string("all"), gpqa.repeats,
                     gpqa.repeats == 1 ? "" : "s", gpqa.reasoning_effort, gpqa.concurrency,
                     gpqa.stop == "never" ? "" : ", ends when certain");
}

std::string ServingWords(const evals::ServingOptions& serving) {
  return fmt::format(
      "serving {}: {} prompts, {} in, {} out, rate {}, {}", serving.name, serving.num_prompts,
      serving.input_len, serving.output_len,
      serving.request_rate == 0 ? std::string("inf") : fmt::format("{}/s", serving.request_rate),
      serving.max_concurrency ? fmt::format("at most {} in flight", *serving.max_concurrency)
                              : std::string("no limit in flight"));
}

std::string Indented(const std::string& text) {
  std::string indented;
  for (const std::string& line : SplitLines(text)) indented += "    " + line + "\n";
  return indented;
}

std::string DescribeCell(const Cell& cell) {
  const Config& config = cell.config;
  std::string text = fmt::format("cell {}\n  config    {} ({})\n", cell.key, config.file.string(),
                                 cell.config_hash.substr(0, 12));
  text += fmt::format("  hardware  {}\n", config.hardware);
  text += fmt::format("  command   {}{}\n", EnvWords(cell.launch), ShellJoin(HideSecrets(cell.launch.argv)));
  text += fmt::format("  ready     {} answers and {} gives a token, within {} s\n", cell.launch.ready_path,
                      cell.launch.model_id, cell.launch.ready_timeout_s);
  if (config.evals.gpqa) text += fmt::format("  eval      {}\n", GpqaWords(*config.evals.gpqa));
  for (const auto& serving : config.evals.serving)
    text += fmt::format("  eval      {}\n", ServingWords(serving));
  for (const std::string& note : config.notes) text += fmt::format("  note      {}\n", note);
  return text + "  resolved\n" + Indented(ToYaml(WithoutSecrets(config)));
}

}  // namespace

std::string DescribePlan(const std::vector<Cell>& cells) {
  std::string text;
  for (const Cell& cell : cells) text += (text.empty() ? "" : "\n") + DescribeCell(cell);
  return text;
}

}  // namespace assay::runner
