#include "runner/run/vocabulary.h"

#include "tokenizer/tokenizer.h"

namespace assay::runner {

Status FillVocabulary(Cell& cell) {
  const EngineConfig& engine = cell.config.engine;
  const std::string& folder = engine.tokenizer.empty() ? engine.model : engine.tokenizer;
  const auto tokenizer = tokenizer::Tokenizer::Load(folder);
  const auto fill = [&](const std::string& eval, auto& options) -> Status {
    if (options.vocab_size > 0) return {};
    if (!tokenizer) {
      return Fail(ErrorKind::kUsage,
                  "{}: evals.{}: random prompts need the size of the vocabulary, and {} has no usable "
                  "tokenizer.json on this machine; write vocab_size, or name a folder in engine.tokenizer",
                  cell.config.file.string(), eval, folder);
    }
    options.vocab_size = tokenizer->Size();
    for (int32_t id = 0; id < options.vocab_size; ++id) {
      if (tokenizer->IsSpecial(id)) options.special_ids.push_back(id);
    }
    return {};
  };
  for (evals::ServingOptions& serving : cell.config.evals.serving) {
    const bool random = serving.dataset == "random" || serving.dataset == "prefix_repetition";
    if (!random || serving.text_prompts || serving.api == "chat") continue;
    RETURN_IF_ERROR(fill("serving " + serving.name, serving));
  }
  if (auto& reproducibility = cell.config.evals.reproducibility)
    RETURN_IF_ERROR(fill("reproducibility", *reproducibility));
  return {};
}

}  // namespace assay::runner
