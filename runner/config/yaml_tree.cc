#include "runner/config/yaml_tree.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>

#include "base/text.h"
#include "runner/config/yaml_text.h"

namespace assay::runner {
namespace {

constexpr char kTextTag[] = "tag:yaml.org,2002:str";

// Builds the tree from yaml-cpp's events. yaml-cpp's own nodes would follow aliases and hide that a key
// stands twice.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(std::string_view text, std::shared_ptr<const std::string> file, Mistakes& mistakes)
      : text_(text), file_(std::move(file)), mistakes_(mistakes) {}

  YamlNode Take() { return std::move(root_); }
  int documents() const { return documents_; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ == 2) {
      mistakes_.Add(At(mark), "",
                    "a second document starts here; keep one in a file and remove the line with ---");
    }
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Put(NewNode(YamlNode::Kind::kNull, mark, "", anchor));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    mistakes_.Add(At(mark), "",
                  "an alias (*name) is not read; write the value out, or share it with another file through "
                  "extends");
    Put(NewNode(YamlNode::Kind::kNull, mark, "", 0));
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode node = NewNode(YamlNode::Kind::kScalar, mark, tag, anchor);
    node.text = value;
    node.quoted = tag == "!";
    if (value.find('\0') != std::string::npos) {
      mistakes_.Add(At(mark), "", "holds a NUL character, which no program argument can carry; remove it");
    }
    if (tag == "!" && !QuoteCloses(text_, mark.pos)) {
      mistakes_.Add(At(mark), "", "a quote opens here and never closes; close it at the end of the value");
    }
    Put(std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open_.push_back({NewNode(YamlNode::Kind::kList, mark, tag, anchor), std::nullopt});
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open_.push_back({NewNode(YamlNode::Kind::kMap, mark, tag, anchor), std::nullopt});
  }
  void OnMapEnd() override { Close(); }

 private:
  struct Open {
    YamlNode node;
    std::optional<YamlEntry> key;  // of a map, once read, until its value comes
  };

  // yaml-cpp counts bytes; a reader counts characters.
  Mark At(const YAML::Mark& mark) const {
    const auto is_lead = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
    const auto line = text_.begin() + std::clamp<long>(mark.pos - mark.column, 0, std::ssize(text_));
    const auto here = text_.begin() + std::clamp<long>(mark.pos, 0, std::ssize(text_));
    return {file_, mark.line + 1, static_cast<int>(std::count_if(line, here, is_lead)) + 1};
  }

  YamlNode NewNode(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag,
                   YAML::anchor_t anchor) {
    if (anchor != 0) {
      mistakes_.Add(At(mark), "",
                    "an anchor (&name) is not read; write the value out, or share it with another file "
                    "through extends");
    }
    if (!tag.empty() && tag != "?" && tag != "!" && tag != kTextTag) {
      mistakes_.Add(At(mark), "", fmt::format("the tag {} is not read; remove it", tag));
    }
    YamlNode node;
    node.kind = kind;
    node.mark = At(mark);
    return node;
  }

  void Close() {
    YamlNode node = std::move(open_.back().node);
    open_.pop_back();
    Put(std::move(node));
  }

  void Put(YamlNode node) {
    if (documents_ > 1) return;
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = open_.back();
    if (parent.node.kind == YamlNode::Kind::kList) {
      parent.node.items.push_back(std::move(node));
    } else if (!parent.key) {
      parent.key = YamlEntry{KeyText(node), node.mark, {}};
    } else {
      parent.key->value = std::move(node);
      AddEntry(parent.node, std::move(*parent.key));
      parent.key.reset();
    }
  }

  std::string KeyText(const YamlNode& node) {
    if (node.kind != YamlNode::Kind::kScalar) {
      mistakes_.Add(node.mark, "", fmt::format("a key must be text, got {}", Describe(node)));
    }
    return node.text;
  }

  void AddEntry(YamlNode& map, YamlEntry entry) {
    const auto first = std::find_if(map.entries.begin(), map.entries.end(),
                                    [&](const YamlEntry& other) { return other.key == entry.key; });
    if (first == map.entries.end()) {
      map.entries.push_back(std::move(entry));
      return;
    }
    mistakes_.Add(entry.mark, PathTo(entry.key),
                  fmt::format("stands twice, first in line {}; keep one of the two", first->mark.line));
  }

  // The dotted path of a key in the innermost open map.
  std::string PathTo(std::string_view key) const {
    std::string path;
    for (const Open& open : open_) {
      if (open.node.kind == YamlNode::Kind::kList) {
        path += fmt::format("[{}]", open.node.items.size());
      } else if (&open != &open_.back() && open.key) {
        path = JoinPath(path, open.key->key);
      }
    }
    return JoinPath(path, key);
  }

  std::string_view text_;
  std::shared_ptr<const std::string> file_;
  Mistakes& mistakes_;
  std::vector<Open> open_;
  YamlNode root_;
  int documents_ = 0;
};

// What yaml-cpp says in its own terms, and what its reader should look at.
std::string SyntaxAdvice(const std::string& message) {
  static const std::map<std::string, std::string> advice = {
      {"illegal map value",
       "a colon with a blank after it starts a value: put text with a colon in quotes, and check that this "
       "line and the one above are indented alike"},
      {"end of map not found", "keys of one section must start in the same column"},
      {"end of sequence not found", "items of one list must start in the same column"},
      {"end of sequence flow not found", "a list that opens with [ needs its ] and commas between items"},
      {"end of map flow not found", "a map that opens with { needs its } and commas between entries"},
      {"unknown token", "text that starts with @, ` or % must be in quotes"},
      {"the referenced anchor is not defined", "text that starts with * must be in quotes"},
      {"alias not found after *", "text that starts with * must be in quotes"},
      {"anchor not found after &", "text that starts with & must be in quotes"},
  };
  const auto found = advice.find(message);
  return found == advice.end() ? message : fmt::format("{}; {}", message, found->second);
}

}  // namespace

const YamlNode* YamlNode::Find(std::string_view key) const {
  for (const YamlEntry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

std::string Describe(const YamlNode& node) {
  constexpr size_t kShown = 60;
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      return "nothing";
    case YamlNode::Kind::kList:
      return "a list";
    case YamlNode::Kind::kMap:
      return "a map";
    case YamlNode::Kind::kScalar:
      break;
  }
  const std::string shown = node.text.size() > kShown ? node.text.substr(0, kShown) + "..." : node.text;
  return node.quoted ? "\"" + shown + "\"" : shown;
}

YamlNode ParseYaml(std::string_view bytes, const std::string& file, Mistakes& mistakes) {
  const auto name = std::make_shared<const std::string>(file);
  const std::string text = CleanYamlText(bytes, name, mistakes);
  if (!mistakes.empty()) return {};
  TreeBuilder builder(text, name, mistakes);
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    mistakes.Add({name, error.mark.line + 1, error.mark.column + 1}, "",
                 "not valid YAML: " + SyntaxAdvice(error.msg));
  }
  YamlNode root = builder.Take();
  if (!mistakes.empty()) return {};
  if (root.kind == YamlNode::Kind::kNull) {
    mistakes.Add({name, 0, 0}, "", "is empty; configs/README.md shows what a config needs");
  } else if (!root.IsMap()) {
    mistakes.Add(root.mark, "", fmt::format("must be a map of keys (name: value), got {}", Describe(root)));
  }
  return root;
}

YamlNode Overlay(YamlNode base, const YamlNode& over) {
  if (!base.IsMap() || !over.IsMap()) return over;
  for (const YamlEntry& entry : over.entries) {
    const auto found = std::find_if(base.entries.begin(), base.entries.end(),
                                    [&](const YamlEntry& other) { return other.key == entry.key; });
    if (found == base.entries.end()) {
      base.entries.push_back(entry);
    } else {
      *found = {entry.key, entry.mark, Overlay(std::move(found->value), entry.value)};
    }
  }
  base.mark = over.mark;
  return base;
}

}  // namespace assay::runner
