#pragma once

#include <string_view>
#include <vector>

#include "wire/chat.h"
#include "wire/json_fields.h"

// The fields that both endpoints share. Mistakes are left in `fields`.
namespace assay::wire {

void ParseSampling(JsonFields* fields, Sampling* sampling);
void ParseStream(JsonFields* fields, bool* stream, StreamOptions* options);
void RefuseUnsupported(JsonFields* fields);

// Appends the token ids of a list.
void ParseIds(JsonFields* fields, std::string_view name, const nlohmann::json& list,
              std::vector<int32_t>* out);

}  // namespace assay::wire
