#include "engine/model/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>

#include "base/file.h"
#include "base/text.h"
#include "engine/model/model_test_support.h"

namespace assay::engine {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// Header text and `data` bytes as a file; aligned as a mapping is.
struct File {
  std::vector<uint64_t> words;
  size_t size;
  File(const std::string& header, size_t data, uint64_t claimed_header)
      : words((8 + header.size() + data + 7) / 8), size(8 + header.size() + data) {
    std::memcpy(words.data(), &claimed_header, 8);
    std::memcpy(reinterpret_cast<char*>(words.data()) + 8, header.data(), header.size());
  }
  File(const std::string& header, size_t data) : File(header, data, header.size()) {}
  std::span<const std::byte> bytes() const {
    return {reinterpret_cast<const std::byte*>(words.data()), size};
  }
};

std::string ErrorOf(const File& file) {
  const auto tensors = ParseSafetensors(file.bytes(), "w.safetensors");
  return tensors ? "" : tensors.error().message;
}

TEST(Safetensors, ReadsTensorsAndIgnoresMetadata) {
  std::string header =
      R"({"__metadata__":{"format":"pt"},"a":{"dtype":"BF16","shape":[2,3],"data_offsets":[0,12]},"b":{"dtype":"U8","shape":[],"data_offsets":[12,13]},"empty":{"dtype":"F32","shape":[0,4],"data_offsets":[0,0]}})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  const File file(header, 13);
  const auto tensors = ParseSafetensors(file.bytes(), "w");
  ASSERT_TRUE(tensors) << tensors.error().message;
  EXPECT_EQ(tensors->size(), 3u);
  EXPECT_EQ(tensors->at("a").shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(tensors->at("a").As<uint16_t>().size(), 6u);
  EXPECT_EQ(tensors->at("b").bytes.size(), 1u);
}

struct BadHeader {
  const char* name;
  const char* header;  // padded to whole words
  size_t data;
  const char* message;
};
const BadHeader kBad[] = {
    {"not JSON", "{\"a\":", 0, "is not valid JSON"},
    {"a list", "[]", 0, "must be a JSON object"},
    {"no dtype", R"({"a":{"shape":[1],"data_offsets":[0,1]}})", 1,
     "tensor a: needs dtype, shape and data_offsets"},
    {"unknown dtype", R"({"a":{"dtype":"F4","shape":[1],"data_offsets":[0,1]}})", 1,
     "tensor a: unknown dtype \"F4\""},
    {"dtype not a text", R"({"a":{"dtype":4,"shape":[1],"data_offsets":[0,1]}})", 1,
     "tensor a: unknown dtype 4"},
    {"shape not a list", R"({"a":{"dtype":"U8","shape":1,"data_offsets":[0,1]}})", 1, "shape is not a list"},
    {"negative side", R"({"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}})", 1,
     "impossible shape [-1]"},
    {"side beyond int64", R"({"a":{"dtype":"U8","shape":[0,9223372036854775808],"data_offsets":[0,0]}})", 0,
     "impossible shape [0,9223372036854775808]"},
    {"fraction of a side", R"({"a":{"dtype":"U8","shape":[1.0],"data_offsets":[0,1]}})", 1,
     "impossible shape [1.0]"},
    {"offset beyond any file",
     R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[18446744073709551615,18446744073709551616]}})", 1,
     "impossible data_offsets"},
    {"not an object", R"({"a":[1]})", 0, "tensor a: needs dtype, shape and data_offsets"},
    {"the same tensor twice",
     R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
     1, "safetensors header: has a twice"},
    {"the same field twice", R"({"a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1,
     "has dtype twice"},
    {"not UTF-8", "{\"\xff\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1,
     "is not valid JSON"},
    {"sides overflow", R"({"a":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0,
     "impossible shape"},
    {"size does not fit", R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4,
     "shape [2] of F32 needs 8 bytes, data_offsets give 4"},
    {"offsets reversed", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[2,1]}})", 2,
     "impossible data_offsets"},
    {"offset negative", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[-1,0]}})", 2,
     "impossible data_offsets"},
    {"one offset", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1]}})", 2, "impossible data_offsets"},
    {"truncated", R"({"a":{"dtype":"U8","shape":[9],"data_offsets":[0,9]}})", 8,
     "ends at byte 9 of the data, the file has 8: truncated?"},
    {"misaligned",
     R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"BF16","shape":[1],"data_offsets":[1,3]}})",
     3, "tensor b: starts at byte 1"},
    {"overlap",
     R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})",
     6, "tensor b overlaps a"},
    {"hole",
     R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"U8","shape":[1],"data_offsets":[3,4]}})",
     4, "2 bytes before tensor b belong to nothing"},
    {"bytes left over", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 5,
     "4 bytes after the last tensor"},
};

TEST(Safetensors, RefusesABadHeaderByFileAndTensor) {
  for (const BadHeader& bad : kBad) {
    std::string header = bad.header;
    header.resize((header.size() + 7) / 8 * 8, ' ');
    EXPECT_THAT(ErrorOf(File(header, bad.data)), HasSubstr(bad.message)) << bad.name;
    const bool truncated = std::string(bad.name) == "truncated";
    EXPECT_THAT(ErrorOf(File(header, bad.data)),
                StartsWith(truncated ? "missing weights: w.safetensors: " : "w.safetensors: "))
        << bad.name;
  }
}

TEST(Safetensors, RefusesAHeaderThatTheFileCannotHold) {
  EXPECT_THAT(ErrorOf(File("{}", 0, 3)), HasSubstr("header of 3 bytes in a file of 10"));
  EXPECT_THAT(ErrorOf(File("{}", 0, ~uint64_t{0})), HasSubstr("truncated or not safetensors"));
  EXPECT_THAT(ErrorOf(File("{}", 0, 200'000'000)), HasSubstr("truncated or not safetensors"));
  const std::vector<std::byte> tiny(7);
  EXPECT_THAT(ParseSafetensors(tiny, "w").error().message, HasSubstr("7 bytes, too short"));
}

TEST(Safetensors, RefusesDepthThatWouldExhaustTheStack) {
  const std::string deep =
      "{\"a\":{\"dtype\":" + std::string(1 << 20, '[') + std::string(1 << 20, ']') + "}}";
  EXPECT_THAT(ErrorOf(File(deep + "  ", 0)), HasSubstr("is nested more than 32 deep"));
}

TEST(Safetensors, CutShortIsMissingWeights) {
  EXPECT_THAT(ErrorOf(File("{}", 0, 3)), StartsWith("missing weights: w.safetensors: header of 3 bytes"));
  const std::vector<std::byte> tiny(7);
  EXPECT_THAT(ParseSafetensors(tiny, "w").error().message, StartsWith("missing weights: w: 7 bytes"));
}

// Every prefix of a real file is an error, never a crash.
TEST(Safetensors, EveryTruncationIsRefused) {
  CheckpointShape shape;
  shape.num_hidden_layers = 1;
  shape.vocab_size = 2;
  shape.num_local_experts = 4;
  const RandomModel checkpoint(shape);
  const Result<MappedFile> file = MappedFile::Open(checkpoint.folder / "model.safetensors");
  ASSERT_TRUE(file);
  ASSERT_TRUE(ParseSafetensors(file->bytes(), "w"));
  for (size_t size = 0; size < file->bytes().size(); size += size < 6000 ? 61 : 1009) {
    EXPECT_FALSE(ParseSafetensors(file->bytes().first(size), "w")) << size;
  }
}

std::string LoadError(const Path& folder) {
  const auto model = Model::Load(folder, {});
  return model ? "" : model.error().message;
}

TEST(ModelLoad, ShardsAndOneFileGiveTheSameLogits) {
  const RandomModel one({}, 5), three({}, 5, 3);
  const auto a = one.Load({}), b = three.Load({});
  ASSERT_TRUE(a && b);
  Running first({1, 2, 3}, 0, 4), second({1, 2, 3}, 0, 4);
  EXPECT_EQ(Prefill(*a, first), Prefill(*b, second));
  EXPECT_NE(a->WeightsHash(), b->WeightsHash()) << "the hash is of the files";
}

TEST(ModelLoad, HashFollowsWeightsAndConfig) {
  const RandomModel a({}, 1), again({}, 1), other({}, 2);
  EXPECT_EQ(a.Load({})->WeightsHash(), again.Load({})->WeightsHash());
  EXPECT_NE(a.Load({})->WeightsHash(), other.Load({})->WeightsHash());
  const std::string before = a.Load({})->WeightsHash();
  const std::string config = *ReadFile(a.folder / "config.json");
  ASSERT_TRUE(WriteFileAtomic(a.folder / "config.json", config + " "));
  EXPECT_NE(a.Load({})->WeightsHash(), before);
  EXPECT_EQ(before.size(), 64u);
}

TEST(ModelLoad, SaysWhichWeightsAreMissing) {
  const RandomModel checkpoint({}, 1, 2);
  const std::string folder = checkpoint.folder.path().string();
  std::filesystem::remove(checkpoint.folder / "model-00002-of-00002.safetensors");
  EXPECT_THAT(LoadError(folder),
              StartsWith("missing weights: " + folder + "/model-00002-of-00002.safetensors: "));
  std::filesystem::remove(checkpoint.folder / "model.safetensors.index.json");
  EXPECT_THAT(LoadError(folder),
              StartsWith("missing weights: " + folder + "/model.safetensors: no such file"));
  EXPECT_EQ(LoadError("/no/model"), "missing weights: /no/model: no such model folder");
}

TEST(ModelLoad, SaysWhichTensorIsMissingOrWrong) {
  const RandomModel checkpoint;
  const Path path = checkpoint.folder / "model.safetensors";
  const std::string whole = *ReadFile(path);
  const auto error_with = [&](const std::string& from, const std::string& to) {
    EXPECT_TRUE(WriteFileAtomic(path, ReplaceAll(whole, from, to)));
    return LoadError(checkpoint.folder.path());
  };
  EXPECT_EQ(error_with("model.layers.1.self_attn.sinks", "model.layers.1.self_attn.sinkz"),
            "missing weights: " + checkpoint.folder.path().string() +
                ": tensor model.layers.1.self_attn.sinks is in none of its files");
  EXPECT_THAT(error_with(R"("model.norm.weight":{"dtype":"BF16")", R"("model.norm.weight":{"dtype":"F16" )"),
              HasSubstr("tensor model.norm.weight must be BF16, found F16"));
  EXPECT_THAT(
      error_with(R"([8,64,2,16])", R"([8,64,16,2])"),
      HasSubstr("down_proj_blocks must have shape [8, 64, 2, 16] by config.json, found [8, 64, 16, 2]"));
}

TEST(ModelLoad, RefusesATensorInTwoShards) {
  const RandomModel checkpoint({}, 1, 2);
  const auto first = checkpoint.folder / "model-00001-of-00002.safetensors";
  const auto second = checkpoint.folder / "model-00002-of-00002.safetensors";
  std::filesystem::copy_file(first, second, std::filesystem::copy_options::overwrite_existing);
  EXPECT_THAT(LoadError(checkpoint.folder.path()),
              HasSubstr("model.embed_tokens.weight is in another shard too"));
}

TEST(ModelLoad, RefusesAShardThatDoesNotHoldWhatTheIndexSays) {
  const RandomModel checkpoint({}, 1, 2);
  const Path index = checkpoint.folder / "model.safetensors.index.json";
  std::string text = *ReadFile(index);
  const size_t at = text.find("model-00002", text.find("\"lm_head.weight\""));
  text[at + 10] = '1';
  ASSERT_TRUE(WriteFileAtomic(index, text));
  EXPECT_THAT(LoadError(checkpoint.folder.path()), StartsWith("missing weights: "));
}

TEST(ModelLoad, APipeIsNoWeightFile) {
  const RandomModel checkpoint;
  std::filesystem::remove(checkpoint.folder / "model.safetensors");
  ASSERT_EQ(::mkfifo((checkpoint.folder / "model.safetensors").c_str(), 0600), 0);
  EXPECT_THAT(LoadError(checkpoint.folder.path()), HasSubstr("model.safetensors: not a file"));
}

TEST(ModelLoad, RefusesAShardOutsideTheFolder) {
  const RandomModel checkpoint({}, 1, 2);
  const Path index = checkpoint.folder / "model.safetensors.index.json";
  ASSERT_TRUE(WriteFileAtomic(index, ReplaceAll(*ReadFile(index), "model-00001", "../model-00001")));
  EXPECT_THAT(LoadError(checkpoint.folder.path()), HasSubstr("must be a file name within the folder"));
}

}  // namespace
}  // namespace assay::engine
