#include "runner/config/load.h"

#include <algorithm>

#include "base/text.h"
#include "runner/config/config_file.h"
#include "runner/config/file_format.h"
#include "runner/config/load_others.h"

namespace assay::runner {
namespace {

constexpr size_t kMaxExtends = 8;

}  // namespace

std::string MissingFile(const Path& file) {
  std::vector<std::string> names;
  std::error_code ignored;
  const Path folder = file.has_parent_path() ? file.parent_path() : Path(".");
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  const auto nearest = NearestWord(file.filename().string(), names);
  return nearest ? fmt::format("no such file; did you mean {}?", (file.parent_path() / *nearest).string())
                 : std::string("no such file; check the path");
}

Result<std::string> ReadConfigFile(const Path& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    return Fail(ErrorKind::kUsage, "{}: {}", file.string(), MissingFile(file));
  }
  return ReadFile(file);
}

namespace {

// The file with everything it extends below it. `chain` are the files that led here.
Result<YamlNode> LoadTree(const Path& file, std::vector<Path> chain, Mistakes& mistakes) {
  ASSIGN_OR_RETURN(const std::string text, ReadConfigFile(file));
  YamlNode tree = ParseYaml(text, file.string(), mistakes);
  const YamlNode* extends = tree.Find("extends");
  if (extends == nullptr || extends->kind != YamlNode::Kind::kScalar) return tree;

  chain.push_back(file.lexically_normal());
  const Path base = (file.parent_path() / extends->text).lexically_normal();
  if (std::find(chain.begin(), chain.end(), base) != chain.end() || chain.size() > kMaxExtends) {
    mistakes.Add(
        extends->mark, "extends",
        fmt::format("{} extends this file in turn, or there are more than {} files in a row; cut the "
                    "chain",
                    base.string(), kMaxExtends));
    return tree;
  }
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(base, ignored)) {
    mistakes.Add(extends->mark, "extends",
                 fmt::format("{}: {} (relative to this file)", base.string(), MissingFile(base)));
    return tree;
  }
  ASSIGN_OR_RETURN(YamlNode below, LoadTree(base, std::move(chain), mistakes));
  return Overlay(std::move(below), tree);
}

std::string SchemaOf(const YamlNode& tree) {
  const YamlNode* schema = tree.Find("schema");
  return schema != nullptr ? schema->text : "";
}

template <typename S>
Result<S> ReadTree(const Section<S>& section, const YamlNode& tree, Mistakes& mistakes, bool partial) {
  S read;
  Reading reading{mistakes, partial};
  if (mistakes.empty()) ReadSection(section, tree, "", reading, read);
  if (!mistakes.empty()) return tl::unexpected(mistakes.ToError());
  return read;
}

}  // namespace

Result<LoadedFile> LoadAny(const Path& file) {
  Mistakes mistakes;
  ASSIGN_OR_RETURN(const YamlNode tree, LoadTree(file, {}, mistakes));
  const FileFormat format = RecogniseFormat(tree);
  if (mistakes.empty() && format != FileFormat::kAssay) return LoadOther(format, tree, file);
  LoadedFile loaded;
  const std::string schema = SchemaOf(tree);
  if (schema == kSuiteSchema) {
    loaded.kind = "suite";
    ASSIGN_OR_RETURN(const SuiteFile suite, ReadTree(SuiteSection(), tree, mistakes, false));
    loaded.suite = ToSuite(suite);
    loaded.suite->file = file;
    return loaded;
  }
  ASSIGN_OR_RETURN(const ConfigFile config, ReadTree(ConfigSection(), tree, mistakes, schema == kBaseSchema));
  loaded.kind = schema == kBaseSchema ? "base" : "config";
  if (schema == kBaseSchema) return loaded;
  loaded.config = ToConfig(config);
  loaded.config->file = file;
  return loaded;
}

Result<Config> LoadConfig(const Path& file) {
  ASSIGN_OR_RETURN(LoadedFile loaded, LoadAny(file));
  if (loaded.config) return std::move(*loaded.config);
  if (loaded.suite) {
    return Fail(ErrorKind::kUsage, "{}: is a suite; name a config and give this with --suite", file.string());
  }
  if (loaded.kind != "base") {
    return Fail(ErrorKind::kUsage, "{}: {}: nothing to run; name a workload", file.string(), loaded.kind);
  }
  return Fail(ErrorKind::kUsage, "{}: is a base; name a config that extends it", file.string());
}

Result<Suite> LoadSuite(const std::string& name_or_file, const Path& configs_folder) {
  const bool is_file = name_or_file.find('/') != std::string::npos || Path(name_or_file).has_extension();
  const Path file = is_file ? Path(name_or_file) : configs_folder / "suites" / (name_or_file + ".yaml");
  ASSIGN_OR_RETURN(LoadedFile loaded, LoadAny(file));
  if (loaded.suite) return std::move(*loaded.suite);
  return Fail(ErrorKind::kUsage, "{}: is no suite; a suite begins with schema: {}", file.string(),
              kSuiteSchema);
}

Result<std::vector<Path>> LoadList(const Path& file) {
  ASSIGN_OR_RETURN(const std::string text, ReadConfigFile(file));
  Mistakes mistakes;
  const auto name = std::make_shared<const std::string>(file.string());
  std::vector<Path> paths;
  int number = 0;
  for (const std::string& line : SplitLines(text)) {
    ++number;
    const std::string entry(Trim(std::string_view(line).substr(0, line.find('#'))));
    if (entry.empty()) continue;
    const Path path = (file.parent_path() / entry).lexically_normal();
    std::error_code ignored;
    if (std::filesystem::is_regular_file(path, ignored)) {
      paths.push_back(path);
    } else {
      mistakes.Add({name, number, 1}, path.string(), MissingFile(path));
    }
  }
  if (paths.empty() && mistakes.empty()) {
    mistakes.Add({name, 0, 0}, "", "lists no file; write one path a line, relative to this file");
  }
  if (!mistakes.empty()) return tl::unexpected(mistakes.ToError());
  return paths;
}

}  // namespace assay::runner
