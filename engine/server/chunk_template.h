#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "wire/chat.h"

namespace assay::engine {

// The text of `value` as the inside of a JSON string. `value` is valid UTF-8.
void AppendJsonEscaped(std::string& out, std::string_view value);

// An SSE event that differs from one token to the next in one text only. wire makes it once, with a mark
// where the text goes; then a token costs two appends and an escape instead of a JSON tree.
class ChunkTemplate {
 public:
  // `make` gives the chunk for a text.
  explicit ChunkTemplate(const std::function<nlohmann::json(const std::string&)>& make);
  void AppendEvent(std::string& out, std::string_view text) const;

 private:
  std::string before_, after_;
};

}  // namespace assay::engine
