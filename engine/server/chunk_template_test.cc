#include "engine/server/chunk_template.h"

#include <gtest/gtest.h>

#include "wire/sse.h"

namespace assay::engine {
namespace {

TEST(ChunkTemplate, GivesTheSameEventAsTheWholeJson) {
  const wire::ResponseHead head{"chatcmpl-1", "a \"model\"", 12};
  const auto make = [&](const std::string& text) {
    wire::StreamChunk chunk;
    chunk.has_choice = true;
    chunk.content = text;
    return wire::ChatChunkJson(head, chunk);
  };
  const ChunkTemplate chunk_template(make);
  std::string all_ascii;
  for (char c = 1; c < 127; ++c) all_ascii += c;
  for (const std::string& text :
       {std::string("plain"), all_ascii, std::string("\u00e9\u4e2d\U0001F600\"\\\n")}) {
    std::string event;
    chunk_template.AppendEvent(event, text);
    const std::string whole = wire::SseData(make(text).dump());
    const size_t kDataPrefix = 6;  // "data: "
    EXPECT_EQ(nlohmann::json::parse(event.substr(kDataPrefix)),
              nlohmann::json::parse(whole.substr(kDataPrefix)));
    EXPECT_TRUE(event.ends_with("\n\n"));
  }
}

}  // namespace
}  // namespace assay::engine
