#include "gate/version.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "base/text.h"

namespace assay::gate {
namespace {

constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
constexpr int64_t kHighest = std::numeric_limits<int64_t>::max();

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}
bool IsLetter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}

// ---- PEP 440: the sort key that its section "Summary of permitted suffixes and relative ordering" implies

struct Pep440 {
  int64_t epoch = 0;
  std::vector<int64_t> release;  // without zeros at its end
  std::pair<int64_t, int64_t> pre = {kHighest, 0};
  int64_t post = kLowest;
  int64_t dev = kHighest;
  std::vector<std::string> local;  // parts of what follows "+"; ordered apart

  auto Key() const { return std::tie(epoch, release, pre, post, dev); }
};

class Pep440Reader {
 public:
  explicit Pep440Reader(std::string text) : text_(std::move(text)) {}

  std::optional<Pep440> Read() {
    Skip("v");
    Pep440 version;
    auto number = Number();
    if (!number) return std::nullopt;
    if (Skip("!")) {
      version.epoch = *number;
      number = Number();
    }
    if (!number || !Release(*number, version)) return std::nullopt;
    Pre(version);
    Post(version);
    Dev(version);
    if (Skip("+") && !Local(version)) return std::nullopt;
    if (at_ != text_.size()) return std::nullopt;
    if (version.pre.first == kHighest && version.post == kLowest && version.dev != kHighest)
      version.pre.first = kLowest;  // 1.0.dev1 comes before 1.0a1
    return version;
  }

 private:
  bool Skip(std::string_view word) {
    if (text_.compare(at_, word.size(), word) != 0) return false;
    at_ += word.size();
    return true;
  }

  std::optional<int64_t> Number() {
    int64_t number = 0;
    const char* begin = text_.data() + at_;
    if (at_ >= text_.size() || !IsDigit(*begin)) return std::nullopt;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), number);
    if (error != std::errc()) return std::nullopt;
    at_ += static_cast<size_t>(end - begin);
    return number;
  }

  bool Release(int64_t first, Pep440& version) {
    version.release = {first};
    while (at_ + 1 < text_.size() && text_[at_] == '.' && IsDigit(text_[at_ + 1])) {
      ++at_;
      const auto number = Number();
      if (!number) return false;
      version.release.push_back(*number);
    }
    while (version.release.size() > 1 && version.release.back() == 0) version.release.pop_back();
    return true;
  }

  // A separator, one of the words, and a number that is 0 where it is missing; nothing is read else.
  std::optional<int64_t> Suffix(std::initializer_list<const char*> words) {
    const size_t before = at_;
    Skip(".") || Skip("-") || Skip("_");
    for (const char* word : words) {
      if (!Skip(word)) continue;
      if (at_ + 1 < text_.size() && std::string_view(".-_").find(text_[at_]) != std::string_view::npos &&
          IsDigit(text_[at_ + 1])) {
        ++at_;
      }
      return Number().value_or(0);
    }
    at_ = before;
    return std::nullopt;
  }

  void Pre(Pep440& version) {
    if (const auto n = Suffix({"alpha", "a"})) {
      version.pre = {0, *n};
    } else if (const auto b = Suffix({"beta", "b"})) {
      version.pre = {1, *b};
    } else if (const auto c = Suffix({"rc", "preview", "pre", "c"})) {
      version.pre = {2, *c};
    }
  }

  void Post(Pep440& version) {
    if (const auto n = Suffix({"post", "rev", "r"})) {
      version.post = *n;
    } else if (at_ + 1 < text_.size() && text_[at_] == '-' && IsDigit(text_[at_ + 1])) {
      ++at_;
      version.post = Number().value_or(0);
    }
  }

  void Dev(Pep440& version) {
    if (const auto n = Suffix({"dev"})) version.dev = *n;
  }

  bool Local(Pep440& version) {
    for (;;) {
      const size_t begin = at_;
      while (at_ < text_.size() && (IsDigit(text_[at_]) || IsLetter(text_[at_]))) ++at_;
      const std::string word = text_.substr(begin, at_ - begin);
      if (word.empty()) return false;
      version.local.push_back(word);
      if (!(Skip(".") || Skip("-") || Skip("_"))) return true;
    }
  }

  const std::string text_;
  size_t at_ = 0;
};

// ---- Debian policy 5.6.12

// "~" comes before the end, the end before letters, letters before everything else.
int DebianOrder(char c) {
  if (c == '~') return -1;
  if (c == '\0' || IsDigit(c)) return 0;
  return IsLetter(c) ? static_cast<unsigned char>(c) : static_cast<unsigned char>(c) + 256;
}

int CompareDebianPart(std::string_view a, std::string_view b) {
  const auto at = [](std::string_view text, size_t i) { return i < text.size() ? text[i] : '\0'; };
  size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    while ((i < a.size() && !IsDigit(a[i])) || (j < b.size() && !IsDigit(b[j]))) {
      const int difference = DebianOrder(at(a, i)) - DebianOrder(at(b, j));
      if (difference != 0) return difference;
      ++i;
      ++j;
    }
    while (at(a, i) == '0') ++i;
    while (at(b, j) == '0') ++j;
    int first = 0;
    while (IsDigit(at(a, i)) && IsDigit(at(b, j))) {
      if (first == 0) first = a[i] - b[j];
      ++i;
      ++j;
    }
    if (IsDigit(at(a, i))) return 1;
    if (IsDigit(at(b, j))) return -1;
    if (first != 0) return first;
  }
  return 0;
}

struct Debian {
  std::string_view epoch = "0", upstream, revision = "0";

  explicit Debian(std::string_view text) : upstream(text) {
    if (const size_t colon = upstream.find(':'); colon != std::string_view::npos) {
      epoch = upstream.substr(0, colon);
      upstream.remove_prefix(colon + 1);
    }
    if (const size_t dash = upstream.rfind('-'); dash != std::string_view::npos) {
      revision = upstream.substr(dash + 1);
      upstream = upstream.substr(0, dash);
    }
  }
};

int CompareDebian(std::string_view a, std::string_view b) {
  const Debian left(a), right(b);
  for (const auto part : {&Debian::epoch, &Debian::upstream, &Debian::revision}) {
    const int order = CompareDebianPart(left.*part, right.*part);
    if (order != 0) return order < 0 ? -1 : 1;
  }
  return 0;
}

// Words come before numbers. PEP 440 orders words by their letters, which puts deb12u10 before deb12u3:
// numbers within a word count as numbers here.
int CompareLocal(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  const auto is_number = [](const std::string& word) {
    return std::all_of(word.begin(), word.end(), IsDigit);
  };
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (is_number(a[i]) != is_number(b[i])) return is_number(a[i]) ? 1 : -1;
    if (const int order = CompareDebianPart(a[i], b[i]); order != 0) return order;
  }
  return static_cast<int>(a.size()) - static_cast<int>(b.size());
}

int ComparePep440(const Pep440& a, const Pep440& b) {
  if (a.Key() < b.Key()) return -1;
  if (b.Key() < a.Key()) return 1;
  return CompareLocal(a.local, b.local);
}

constexpr std::string_view kComparisons[] = {">=", "<=", "==", "!=", ">", "<"};

}  // namespace

int CompareVersions(std::string_view a, std::string_view b) {
  const auto left = Pep440Reader(ToLower(Trim(a))).Read();
  const auto right = Pep440Reader(ToLower(Trim(b))).Read();
  if (left && right) return ComparePep440(*left, *right);
  return CompareDebian(Trim(a), Trim(b));
}

bool ParseVersionCondition(std::string_view text, VersionCondition& condition) {
  const size_t begin = text.find_first_of("<>=!");
  if (begin == std::string_view::npos) return false;
  for (const std::string_view comparison : kComparisons) {
    if (text.compare(begin, comparison.size(), comparison) != 0) continue;
    condition.name = Trim(text.substr(0, begin));
    condition.comparison = comparison;
    condition.version = Trim(text.substr(begin + comparison.size()));
    const auto plain = [](const std::string& word) {
      return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
        return IsDigit(c) || IsLetter(c) || std::string_view("._-+:~!").find(c) != std::string_view::npos;
      });
    };
    return plain(condition.name) && plain(condition.version) && IsDigit(condition.version.front());
  }
  return false;
}

bool Holds(const VersionCondition& condition, std::string_view version) {
  const int order = CompareVersions(version, condition.version);
  if (condition.comparison == ">=") return order >= 0;
  if (condition.comparison == "<=") return order <= 0;
  if (condition.comparison == "==") return order == 0;
  if (condition.comparison == "!=") return order != 0;
  return condition.comparison == ">" ? order > 0 : order < 0;
}

}  // namespace assay::gate
