#include "runner/config/reference.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/file.h"
#include "base/text.h"
#include "runner/config/config_file.h"
#include "runner/config/perf_eval.h"
#include "runner/config/vllm_eval.h"

namespace assay::runner {
namespace {

// ASSAY_UPDATE_GOLDEN=1 writes the documents instead of comparing them.
bool Updating() {
  return std::getenv("ASSAY_UPDATE_GOLDEN") != nullptr;
}

Path SourceFile(const char* name) {
  return Path(ASSAY_SOURCE_DIR) / name;
}

std::vector<SectionInfo> EverySection() {
  std::vector<SectionInfo> all = ConfigSections();
  all.insert(all.end(), SectionsOfOthers().begin(), SectionsOfOthers().end());
  return all;
}

std::string SectionMark(const SectionInfo& section) {
  return fmt::format("<!-- keys: {} -->\n", section.path.empty() ? "root" : section.path);
}
constexpr char kEndMark[] = "<!-- end -->\n";

TEST(Reference, EverySectionsTableIsInTheDocs) {
  const Path file = SourceFile("docs/configs.md");
  std::string text = ReadFile(file).value_or("");
  for (const SectionInfo& section : EverySection()) {
    const size_t mark = text.find(SectionMark(section));
    ASSERT_NE(mark, std::string::npos) << file << " has no place for the keys of " << section.path
                                       << ": add the lines " << SectionMark(section) << kEndMark;
    const size_t begin = mark + SectionMark(section).size();
    const size_t end = text.find(kEndMark, begin);
    ASSERT_NE(end, std::string::npos);
    if (Updating()) {
      text.replace(begin, end - begin, ReferenceTable(section));
    } else {
      EXPECT_EQ(text.substr(begin, end - begin), ReferenceTable(section))
          << "the key table changed; ASSAY_UPDATE_GOLDEN=1 runner_test --gtest_filter=Reference.* writes the "
             "docs";
    }
  }
  if (Updating()) {
    ASSERT_TRUE(WriteFileAtomic(file, text));
  }
}

TEST(Reference, TheJsonSchemaFileIsThatOfTheKeyTables) {
  const Path file = SourceFile("configs/schema.json");
  if (Updating()) {
    ASSERT_TRUE(WriteFileAtomic(file, ConfigJsonSchema()));
  }
  EXPECT_EQ(ReadFile(file).value_or(""), ConfigJsonSchema())
      << "the key table changed; ASSAY_UPDATE_GOLDEN=1 runner_test --gtest_filter=Reference.* writes the "
         "schema";
}

template <typename S>
void ExpectExamplesAreRead(const Section<S>& section) {
  for (const Key<S>& key : section.keys) {
    Mistakes mistakes;
    const YamlNode node = ParseYaml(key.name + ": " + key.example + "\n", "example", mistakes);
    Reading reading{mistakes, true};
    S read;
    if (mistakes.empty()) key.read(*node.Find(key.name), {key.name, key.example}, reading, read);
    EXPECT_TRUE(mistakes.empty()) << section.path << ": " << mistakes.Text();
  }
}

TEST(Reference, EveryExampleIsARightValue) {
  ExpectExamplesAreRead(ConfigSection());
  ExpectExamplesAreRead(EngineSection());
  ExpectExamplesAreRead(EvalsSection());
  ExpectExamplesAreRead(GpqaSection());
  ExpectExamplesAreRead(ServingSection());
  ExpectExamplesAreRead(GateSection());
  ExpectExamplesAreRead(WorkaroundSection());
  ExpectExamplesAreRead(SuiteSection());
  ExpectExamplesAreRead(VllmEvalSection());
  ExpectExamplesAreRead(PerfEvalSection());
  ExpectExamplesAreRead(PerfEvalBenchSection());
  ExpectExamplesAreRead(PerfEvalArgsSection());
  ExpectExamplesAreRead(GpuProfileSection());
}

TEST(Reference, EveryKeyHasAMeaningAndAnExample) {
  for (const SectionInfo& section : EverySection()) {
    EXPECT_FALSE(section.meaning.empty()) << section.path;
    for (const KeyInfo& key : section.keys) {
      EXPECT_FALSE(key.meaning.empty()) << section.path << "." << key.name;
      EXPECT_FALSE(key.example.empty()) << section.path << "." << key.name;
      EXPECT_FALSE(key.schema.empty()) << section.path << "." << key.name;
    }
  }
}

TEST(Reference, SchemaKnowsRequiredKeysTypesAndDefaults) {
  const Json schema = Json::parse(ConfigJsonSchema());
  const Json& config = schema["$defs"]["config"];
  EXPECT_EQ(config["required"], Json::array({"schema", "name", "hardware", "engine", "evals"}));
  EXPECT_EQ(config["additionalProperties"], false);
  const Json& gpqa = config["properties"]["evals"]["properties"]["gpqa"]["properties"];
  EXPECT_EQ(gpqa["threshold"]["maximum"], 1);
  EXPECT_EQ(gpqa["repeats"]["default"], 1);
  EXPECT_EQ(gpqa["tolerance"]["required"], Json::array({"kind", "value"}));
  const Json& shape = config["properties"]["evals"]["properties"]["serving"]["items"];
  EXPECT_EQ(shape["required"], Json::array({"name"}));
  EXPECT_FALSE(schema["$defs"]["partial_config"].contains("required"));
}

}  // namespace
}  // namespace assay::runner
