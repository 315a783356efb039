#include "base/secrets.h"

#include <algorithm>

#include "base/text.h"

namespace assay {

bool NamesSecret(std::string_view name) {
  std::string lower = ToLower(name);
  std::replace(lower.begin(), lower.end(), '-', '_');
  for (const std::string& word : Split(lower, '_')) {
    for (const char* end : {"token", "key", "secret", "password", "passwd"})
      if (word.ends_with(end)) return true;
  }
  return false;
}

std::string ShownValue(std::string_view name, const std::string& value) {
  return NamesSecret(name) ? std::string(kHidden) : HideUserInfo(value);
}

std::string HideUserInfo(std::string_view text) {
  std::string shown;
  for (;;) {
    const size_t scheme = text.find("://");
    if (scheme == std::string_view::npos) return shown.append(text);
    shown.append(text.substr(0, scheme + 3));
    text.remove_prefix(scheme + 3);
    const std::string_view authority = text.substr(0, text.find_first_of("/?# \t\r\n\"'"));
    const size_t at = authority.rfind('@');
    if (at == std::string_view::npos) continue;
    shown.append(kHidden);
    text.remove_prefix(at);
  }
}

std::vector<std::string> HideSecrets(std::vector<std::string> arguments) {
  bool hide = false;  // the values of the flag before
  for (std::string& argument : arguments) {
    const bool flag = StartsWith(argument, "-");
    const size_t equals = argument.find('=');
    if (hide && !StartsWith(argument, "--")) {
      argument = kHidden;
    } else if (equals != std::string::npos && NamesSecret(argument.substr(0, equals))) {
      argument = argument.substr(0, equals + 1) + std::string(kHidden);
      hide = false;
    } else {
      hide = flag && NamesSecret(argument);
      argument = HideUserInfo(argument);
    }
  }
  return arguments;
}

}  // namespace assay
