#include "runner/run/model_identity.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "testing/temp_dir.h"

namespace assay::runner {
namespace {

TEST(ModelIdentity, ChangesWithTheWeightsAndNotWithTheFolder) {
  const testing::TempDir a, b;
  for (const testing::TempDir* folder : {&a, &b}) {
    ASSERT_TRUE(WriteFileAtomic(*folder / "config.json", "{}"));
    ASSERT_TRUE(WriteFileAtomic(*folder / "model.safetensors", std::string(3 << 20, 'w')));
  }
  EXPECT_EQ(ModelIdentity(a.path()), ModelIdentity(b.path()));
  ASSERT_TRUE(WriteFileAtomic(b / "model.safetensors", std::string((3 << 20) - 1, 'w') + "x"));
  EXPECT_NE(ModelIdentity(a.path()), ModelIdentity(b.path()));
}

TEST(ModelIdentity, OfAFileChangesWithTheFileAndNotWithItsFolder) {
  const testing::TempDir a, b;
  for (const testing::TempDir* folder : {&a, &b}) {
    ASSERT_TRUE(WriteFileAtomic(*folder / "m.gguf", std::string(3 << 20, 'w')));
  }
  EXPECT_EQ(ModelIdentity(a / "m.gguf"), ModelIdentity(b / "m.gguf"));
  ASSERT_TRUE(WriteFileAtomic(b / "m.gguf", std::string((3 << 20) - 1, 'w') + "x"));
  EXPECT_NE(ModelIdentity(a / "m.gguf"), ModelIdentity(b / "m.gguf"));
}

TEST(ModelIdentity, OfAModelIdIsTheId) {
  EXPECT_EQ(ModelIdentity("openai/gpt-oss-20b"), "id:openai/gpt-oss-20b");
}

}  // namespace
}  // namespace assay::runner
