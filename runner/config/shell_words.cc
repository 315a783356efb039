#include "runner/config/shell_words.h"

namespace assay::runner {
namespace {

bool IsBlank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {}

  Result<std::vector<std::string>> Split() {
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (IsBlank(c)) {
        EndWord();
        continue;
      }
      in_word_ = true;
      if (c == '\\') {
        if (at_ == text_.size()) return Fail(ErrorKind::kUsage, "ends in a backslash, which keeps nothing");
        word_ += text_[at_++];
      } else if (c == '\'' || c == '"') {
        RETURN_IF_ERROR(Quoted(c));
      } else {
        word_ += c;
      }
    }
    EndWord();
    return std::move(words_);
  }

 private:
  // Up to the closing quote. Inside "..." a backslash keeps only a quote or a backslash; inside '...'
  // nothing.
  Status Quoted(char quote) {
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == quote) return {};
      const char next = at_ < text_.size() ? text_[at_] : '\0';
      const bool kept = quote == '"' && c == '\\' && (next == '"' || next == '\\');
      word_ += kept ? text_[at_++] : c;
    }
    return Fail(ErrorKind::kUsage, "a {} opens and never closes", quote);
  }

  void EndWord() {
    if (in_word_) words_.push_back(std::move(word_));
    word_.clear();
    in_word_ = false;
  }

  std::string_view text_;
  size_t at_ = 0;
  std::string word_;
  bool in_word_ = false;  // "" is a word too
  std::vector<std::string> words_;
};

}  // namespace

Result<std::vector<std::string>> ShellWords(std::string_view text) {
  return Splitter(text).Split();
}

}  // namespace assay::runner
