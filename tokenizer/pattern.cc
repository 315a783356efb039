#include "tokenizer/pattern.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"
#include "tokenizer/unicode_additions.h"

namespace assay::tokenizer {
namespace {

// General categories. Not among them: Cn and C, which newer Unicode versions make smaller, and Mn and Mc,
// between which U+1171E has moved.
constexpr std::array<std::string_view, 32> kCategories = {
    "Cc", "Cf", "Co", "L",  "Ll", "Lm", "Lo", "Lt", "Lu", "M",  "Me", "N",  "Nd", "Nl", "No", "P",
    "Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps", "S",  "Sc", "Sk", "Sm", "So", "Z",  "Zl", "Zp", "Zs"};

// Pairs that one character folds to ("ss" is also U+00DF): Oniguruma lets it match, PCRE2 does not.
constexpr std::array<std::string_view, 5> kFoldedPairs = {"ss", "st", "ff", "fi", "fl"};

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}
bool IsHex(char c) {
  return std::isxdigit(static_cast<unsigned char>(c)) != 0;
}
bool IsAlnum(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

class Translator {
 public:
  explicit Translator(std::string_view pattern) : in_(pattern) {}

  Result<std::string> Run() {
    while (problem_.empty() && at_ < in_.size()) Element();
    if (problem_.empty() && depth_ > 0) Refuse("a group is not closed");
    if (!problem_.empty()) {
      return Fail(ErrorKind::kUsage, "{} at byte {} of the pattern {}", problem_, at_, in_);
    }
    return out_;
  }

 private:
  char Peek(size_t ahead = 0) const { return at_ + ahead < in_.size() ? in_[at_ + ahead] : '\0'; }
  void Copy(size_t count) {
    out_ += in_.substr(at_, count);
    at_ += std::min(count, in_.size() - at_);
  }
  void Refuse(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
  }

  void Element() {
    switch (Peek()) {
      case '\\':
        return Escape();
      case '[':
        return Class();
      case '(':
        return OpenGroup();
      case ')':
        return CloseGroup();
      case '^':
      case '$':
        return Refuse("an anchor is not supported");
      case '*':
      case '+':
      case '?':
      case '{':
        return Quantifier(false);
      default:
        return Copy(1);
    }
  }

  void OpenGroup() {
    ++depth_;
    for (const std::string_view head : {"(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>"}) {
      if (StartsWith(in_.substr(at_), head)) return Copy(head.size());
    }
    if (StartsWith(in_.substr(at_), "(?i:")) {
      CheckCaseless(in_.substr(at_ + 4, in_.find(')', at_) - at_ - 4));
      return Copy(4);
    }
    if (Peek(1) == '?' || Peek(1) == '*') return Refuse("this kind of group is not supported");
    Copy(1);
  }

  // Literals and '|' only: what may fold is then in plain sight.
  void CheckCaseless(std::string_view text) {
    const std::string folded = ToLower(text);
    if (folded.find_first_of("[\\(") != std::string::npos) {
      return Refuse("a class, escape or group inside (?i:...) is not supported");
    }
    for (const std::string_view pair : kFoldedPairs) {
      if (folded.find(pair) != std::string::npos)
        Refuse(fmt::format("\"{}\" inside (?i:...) is not supported", pair));
    }
  }

  void CloseGroup() {
    --depth_;
    Copy(1);
    if (Peek() == '*' || Peek() == '+' || Peek() == '?' || Peek() == '{') Quantifier(true);
  }

  void Quantifier(bool of_group) {
    const bool interval = Peek() == '{';
    bool unbounded = Peek() == '*' || Peek() == '+';
    size_t size = 1;
    if (interval) {
      while (IsDigit(Peek(size))) ++size;
      if (size == 1) return Refuse("\"{\" that is not {n}, {n,} or {n,m}");
      if (Peek(size) == ',') {
        unbounded = !IsDigit(Peek(++size));
        while (IsDigit(Peek(size))) ++size;
      }
      if (Peek(size) != '}') return Refuse("\"{\" that is not {n}, {n,} or {n,m}");
      ++size;
    }
    if (of_group && unbounded) return Refuse("a group repeated without bound is not supported");
    Copy(size);
    if (Peek() != '?' && Peek() != '+') return;
    if (interval) return Refuse("\"?\" or \"+\" after {...} is not supported");
    Copy(1);
  }

  void Escape() {
    const char c = Peek(1);
    if (c == 's' || c == 'S') {
      out_ += c == 's' ? "\\p{White_Space}" : "\\P{White_Space}";
      at_ += 2;
    } else if (c == 'p' || c == 'P') {
      Property();
    } else if (c == 'd' || c == 'D') {
      Category("Nd", c == 'D');
      at_ += problem_.empty() ? 2 : 0;
    } else if (c == 'v') {
      out_ += "\\x0B";
      at_ += 2;
    } else if (c == 'x' || c == 'u') {
      CodePoint(c);
    } else if (c == 'r' || c == 'n' || c == 't' || c == 'f') {
      Copy(2);
    } else if (c == '\0' || IsAlnum(c) || static_cast<unsigned char>(c) >= 0x80) {
      Refuse(fmt::format("\\{} is not supported", Printable(std::string(1, c))));
    } else {
      Copy(2);
    }
  }

  // \x41 (below 80), \x{1F642} or \u0041.
  void CodePoint(char kind) {
    size_t begin = at_ + 2;
    const bool braces = kind == 'x' && Peek(2) == '{';
    if (braces) ++begin;
    size_t end = begin;
    const size_t most = braces ? 6 : kind == 'x' ? 2 : 4;
    while (end < in_.size() && end - begin < most && IsHex(in_[end])) ++end;
    const std::string_view digits = in_.substr(begin, end - begin);
    const bool closed = !braces || (end < in_.size() && in_[end] == '}');
    const bool raw_byte = kind == 'x' && !braces && !digits.empty() && digits[0] >= '8';
    if (digits.empty() || !closed || raw_byte || (kind == 'u' && digits.size() != 4)) {
      return Refuse(fmt::format("this \\{} is not supported", kind));
    }
    out_ += fmt::format("\\x{{{}}}", digits);
    at_ = end + (braces ? 1 : 0);
  }

  // \p{L}, \P{L} and \p{^L}.
  void Property() {
    const size_t end = in_.find('}', at_);
    if (Peek(2) != '{' || end == std::string_view::npos) return Refuse("\\p without {...} is not supported");
    std::string_view name = in_.substr(at_ + 3, end - at_ - 3);
    bool negated = in_[at_ + 1] == 'P';
    if (StartsWith(name, "^")) {
      negated = !negated;
      name.remove_prefix(1);
    }
    Category(name, negated);
    if (problem_.empty()) at_ = end + 1;
  }

  // The category as PCRE2 knows it, and what Unicode has added to it since.
  void Category(std::string_view name, bool negated) {
    if (std::find(kCategories.begin(), kCategories.end(), name) == kCategories.end()) {
      return Refuse(fmt::format("the property {} is not supported", Printable(name)));
    }
    if (negated && in_class_) return Refuse("a negated property in a class is not supported");
    if (!in_class_) out_ += negated ? "[^" : "[";
    out_ += fmt::format("\\p{{{}}}", name);
    for (const UnicodeAddition& addition : UnicodeAdditions()) {
      if (!StartsWith(addition.category, name)) continue;
      out_ += fmt::format("\\x{{{:X}}}-\\x{{{:X}}}", addition.first, addition.last);
    }
    if (!in_class_) out_ += ']';
  }

  void Class() {
    Copy(Peek(1) == '^' ? 2 : 1);
    in_class_ = true;
    if (Peek() == ']') return Refuse("\"]\" at the start of a class is not supported");
    while (problem_.empty() && Peek() != ']') {
      if (at_ >= in_.size()) return Refuse("a class is not closed");
      if (Peek() == '[') return Refuse("a class inside a class is not supported");
      if (Peek() == '&' && Peek(1) == '&') return Refuse("\"&&\" in a class is not supported");
      if (Peek() == '\\') {
        Escape();
      } else {
        Copy(1);
      }
    }
    in_class_ = false;
    Copy(1);
  }

  std::string_view in_;
  size_t at_ = 0;
  int depth_ = 0;
  bool in_class_ = false;
  std::string out_;
  std::string problem_;
};

}  // namespace

Result<std::string> TranslatePattern(std::string_view pattern) {
  return Translator(pattern).Run();
}

}  // namespace assay::tokenizer
