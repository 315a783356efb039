#pragma once

#include <optional>
#include <string_view>

#include "wire/chat.h"

namespace assay::wire {

enum class ChunkKind { kChat, kCompletions, kResponses };

// What a client acts on in a stream event, without copies.
struct ChunkView {
  bool has_choice = false;
  std::string_view role, content, reasoning;
  std::string_view finish_reason;  // "" when there is none
  std::string_view model;
  std::optional<Usage> usage;
};

// Reads an event of the plain form, which nearly all have: valid JSON, known fields of their usual types and
// once each, no error. False, as always for kResponses: the full parser must decide, and whatever it says
// holds; true: it would say the same, 10 times slower. The views hold until this thread calls again.
bool ReadPlainChunk(std::string_view data, ChunkKind kind, ChunkView* view);

// The same view of what the full parser read.
ChunkView ViewOf(const StreamChunk& chunk);

}  // namespace assay::wire
