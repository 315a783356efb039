#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "runner/config/mistakes.h"

namespace assay::runner {

struct YamlEntry;

// One value of a YAML file and where it stands. A scalar keeps its source text: 1, "1", true and on differ
// only in `quoted`.
struct YamlNode {
  enum class Kind { kNull, kScalar, kList, kMap };
  Kind kind = Kind::kNull;
  Mark mark;
  std::string text;  // scalar
  bool quoted = false;
  std::vector<YamlNode> items;     // list
  std::vector<YamlEntry> entries;  // map, in file order; keys are unique once ParseYaml found no mistake

  const YamlNode* Find(std::string_view key) const;
  bool IsMap() const { return kind == Kind::kMap; }
};

struct YamlEntry {
  std::string key;
  Mark mark;  // of the key
  YamlNode value;
};

// "a list", "a map", "empty", "text \"two\"": how a mistake names what stands there.
std::string Describe(const YamlNode& node);

// Exactly one document whose root is a map. Refused, each with its place: bytes that are no text, tabs in the
// indentation, a second document, anchors, aliases and tags, quotes that never close, keys that are no text
// or stand twice. A null node when there were mistakes.
YamlNode ParseYaml(std::string_view text, const std::string& file, Mistakes& mistakes);

// `over` laid on `base`: maps merge key by key, everything else replaces. Marks stay those of the files.
YamlNode Overlay(YamlNode base, const YamlNode& over);

}  // namespace assay::runner
