#pragma once

#include "evals/serving/prompts.h"

namespace assay::evals {

// Datasets sharegpt and custom: prompts of a file.
Result<PlannedPrompts> ConversationPrompts(const ServingOptions& options, std::string_view phase,
                                           int64_t count, const Encoder& encode);

}  // namespace assay::evals
