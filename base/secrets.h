#pragma once

#include <string>
#include <string_view>
#include <vector>

// What a record, a report or a log may show of command lines, addresses and environments.
namespace assay {

inline constexpr std::string_view kHidden = "(hidden)";

// HF_TOKEN, --api-key, client_secret; not --max-tokens, --tokenizer.
bool NamesSecret(std::string_view name);

// "(hidden)" for the value of such a name.
std::string ShownValue(std::string_view name, const std::string& value);

// http://user:password@host as http://(hidden)@host, wherever it stands in the text.
std::string HideUserInfo(std::string_view text);

// The arguments with both hidden: --api-key X, --api-key=X, HF_TOKEN=X; also within one argument that is a
// command line or a header, "exec serve --api-key X", "Authorization: Bearer X".
std::vector<std::string> HideSecrets(std::vector<std::string> arguments);

}  // namespace assay
