#include "evals/gpqa/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>

#include "base/check.h"
#include "base/text.h"

namespace assay::evals {
namespace {

struct FreeMatch {
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
};

// A stack on which the deepest rule has room; one a thread, as PCRE2 asks.
struct JitContext {
  JitContext() { pcre2_jit_stack_assign(context, nullptr, stack); }
  ~JitContext() {
    pcre2_match_context_free(context);
    pcre2_jit_stack_free(stack);
  }
  JitContext(const JitContext&) = delete;
  JitContext& operator=(const JitContext&) = delete;

  pcre2_jit_stack* stack = pcre2_jit_stack_create(32UL << 10, 16UL << 20, nullptr);
  pcre2_match_context* context = pcre2_match_context_create(nullptr);
};

pcre2_match_context* ThreadsContext() {
  thread_local const JitContext context;
  return context.context;
}

}  // namespace

// Compiled twice: a text that is UTF-8 is checked once and then searched by machine code; PCRE2 checks any
// other at every search.
struct Pattern::Code {
  explicit Code(std::string_view regex)
      : of_any(Compile(regex, PCRE2_MATCH_INVALID_UTF)), of_utf8(Compile(regex, 0)) {
    pcre2_jit_compile(of_utf8, PCRE2_JIT_COMPLETE);  // where there is no JIT, PCRE2 interprets
  }
  ~Code() {
    pcre2_code_free(of_any);
    pcre2_code_free(of_utf8);
  }
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;

  static pcre2_code* Compile(std::string_view regex, uint32_t options) {
    pcre2_compile_context* context = pcre2_compile_context_create(nullptr);
    pcre2_set_newline(context, PCRE2_NEWLINE_LF);
    int error = 0;
    size_t offset = 0;
    pcre2_code* compiled =
        pcre2_compile(reinterpret_cast<PCRE2_SPTR>(regex.data()), regex.size(),
                      PCRE2_UTF | PCRE2_UCP | PCRE2_DUPNAMES | options, &error, &offset, context);
    pcre2_compile_context_free(context);
    if (compiled == nullptr) {
      std::array<PCRE2_UCHAR, 256> text{};
      pcre2_get_error_message(error, text.data(), text.size());
      CheckFailed(
          __FILE__, __LINE__,
          fmt::format("{} at byte {} of {}", reinterpret_cast<const char*>(text.data()), offset, regex));
    }
    return compiled;
  }

  int Match(std::string_view text, bool utf8, size_t offset, pcre2_match_data* data) const {
    const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data());
    if (!utf8) return pcre2_match(of_any, subject, text.size(), offset, 0, data, nullptr);
    const int groups =
        pcre2_match(of_utf8, subject, text.size(), offset, PCRE2_NO_UTF_CHECK, data, ThreadsContext());
    if (groups != PCRE2_ERROR_JIT_STACKLIMIT) return groups;
    return pcre2_match(of_utf8, subject, text.size(), offset, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, data,
                       nullptr);
  }

  pcre2_code* of_any;
  pcre2_code* of_utf8;
};

Pattern::Pattern(std::string_view regex) : code_(std::make_shared<Code>(regex)) {}

std::optional<PatternHit> Pattern::From(std::string_view text, bool utf8, size_t offset, size_t* end) const {
  const std::unique_ptr<pcre2_match_data, FreeMatch> data(
      pcre2_match_data_create_from_pattern(code_->of_any, nullptr));
  const int groups = code_->Match(text, utf8, offset, data.get());
  if (groups <= 0) return std::nullopt;
  const size_t* bounds = pcre2_get_ovector_pointer(data.get());
  *end = bounds[1];

  // The name may stand in several alternatives: the one that took part has a length.
  PCRE2_SPTR first = nullptr;
  PCRE2_SPTR last = nullptr;
  const int entry_size =
      pcre2_substring_nametable_scan(code_->of_any, reinterpret_cast<PCRE2_SPTR>("letter"), &first, &last);
  CHECK_GT(entry_size, 0);
  for (PCRE2_SPTR entry = first; entry <= last; entry += entry_size) {
    const size_t group = static_cast<size_t>(entry[0]) << 8 | entry[1];
    if (group >= static_cast<size_t>(groups) || bounds[2 * group] == PCRE2_UNSET) continue;
    const size_t at = bounds[2 * group];
    return PatternHit{bounds[0], at, text.substr(at, bounds[2 * group + 1] - at)};
  }
  return std::nullopt;
}

std::optional<PatternHit> Pattern::First(std::string_view text) const {
  size_t end = 0;
  return From(text, IsValidUtf8(text), 0, &end);
}

void Pattern::ForEach(std::string_view text, const std::function<void(const PatternHit&)>& visit) const {
  const bool utf8 = IsValidUtf8(text);
  size_t end = 0;
  for (size_t offset = 0; offset < text.size(); offset = end) {
    const auto hit = From(text, utf8, offset, &end);
    if (!hit) return;
    visit(*hit);
    CHECK_GT(end, offset);
  }
}

}  // namespace assay::evals
