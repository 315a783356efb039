#include "gate/text.h"

#include <fmt/format.h>

#include "base/text.h"

namespace assay::gate {

std::string Signed(double share) {
  const std::string text = fmt::format("{:+.1f}", share * 100);
  return text == "-0.0" || text == "+0.0" ? "0.0" : text;
}

std::string Points(double difference) {
  return Signed(difference) + " points";
}

std::string Percent(double share) {
  return Signed(share) + " %";
}

std::string Score(int64_t correct, int64_t total) {
  if (total == 0) return "nothing of nothing";
  return fmt::format("{:.4f} ({}/{})", static_cast<double>(correct) / static_cast<double>(total), correct,
                     total);
}

std::string FirstFew(const std::vector<std::string>& names, size_t limit) {
  if (names.size() <= limit) return Join(names, ", ");
  const std::vector<std::string> first(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(limit));
  return fmt::format("{} and {} more", Join(first, ", "), names.size() - limit);
}

}  // namespace assay::gate
