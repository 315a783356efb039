#include "engine/server/chunk_template.h"

#include <fmt/format.h>

#include <iterator>

#include "base/check.h"
#include "wire/sse.h"

namespace assay::engine {
namespace {

// Escaped by JSON, so that no name or id in the chunk can look like it.
constexpr const char* kMark = "\x01\x02text\x02\x01";
constexpr std::string_view kMarkEscaped = "\\u0001\\u0002text\\u0002\\u0001";

}  // namespace

void AppendJsonEscaped(std::string& out, std::string_view value) {
  for (const char c : value) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
        } else {
          out += c;
        }
    }
  }
}

ChunkTemplate::ChunkTemplate(const std::function<nlohmann::json(const std::string&)>& make) {
  const std::string event = wire::SseData(wire::JsonText(make(kMark)));
  const size_t at = event.find(kMarkEscaped);
  CHECK_NE(at, std::string::npos);
  before_ = event.substr(0, at);
  after_ = event.substr(at + kMarkEscaped.size());
}

void ChunkTemplate::AppendEvent(std::string& out, std::string_view text) const {
  out += before_;
  AppendJsonEscaped(out, text);
  out += after_;
}

}  // namespace assay::engine
