#include "wire/plain_chunk.h"

#include <simdjson.h>

#include <cstdint>
#include <cstring>
#include <utility>

namespace assay::wire {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::element_type;
using simdjson::dom::object;

// A pair of \u escapes beyond the first plane. Half a pair is an error that simdjson 3.0 does not see.
bool HasSurrogate(std::string_view data) {
  const char* at = data.data();
  const char* const end = at + data.size();
  while ((at = static_cast<const char*>(std::memchr(at, '\\', static_cast<size_t>(end - at)))) != nullptr) {
    if (end - at < 3) return true;
    if (at[1] == 'u' && (at[2] == 'd' || at[2] == 'D')) return true;
    at += 2;
  }
  return false;
}

template <typename Named>
bool ReadIf(std::string_view key, const element& value, const Named& named, uint32_t* bit, uint32_t* seen) {
  const uint32_t mine = std::exchange(*bit, *bit << 1);
  if (key != named.first) return true;
  if ((*seen & mine) != 0) return false;
  *seen |= mine;
  return value.is_null() || named.second(value);
}

// An object's known fields, each by its own function and at most once. One that is null is as good as absent.
template <typename... Named>
bool Read(const element& value, const Named&... named) {
  object fields;
  if (value.get(fields) != simdjson::SUCCESS) return false;
  uint32_t seen = 0;
  for (const auto field : fields) {
    uint32_t bit = 1;
    if (!(ReadIf(field.key, field.value, named, &bit, &seen) && ...)) return false;
  }
  return true;
}

auto Text(std::string_view name, std::string_view* out) {
  return std::pair(name, [out](const element& value) { return value.get(*out) == simdjson::SUCCESS; });
}

template <typename Integer>
auto Count(std::string_view name, Integer* out) {
  return std::pair(name, [out](const element& value) {
    int64_t number = 0;
    if (value.get(number) != simdjson::SUCCESS || number < 0) return false;
    *out = number;
    return true;
  });
}

template <typename Reader>
auto Inner(std::string_view name, const Reader& reader) {
  return std::pair(name, reader);
}

bool ReadUsage(const element& value, ChunkView* view) {
  Usage& usage = view->usage.emplace();
  return Read(value, Count("prompt_tokens", &usage.prompt_tokens),
              Count("completion_tokens", &usage.completion_tokens),
              Inner("prompt_tokens_details",
                    [&](const element& details) {
                      return Read(details, Count("cached_tokens", &usage.cached_tokens));
                    }),
              Inner("completion_tokens_details", [&](const element& details) {
                return Read(details, Count("reasoning_tokens", &usage.reasoning_tokens));
              }));
}

bool ReadDelta(const element& value, ChunkView* view) {
  std::string_view reasoning;
  const bool good = Read(value, Text("role", &view->role), Text("content", &view->content),
                         Text("reasoning_content", &view->reasoning), Text("reasoning", &reasoning));
  if (!reasoning.empty()) view->reasoning = reasoning;
  return good;
}

bool ReadChoices(const element& value, ChunkKind kind, ChunkView* view) {
  array choices;
  if (value.get(choices) != simdjson::SUCCESS) return false;
  const auto first = choices.begin();
  if (!(first != choices.end())) return true;
  view->has_choice = true;
  if (kind == ChunkKind::kCompletions)
    return Read(*first, Text("finish_reason", &view->finish_reason), Text("text", &view->content));
  return Read(*first, Text("finish_reason", &view->finish_reason),
              Inner("delta", [&](const element& delta) { return ReadDelta(delta, view); }));
}

}  // namespace

bool ReadPlainChunk(std::string_view data, ChunkKind kind, ChunkView* view) {
  if (kind == ChunkKind::kResponses) return false;
  thread_local simdjson::dom::parser parser;
  *view = {};
  element root;
  if (HasSurrogate(data) || parser.parse(data.data(), data.size()).get(root) != simdjson::SUCCESS)
    return false;
  const auto refuse = [](const element&) { return false; };
  return Read(root, Text("model", &view->model),
              Inner("choices", [&](const element& value) { return ReadChoices(value, kind, view); }),
              Inner("usage", [&](const element& value) { return ReadUsage(value, view); }),
              Inner("error", refuse), Inner("detail", refuse), Inner("object", [](const element& value) {
                std::string_view text;
                return value.get(text) != simdjson::SUCCESS || text != "error";
              }));
}

ChunkView ViewOf(const StreamChunk& chunk) {
  ChunkView view;
  view.has_choice = chunk.has_choice;
  view.role = chunk.role;
  view.content = chunk.content;
  view.reasoning = chunk.reasoning;
  if (chunk.finish_reason) view.finish_reason = *chunk.finish_reason;
  view.model = chunk.model;
  view.usage = chunk.usage;
  return view;
}

}  // namespace assay::wire
