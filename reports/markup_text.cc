#include "reports/markup_text.h"

#include "base/text.h"

namespace assay::reports {

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : Printable(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return ReplaceAll(ReplaceAll(escaped, "\xEF\xBF\xBE", "\xEF\xBF\xBD"), "\xEF\xBF\xBF",
                    "\xEF\xBF\xBD");  // U+FFFE and U+FFFF are no characters
}

}  // namespace assay::reports
