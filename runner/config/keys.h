#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "runner/config/values.h"

// A section of a config is a table of keys. The table drives parsing, messages, hints, ToYaml, the hash, the
// reference in docs/configs.md and configs/schema.json: adding a key is adding a row.
namespace assay::runner {

enum KeyFlags : unsigned {
  kOptional = 0,
  kRequired = 1,
  kNotMeasured = 2,      // does not decide what is measured: no part of the hash
  kRequiredByCheck = 4,  // required, and the section's check says so in its own words
};

struct KeyInfo {
  std::string name;
  std::string type;
  std::string meaning;  // one sentence, for the reference
  std::string example;
  bool required = false;
  bool missing_is_checked = false;  // by the section's check
  bool measured = true;
  Json schema;
  Json default_value;                          // null: none
  std::shared_ptr<const SectionInfo> section;  // when the value is a map with known keys, or a list of them
};

// A section without its struct.
struct SectionInfo {
  std::string path;  // "evals.gpqa"; "evals.serving[]" for items of a list; "" for the root
  std::string meaning;
  std::vector<KeyInfo> keys;
};

template <typename S>
struct Key : KeyInfo {
  // `get` is a member pointer, or a function from S& to the member; the member is a T or an optional of it.
  template <typename Get, typename T>
  Key(std::string key_name, Get get, Value<T> value, std::string key_meaning, std::string key_example,
      unsigned flags = kOptional)
      : KeyInfo{std::move(key_name),
                value.type,
                std::move(key_meaning),
                std::move(key_example),
                (flags & (kRequired | kRequiredByCheck)) != 0,
                (flags & kRequiredByCheck) != 0,
                (flags & kNotMeasured) == 0,
                value.schema,
                {},
                value.section} {
    read = [get, value](const YamlNode& node, const Where& where, Reading& reading, S& into) {
      if (auto got = value.read(node, where, reading)) std::invoke(get, into) = std::move(*got);
    };
    write = [get, value](const S& from, Form form) -> Json {
      const auto& member = std::invoke(get, from);
      if constexpr (std::is_same_v<std::decay_t<decltype(member)>, std::optional<T>>) {
        return member ? value.write(*member, form) : Json();
      } else {
        return value.write(member, form);
      }
    };
    default_value = write(S{}, Form::kFull);
  }

  std::function<void(const YamlNode&, const Where&, Reading&, S&)> read;
  std::function<Json(const S&, Form)> write;
};

template <typename S>
struct Section {
  using Check = std::function<void(const YamlNode&, const std::string& path, const S&, Reading&)>;

  std::string path;
  std::string meaning;
  std::vector<Key<S>> keys;
  Check check;  // what no single key can know; runs when every key was right

  SectionInfo Info() const {
    SectionInfo info{path, meaning, {}};
    for (const Key<S>& key : keys) info.keys.push_back(key);
    return info;
  }
};

// Unknown and missing keys, each with a hint.
void MatchKeys(const SectionInfo& section, const YamlNode& node, const std::string& path, Reading& reading);

template <typename S>
void ReadSection(const Section<S>& section, const YamlNode& node, const std::string& path, Reading& reading,
                 S& into) {
  const size_t before = reading.mistakes.size();
  MatchKeys(section.Info(), node, path, reading);
  for (const Key<S>& key : section.keys) {
    if (const YamlNode* value = node.Find(key.name)) {
      key.read(*value, {JoinPath(path, key.name), key.example}, reading, into);
    }
  }
  const bool clean = reading.mistakes.size() == before;
  if (clean && section.check && !reading.partial) section.check(node, path, into, reading);
}

// Every key in table order. kFull has the defaults filled in; kMeasured leaves out what is as by default, so
// that a new key changes no hash.
template <typename S>
Json WriteSection(const Section<S>& section, const S& from, Form form) {
  Json object = Json::object();
  for (const Key<S>& key : section.keys) {
    if (form == Form::kMeasured && !key.measured) continue;
    Json value = key.write(from, form);
    const bool is_default = value == key.default_value;
    if (value.is_null() || (is_default && (form == Form::kMeasured || value.empty()))) continue;
    object[key.name] = std::move(value);
  }
  return object;
}

// A section as the value of a key.
template <typename S>
Value<S> Sub(const Section<S>& section) {
  Value<S> value;
  value.type = "a map";
  value.schema = {{"type", "object"}};
  value.section = std::make_shared<const SectionInfo>(section.Info());
  value.read = [section](const YamlNode& node, const Where& where, Reading& reading) -> std::optional<S> {
    if (!node.IsMap()) {
      AddWrongType("a map", node, where, reading);
      return std::nullopt;
    }
    S read;
    ReadSection(section, node, where.path, reading, read);
    return read;
  };
  value.write = [section](const S& from, Form form) { return WriteSection(section, from, form); };
  return value;
}

}  // namespace assay::runner
