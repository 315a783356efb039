#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay::tokenizer {

// Cuts text into the matches of a pattern and what lies between them ("Split" with behaviour "Isolated").
// Thread-safe.
class Splitter {
 public:
  // `pattern` in Oniguruma's syntax, see pattern.h.
  static Result<Splitter> Compile(std::string_view pattern);

  // Appends the pieces of `text`, which must be valid UTF-8; together they are the text, none is empty.
  // Matching effort is bounded: where it runs out, the next character becomes a piece of its own.
  void Split(std::string_view text, std::vector<std::string_view>* pieces) const;

 private:
  struct Code;
  explicit Splitter(std::shared_ptr<const Code> code) : code_(std::move(code)) {}
  std::shared_ptr<const Code> code_;
};

}  // namespace assay::tokenizer
