#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "base/text.h"
#include "runner/config/config.h"
#include "testing/temp_dir.h"

namespace assay::runner {

// A whole config of few lines, which tests change in one place.
inline constexpr char kExampleConfig[] =
    "schema: assay/config/1\n"                        // 1
    "name: tiny\n"                                    // 2
    "hardware: cpu\n"                                 // 3
    "engine:\n"                                       // 4
    "  kind: bundled\n"                               // 5
    "  model: models/tiny\n"                          // 6
    "evals:\n"                                        // 7
    "  gpqa:\n"                                       // 8
    "    dataset: q.csv\n"                            // 9
    "    threshold: 0.568\n"                          // 10
    "    tolerance: {kind: absolute, value: 0.05}\n"  // 11
    "  serving:\n"                                    // 12
    "    - {name: s1, input_len: 8}\n";               // 13

inline std::string ExampleWith(const std::string& from, const std::string& to) {
  const std::string text = kExampleConfig;
  EXPECT_NE(text.find(from), std::string::npos) << from;
  return ReplaceAll(text, from, to);
}

// Files in a folder of their own; messages are given without the folder.
class ConfigFolder {
 public:
  Path Write(const std::string& name, const std::string& text) {
    const Path path = folder_.path() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  const Path& path() const { return folder_.path(); }
  std::string Relative(const std::string& message) const {
    return ReplaceAll(message, folder_.path().string() + "/", "");
  }
  template <typename T>
  std::string ErrorOf(const Result<T>& result) const {
    return result ? "" : Relative(result.error().message);
  }

 private:
  testing::TempDir folder_;
};

}  // namespace assay::runner
