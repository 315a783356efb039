#include "runner/run/vocabulary.h"

#include "tokenizer/tokenizer.h"

namespace assay::runner {

Status FillVocabulary(Cell& cell) {
  const EngineConfig& engine = cell.config.engine;
  const std::string& folder = engine.tokenizer.empty() ? engine.model : engine.tokenizer;
  const auto tokenizer = tokenizer::Tokenizer::Load(folder);
  for (evals::ServingOptions& serving : cell.config.evals.serving) {
    const bool random = serving.dataset == "random" || serving.dataset == "prefix_repetition";
    if (serving.vocab_size > 0 || !random || serving.text_prompts || serving.api == "chat") continue;
    if (!tokenizer) {
      return Fail(
          ErrorKind::kUsage,
          "{}: evals.serving {}: random prompts need the size of the vocabulary, and {} has no usable "
          "tokenizer.json on this machine; write vocab_size, or name a folder in engine.tokenizer",
          cell.config.file.string(), serving.name, folder);
    }
    serving.vocab_size = tokenizer->Size();
    for (int32_t id = 0; id < serving.vocab_size; ++id) {
      if (tokenizer->IsSpecial(id)) serving.special_ids.push_back(id);
    }
  }
  return {};
}

}  // namespace assay::runner
