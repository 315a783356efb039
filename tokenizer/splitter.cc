#include "tokenizer/splitter.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "base/check.h"
#include "tokenizer/pattern.h"

namespace assay::tokenizer {
namespace {

// PCRE2 counts backtracking points. The patterns in use need a few for each character of one piece, so that
// this start is never reached by them. Where another pattern reaches it, each time halves it: the sum is
// bounded.
constexpr size_t kMatchLimit = 10'000'000;
constexpr size_t kMatchLimitPerByte = 100;
constexpr size_t kLeastMatchLimit = 1000;

struct Free {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
  void operator()(pcre2_compile_context* context) const { pcre2_compile_context_free(context); }
  void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
};
using CodePtr = std::unique_ptr<pcre2_code, Free>;

struct Match {
  size_t begin, end;
};

// One search after another in one text.
class Search {
 public:
  Search(const pcre2_code* code, std::string_view text)
      : code_(code),
        text_(text),
        context_(pcre2_match_context_create(nullptr)),
        data_(pcre2_match_data_create(1, nullptr)) {
    CHECK(context_ != nullptr && data_ != nullptr);
    SetLimit(kMatchLimit + kMatchLimitPerByte * text.size());
  }

  std::optional<Match> Next(size_t from) {
    int found = Run(from, PCRE2_NO_UTF_CHECK);
    if (found == PCRE2_ERROR_JIT_STACKLIMIT) found = Run(from, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT);
    if (found == PCRE2_ERROR_NOMATCH) return std::nullopt;
    if (found < 0) {
      SetLimit(std::max(kLeastMatchLimit, limit_ / 2));
      return Match{from, from + CharacterSize(from)};
    }
    const size_t* ends = pcre2_get_ovector_pointer(data_.get());
    return Match{ends[0], ends[1]};
  }

  size_t CharacterSize(size_t at) const {
    size_t size = 1;
    while (at + size < text_.size() && (static_cast<uint8_t>(text_[at + size]) & 0xC0) == 0x80) ++size;
    return size;
  }

 private:
  void SetLimit(size_t limit) {
    limit_ = std::min<size_t>(UINT32_MAX, limit);
    pcre2_set_match_limit(context_.get(), static_cast<uint32_t>(limit_));
  }

  int Run(size_t from, uint32_t options) {
    const auto* subject = reinterpret_cast<PCRE2_SPTR>(text_.data());
    return pcre2_match(code_, subject, text_.size(), from, options, data_.get(), context_.get());
  }

  const pcre2_code* code_;
  std::string_view text_;
  size_t limit_ = 0;
  std::unique_ptr<pcre2_match_context, Free> context_;
  std::unique_ptr<pcre2_match_data, Free> data_;
};

std::string MessageOf(int error) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(error, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

}  // namespace

struct Splitter::Code {
  CodePtr code;
};

Result<Splitter> Splitter::Compile(std::string_view pattern) {
  ASSIGN_OR_RETURN(const std::string translated, TranslatePattern(pattern));
  const std::unique_ptr<pcre2_compile_context, Free> context(pcre2_compile_context_create(nullptr));
  CHECK(context != nullptr);
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  int error = 0;
  size_t offset = 0;
  CodePtr code(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(),
                             PCRE2_UTF | PCRE2_UCP, &error, &offset, context.get()));
  if (code == nullptr) {
    return Fail(ErrorKind::kUsage, "{} at byte {} of {} (from the pattern {})", MessageOf(error), offset,
                translated, pattern);
  }
  pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE);  // matching works without it, only slower
  return Splitter(std::make_shared<const Code>(Code{std::move(code)}));
}

void Splitter::Split(std::string_view text, std::vector<std::string_view>* pieces) const {
  Search search(code_->code.get(), text);
  size_t done = 0;  // end of the last piece
  size_t from = 0;
  std::optional<size_t> last_end;
  const auto piece = [&](size_t end) {
    if (end > done) pieces->push_back(text.substr(done, end - done));
    done = end;
  };
  while (from <= text.size()) {
    const std::optional<Match> match = search.Next(from);
    if (!match) break;
    if (match->begin == match->end && last_end == match->end) {  // an empty match right after a match is none
      from += search.CharacterSize(from);
      continue;
    }
    piece(match->begin);
    piece(match->end);
    from = match->end;
    last_end = match->end;
  }
  piece(text.size());
}

}  // namespace assay::tokenizer
