#include "runner/run/gpqa_hooks.h"

#include <memory>
#include <optional>
#include <utility>

#include "gate/foresight.h"

namespace assay::runner {

evals::GpqaHooks MakeGpqaHooks(const evals::GpqaOptions& options, const record::CellRecord& cell,
                               const gate::CellPolicy& policy,
                               std::function<void(const record::QuestionSample&)> on_sample,
                               std::vector<record::QuestionSample> kept) {
  evals::GpqaHooks hooks;
  hooks.on_sample = std::move(on_sample);
  hooks.kept = std::move(kept);
  hooks.max_failed_share = policy.policy.accuracy.max_failed_share;
  if (options.stop != "when-certain") return hooks;
  hooks.looks = gate::Looks;
  const auto foresight = std::make_shared<std::optional<gate::Foresight>>();
  hooks.decided = [&cell, &policy, foresight](const record::AccuracyRecord& part) {
    if (!*foresight) foresight->emplace(part.questions * part.repeats, *part.sequential);
    record::CellRecord so_far = cell;
    so_far.accuracy = part;
    return gate::IsDecided(so_far, policy, **foresight);
  };
  return hooks;
}

}  // namespace assay::runner
