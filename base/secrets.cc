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

namespace {

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::string_view kEnds = ";|&()<>`";  // of a command, unquoted

// To the end of the shell word that begins here: quotes keep blanks together.
size_t WordLength(std::string_view text) {
  char quote = 0;
  size_t i = 0;
  size_t first_end = text.size();  // of the word if its quote is an apostrophe
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (kBlanks.find(c) != std::string_view::npos) first_end = std::min(first_end, i);
    if (c == '\\' && quote != '\'') {
      ++i;
    } else if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (kBlanks.find(c) != std::string_view::npos || kEnds.find(c) != std::string_view::npos) {
      break;
    }
  }
  return quote == 0 ? std::min(i, text.size()) : first_end;
}

bool IsQuoted(std::string_view word) {
  return word.size() >= 2 && (word.front() == '"' || word.front() == '\'') && word.back() == word.front();
}

// --api-key=X, HF_TOKEN=X
bool IsSecretSetting(std::string_view word) {
  const size_t equals = word.find('=');
  if (equals == std::string_view::npos) return false;
  const std::string_view name = word.substr(0, equals);
  return name.find_first_of(kBlanks) == std::string_view::npos && NamesSecret(name);
}

// A command line, or a header, in one text: `sh -c "serve --api-key X"`, "Authorization: Bearer X".
std::string HideInText(std::string_view text) {
  std::string shown;
  bool hide = false;  // the next word
  while (!text.empty()) {
    const size_t length = WordLength(text);
    if (length == 0) {
      if (kEnds.find(text.front()) != std::string_view::npos) hide = false;
      shown += text.front();
      text.remove_prefix(1);
      continue;
    }
    const std::string_view word = text.substr(0, length);
    text.remove_prefix(length);
    const bool quoted = IsQuoted(word);
    const std::string_view content = quoted ? word.substr(1, length - 2) : word;
    if (hide && !content.starts_with("--")) {
      shown += kHidden;
      hide = false;
      continue;
    }
    hide = (content.starts_with('-') && NamesSecret(content)) || ToLower(content) == "bearer" ||
           ToLower(content) == "basic";
    if (IsSecretSetting(content)) {
      shown.append(content.substr(0, content.find('=') + 1)).append(kHidden);
      hide = false;
    } else if (quoted && content.find_first_of(kBlanks) != std::string_view::npos) {
      shown += word.front() + HideInText(content) + word.back();
    } else {
      shown += HideUserInfo(word);
    }
  }
  return shown;
}

}  // namespace

std::vector<std::string> HideSecrets(std::vector<std::string> arguments) {
  bool hide = false;  // the values of the flag before
  for (std::string& argument : arguments) {
    const bool flag = StartsWith(argument, "-");
    if (hide && !StartsWith(argument, "--")) {
      argument = kHidden;
    } else if (IsSecretSetting(argument)) {
      argument = argument.substr(0, argument.find('=') + 1) + std::string(kHidden);
      hide = false;
    } else {
      hide = flag && NamesSecret(argument);
      argument = argument.find_first_of(kBlanks) == std::string::npos ? HideUserInfo(argument)
                                                                      : HideInText(argument);
    }
  }
  return arguments;
}

}  // namespace assay
