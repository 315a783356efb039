#include "reports/web_address.h"

#include <fmt/format.h>

#include <cctype>

#include "base/text.h"

namespace assay::reports {

std::string WebAddress(std::string_view text) {
  const bool known =
      StartsWith(text, "https://") || StartsWith(text, "http://") || StartsWith(text, "artifact://");
  if (!known) return "";
  constexpr std::string_view kAllowed = "-._~:/?#@!$&*+,;=%";
  std::string address;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && (std::isalnum(byte) != 0 || kAllowed.find(c) != std::string_view::npos)) {
      address += c;
    } else {
      address += fmt::format("%{:02X}", byte);
    }
  }
  return address;
}

}  // namespace assay::reports
