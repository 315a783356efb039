#include "evals/gpqa/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>

#include "base/check.h"

namespace assay::evals {
namespace {

struct FreeMatch {
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
};

}  // namespace

struct Pattern::Code {
  explicit Code(std::string_view regex) {
    pcre2_compile_context* context = pcre2_compile_context_create(nullptr);
    pcre2_set_newline(context, PCRE2_NEWLINE_LF);
    int error = 0;
    size_t offset = 0;
    compiled = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(regex.data()), regex.size(),
                             PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF | PCRE2_DUPNAMES, &error,
                             &offset, context);
    pcre2_compile_context_free(context);
    if (compiled == nullptr) {
      std::array<PCRE2_UCHAR, 256> text{};
      pcre2_get_error_message(error, text.data(), text.size());
      CheckFailed(
          __FILE__, __LINE__,
          fmt::format("{} at byte {} of {}", reinterpret_cast<const char*>(text.data()), offset, regex));
    }
  }
  ~Code() { pcre2_code_free(compiled); }
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;

  pcre2_code* compiled = nullptr;
};

Pattern::Pattern(std::string_view regex) : code_(std::make_shared<Code>(regex)) {}

std::optional<PatternHit> Pattern::From(std::string_view text, size_t offset, size_t* end) const {
  const std::unique_ptr<pcre2_match_data, FreeMatch> data(
      pcre2_match_data_create_from_pattern(code_->compiled, nullptr));
  const int groups = pcre2_match(code_->compiled, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                                 offset, 0, data.get(), nullptr);
  if (groups <= 0) return std::nullopt;
  const size_t* bounds = pcre2_get_ovector_pointer(data.get());
  *end = bounds[1];

  // The name may stand in several alternatives: the one that took part has a length.
  PCRE2_SPTR first = nullptr;
  PCRE2_SPTR last = nullptr;
  const int entry_size =
      pcre2_substring_nametable_scan(code_->compiled, reinterpret_cast<PCRE2_SPTR>("letter"), &first, &last);
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
  return From(text, 0, &end);
}

void Pattern::ForEach(std::string_view text, const std::function<void(const PatternHit&)>& visit) const {
  size_t end = 0;
  for (size_t offset = 0; offset < text.size(); offset = end) {
    const auto hit = From(text, offset, &end);
    if (!hit) return;
    visit(*hit);
    CHECK_GT(end, offset);
  }
}

}  // namespace assay::evals
