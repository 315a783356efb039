#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace assay::tokenizer {

// A byte-level BPE tokenizer read from a Hugging Face tokenizer.json. `tokenizer_class` in
// tokenizer_config.json decides nothing: a usable tokenizer.json is used whatever class is named. Thread-safe
// after loading.
class Tokenizer {
 public:
  // `folder` holds tokenizer.json. The error names the folder, the file and, when the folder only names a
  // class that cannot be loaded from tokenizer_config.json, that class and the remedy (--tokenizer FOLDER).
  static Result<Tokenizer> Load(const Path& folder);

  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  enum class Specials {
    kAsText,
    kParse
  };  // whether "<|end|>" in the text is the special token or seven characters
  // Bytes that are not UTF-8 are read as U+FFFD, one for each maximal invalid part.
  std::vector<int32_t> Encode(std::string_view text, Specials specials = Specials::kAsText) const;

  // Bytes of the tokens; special tokens give their text unless `skip_specials`; an id that is no token gives
  // nothing. May end inside a UTF-8 sequence.
  std::string Decode(std::span<const int32_t> ids, bool skip_specials = false) const;

  std::optional<int32_t> SpecialId(std::string_view text) const;  // "<|return|>"
  bool IsSpecial(int32_t id) const;
  // One more than the largest id.
  int32_t Size() const;
  // SHA-256 of tokenizer.json, for the record.
  const std::string& Hash() const;
  // tokenizer_class of tokenizer_config.json, or "".
  const std::string& ClassName() const;

 private:
  struct Impl;
  explicit Tokenizer(std::unique_ptr<Impl> impl);
  static Result<std::unique_ptr<Impl>> Parse(std::string_view text);
  std::unique_ptr<Impl> impl_;
};

// Text from tokens one at a time: bytes that end inside a UTF-8 sequence are held back until it is complete;
// an invalid sequence comes out as U+FFFD. What was returned never changes.
class IncrementalDecoder {
 public:
  explicit IncrementalDecoder(const Tokenizer& tokenizer, bool skip_specials = false)
      : tokenizer_(&tokenizer), skip_specials_(skip_specials) {}
  std::string Add(int32_t id);
  std::string Finish();  // what is still held back, repaired

 private:
  const Tokenizer* tokenizer_;
  bool skip_specials_;
  std::string held_;
};

}  // namespace assay::tokenizer
