#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace assay::evals {

struct PatternHit {
  size_t start = 0;  // of the whole match, in bytes
  size_t letter_at = 0;
  std::string_view letter;  // the group named `letter`
};

// A compiled PCRE2 pattern over UTF-8 (UCP: \w, \b and \p{..} are Unicode's) with a group named `letter`.
// Lines end in LF; bytes that are not UTF-8 match nothing. A search that exhausts PCRE2's limits is no hit.
class Pattern {
 public:
  explicit Pattern(std::string_view regex);

  std::optional<PatternHit> First(std::string_view text) const;
  void ForEach(std::string_view text, const std::function<void(const PatternHit&)>& visit) const;

 private:
  struct Code;
  std::optional<PatternHit> From(std::string_view text, bool utf8, size_t offset, size_t* end) const;

  std::shared_ptr<const Code> code_;
};

}  // namespace assay::evals
