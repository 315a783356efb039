#include "base/file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/hash.h"

namespace assay {
namespace {

Path ScratchFile(const std::string& name) {
  return std::filesystem::temp_directory_path() / fmt::format("assay-{}-{}", name, ::getpid());
}

TEST(WriteFileAtomic, ReplacesTheOldContentAndLeavesNoTemporary) {
  const Path path = ScratchFile("atomic");
  ASSERT_TRUE(WriteFileAtomic(path, "old"));
  ASSERT_TRUE(WriteFileAtomic(path, "new"));
  EXPECT_EQ(ReadFile(path).value(), "new");
  EXPECT_FALSE(std::filesystem::exists(path.string() + fmt::format(".tmp{}", ::getpid())));
  std::filesystem::remove(path);
}

TEST(WriteFileAtomic, SaysWhereItFailed) {
  const Status status = WriteFileAtomic("/nonexistent/file", "x");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "/nonexistent/file: cannot be written: No such file or directory");
}

TEST(ReadFile, RefusesAFolder) {
  EXPECT_EQ(ReadFile("/tmp").error().message, "/tmp: is a folder, a file is needed");
}

TEST(ReadFile, RefusesADeviceInsteadOfReadingItForEver) {
  EXPECT_EQ(ReadFile("/dev/zero").error().message, "/dev/zero: is no regular file");
}

TEST(TailLines, KeepsTheLastLinesOnly) {
  const Path path = ScratchFile("tail");
  ASSERT_TRUE(WriteFileAtomic(path, "one\ntwo\nthree\n"));
  EXPECT_EQ(TailLines(path, 2), (std::vector<std::string>{"two", "three"}));
  EXPECT_EQ(TailLines(path, 9, 7), (std::vector<std::string>{"three"}));
  EXPECT_TRUE(TailLines("/nonexistent", 5).empty());
  std::filesystem::remove(path);
}

TEST(Sha256, MatchesThePublishedVector) {  // FIPS 180-2, appendix B.1
  EXPECT_EQ(Sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace assay
