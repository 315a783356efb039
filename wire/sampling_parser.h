#pragma once

#include <string_view>
#include <vector>

#include "wire/chat.h"
#include "wire/json_fields.h"

// The fields that endpoints share. Mistakes are left in `fields`.
namespace assay::wire {

void ParseSampling(JsonFields* fields, Sampling* sampling);
void ParseStream(JsonFields* fields, bool* stream, StreamOptions* options);
// low | medium | high
void ParseEffort(JsonFields* fields, std::string_view name, std::string* out);
// Fields whose effect we do not have, unless their value asks for none.
void RefuseUnsupported(JsonFields* fields);

// Appends the token ids of a list.
void ParseIds(JsonFields* fields, std::string_view name, const nlohmann::json& list,
              std::vector<int32_t>* out);

}  // namespace assay::wire
