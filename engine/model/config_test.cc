#include "engine/model/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/model/model.h"
#include "engine/model/random_checkpoint.h"
#include "testing/temp_dir.h"

namespace assay::engine {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using Json = nlohmann::json;

// gpt-oss-20b's own file, what an engine reads of it.
Json GptOss20b() {
  Json layers = Json::array();
  for (int i = 0; i < 24; ++i) layers.push_back(i % 2 == 0 ? "sliding_attention" : "full_attention");
  return {{"model_type", "gpt_oss"},
          {"attention_bias", true},
          {"hidden_act", "silu"},
          {"tie_word_embeddings", false},
          {"experts_per_token", 4},
          {"num_experts_per_tok", 4},
          {"vocab_size", 201088},
          {"hidden_size", 2880},
          {"intermediate_size", 2880},
          {"num_hidden_layers", 24},
          {"num_attention_heads", 64},
          {"num_key_value_heads", 8},
          {"head_dim", 64},
          {"num_local_experts", 32},
          {"sliding_window", 128},
          {"max_position_embeddings", 131072},
          {"layer_types", layers},
          {"rms_norm_eps", 1e-5},
          {"swiglu_limit", 7.0},
          {"rope_theta", 150000},
          {"rope_scaling",
           {{"beta_fast", 32.0},
            {"beta_slow", 1.0},
            {"factor", 32.0},
            {"original_max_position_embeddings", 4096},
            {"rope_type", "yarn"},
            {"truncate", false}}},
          {"quantization_config", {{"quant_method", "mxfp4"}}}};
}

std::string ErrorOf(const Json& json) {
  const Result<ModelConfig> config = ParseModelConfig(json.dump(), "m/config.json");
  return config ? "" : config.error().message;
}

TEST(ModelConfig, ReadsGptOss20b) {
  const Result<ModelConfig> config = ParseModelConfig(GptOss20b().dump(), "config.json");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->num_attention_heads, 64);
  EXPECT_EQ(config->num_experts_per_tok, 4);
  EXPECT_TRUE(config->sliding[0]);
  EXPECT_FALSE(config->sliding[1]);
  EXPECT_EQ(config->rope_theta, 150000);
  EXPECT_EQ(config->rope_original_max_position, 4096);
  EXPECT_FALSE(config->rope_truncate);
}

TEST(ModelConfig, ReadsTheNewerRopeSpelling) {
  Json json = GptOss20b();
  json["rope_parameters"] = json["rope_scaling"];
  json["rope_parameters"]["rope_theta"] = 1234.0;
  json.erase("rope_scaling");
  json.erase("rope_theta");
  const Result<ModelConfig> config = ParseModelConfig(json.dump(), "config.json");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->rope_theta, 1234);
  EXPECT_EQ(config->rope_factor, 32);
}

TEST(ModelConfig, ReadsTheOriginalNameOfExpertsPerToken) {
  Json json = GptOss20b();
  json.erase("num_experts_per_tok");
  EXPECT_EQ(ErrorOf(json), "");
}

TEST(ModelConfig, NamesEveryMissingField) {
  const Json whole = GptOss20b();
  for (const auto& [name, value] : whole.items()) {
    if (name == "experts_per_token" || name == "num_experts_per_tok") continue;  // each stands for the other
    if (name == "quantization_config") continue;                                 // bf16 has none
    Json json = GptOss20b();
    json.erase(name);
    EXPECT_THAT(ErrorOf(json), HasSubstr(name == "rope_theta" ? "rope_scaling.rope_theta is missing"
                                                              : name + " is missing"));
  }
  for (const auto& [name, value] : whole["rope_scaling"].items()) {
    Json json = GptOss20b();
    json["rope_scaling"].erase(name);
    EXPECT_EQ(ErrorOf(json), "m/config.json: field rope_scaling." + name + " is missing");
  }
}

struct Bad {
  const char* name;
  const char* pointer;
  Json value;
  const char* message;
};
const Bad kBad[] = {
    {"text for a number", "/hidden_size", "2880", "hidden_size must be a whole number, found \"2880\""},
    {"fraction", "/head_dim", 64.5, "head_dim must be a whole number"},
    {"zero", "/num_hidden_layers", 0, "num_hidden_layers must be from 1"},
    {"negative", "/vocab_size", -1, "vocab_size must be from 1"},
    {"huge", "/vocab_size", 9223372036854775807u, "vocab_size"},
    {"K not in blocks", "/hidden_size", 2890,
     "hidden_size must be a multiple of 32 (an MXFP4 block), found 2890 = 90 * 32 + 10"},
    {"experts not in blocks", "/intermediate_size", 48,
     "intermediate_size must be a multiple of 32 (an MXFP4 block), found 48 = 1 * 32 + 16"},
    {"heads not in groups", "/num_attention_heads", 63,
     "num_attention_heads must be a multiple of 8 (num_key_value_heads), found 63 = 7 * 8 + 7"},
    {"more experts a token than there are", "/num_experts_per_tok", 33,
     "num_experts_per_tok must be at most"},
    {"layer types cut", "/layer_types", Json::array({"full_attention"}),
     "layer_types must be a list of num_hidden_layers = 24"},
    {"unknown layer type", "/layer_types/3", "linear_attention", "found \"linear_attention\""},
    {"other rope", "/rope_scaling/rope_type", "llama3", "rope_scaling.rope_type must be yarn, found llama3"},
    {"factor below one", "/rope_scaling/factor", 0.5, "rope_scaling.factor must be at least 1"},
    {"betas swapped", "/rope_scaling/beta_fast", 0.5, "beta_fast must be at least beta_slow"},
    {"theta of zero", "/rope_theta", 0, "rope_theta must be above 1"},
    {"other architecture", "/model_type", "llama", "model_type must be gpt_oss, found llama"},
    {"tied embeddings", "/tie_word_embeddings", true, "tie_word_embeddings must be false"},
    {"other weights", "/quantization_config/quant_method", "gptq",
     "quant_method must be mxfp4 or quark, found gptq"},
    {"epsilon of zero", "/rms_norm_eps", 0, "rms_norm_eps must be above 0"},
};

TEST(ModelConfig, RefusesValuesThatMakeNoSense) {
  for (const Bad& bad : kBad) {
    Json json = GptOss20b();
    json[Json::json_pointer(bad.pointer)] = bad.value;
    EXPECT_THAT(ErrorOf(json), HasSubstr(bad.message)) << bad.name;
    EXPECT_THAT(ErrorOf(json), StartsWith("m/config.json: field ")) << bad.name;
  }
}

TEST(ModelConfig, RefusesWhatIsNotAnObject) {
  EXPECT_EQ(ParseModelConfig("{\"a\":", "c.json").error().message, "c.json: is not valid JSON");
  EXPECT_EQ(ParseModelConfig("[]", "c.json").error().message, "c.json: must be a JSON object");
}

TEST(ModelConfig, AMissingFolderOrFileIsMissingWeights) {
  const testing::TempDir folder;
  EXPECT_EQ(LoadModelConfig("/no/such").error().message, "missing weights: /no/such: no such model folder");
  EXPECT_EQ(LoadModelConfig(folder.path()).error().message,
            "missing weights: " + (folder / "config.json").string() + ": no such file");
  EXPECT_EQ(LoadModelConfig(folder.path()).error().kind, ErrorKind::kUsage);
}

TEST(GenerationConfig, ReadsOneStopOrAList) {
  EXPECT_EQ(ParseGenerationConfig(R"({"eos_token_id": 7})", "g")->eos_token_ids, std::vector<int32_t>{7});
  const auto config = ParseGenerationConfig(
      R"({"eos_token_id": [200002, 199999, 200012], "do_sample": true, "temperature": 0.5, "top_p": 0.9, "top_k": 20})",
      "g");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->eos_token_ids, (std::vector<int32_t>{200002, 199999, 200012}));
  EXPECT_TRUE(config->do_sample);
  EXPECT_EQ(config->temperature, 0.5);
  EXPECT_EQ(config->top_p, 0.9);
  EXPECT_EQ(config->top_k, 20);
}

TEST(GenerationConfig, RefusesWhatWouldNeverStopOrSample) {
  const std::pair<const char*, const char*> cases[] = {
      {"{}", "eos_token_id is missing"},
      {R"({"eos_token_id": []})", "eos_token_id must be a token id"},
      {R"({"eos_token_id": -1})", "eos_token_id must be a token id"},
      {R"({"eos_token_id": 1, "temperature": -1})", "temperature must not be negative"},
      {R"({"eos_token_id": 1, "top_p": 0})", "top_p must be above 0"},
      {R"({"eos_token_id": 1, "top_k": -1})", "top_k must not be negative"},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_THAT(ParseGenerationConfig(text, "g").error().message, HasSubstr(message)) << text;
  }
}

TEST(CheckModelOptions, ShowsTheArithmeticOfADegreeThatDoesNotDivide) {
  const ModelConfig config = *ParseModelConfig(GptOss20b().dump(), "config.json");
  const auto error = [&](int ranks) {
    ModelOptions options;
    options.tensor_parallel_size = ranks;
    const Status status = CheckModelOptions(config, options);
    return status ? "" : status.error().message;
  };
  for (const int ranks : {1, 2, 4, 8}) EXPECT_EQ(error(ranks), "");
  EXPECT_EQ(error(0), "tensor_parallel_size must be at least 1, got 0");
  EXPECT_EQ(error(3), "tensor_parallel_size 3 does not divide the 8 key-value heads: 8 = 3 * 2 + 2");
}

TEST(CheckModelOptions, SaysWhatAGpuDoesNotDo) {
  const ModelConfig config = *ParseModelConfig(GptOss20b().dump(), "c.json");
  ModelOptions options;
  options.device = Device::kGpu;
  EXPECT_TRUE(CheckModelOptions(config, options));
  options.tensor_parallel_size = 8;
  EXPECT_TRUE(CheckModelOptions(config, options));
  ModelConfig odd = config;
  odd.hidden_size = 2848;
  EXPECT_EQ(
      CheckModelOptions(odd, options).error().message,
      "tensor_parallel_size 8 on GPUs needs a hidden_size that is a multiple of 8 * 8, and hidden_size is "
      "2848");
  odd = config;
  odd.intermediate_size = 2848;
  EXPECT_THAT(CheckModelOptions(odd, options).error().message, HasSubstr("intermediate_size is 2848"));
  odd = config;
  odd.vocab_size = 201080;
  EXPECT_THAT(CheckModelOptions(odd, options).error().message, HasSubstr("vocab_size is 201080"));
  options.tensor_parallel_size = 1;
  EXPECT_TRUE(CheckModelOptions(odd, options)) << "one GPU takes all";
  options.dense_dtype = DenseDtype::kInt8;
  EXPECT_EQ(CheckModelOptions(config, options).error().message,
            "int8 runs on the CPU only: the GPU backend multiplies bf16");
  options = {};
  options.device = Device::kGpu;
  options.moe_backend = MoeBackend::kReference;
  EXPECT_EQ(CheckModelOptions(config, options).error().message, "the reference backend runs on the CPU only");
  options.moe_backend = MoeBackend::kFused;
  EXPECT_TRUE(CheckModelOptions(config, options));
  options.batch_invariant = true;
  EXPECT_EQ(CheckModelOptions(config, options).error().message,
            "the fused backend is for batches of few rows, which --batch-invariant computes like any other: "
            "leave out one of the two");
}

TEST(CheckModelOptions, SaysThatTheFusedBackendNeedsAGpu) {
  const ModelConfig config = *ParseModelConfig(GptOss20b().dump(), "c.json");
  ModelOptions options;
  options.moe_backend = MoeBackend::kFused;
  const Status status = CheckModelOptions(config, options);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(status.error().message,
            "the fused backend runs on a GPU only: add --device gpu, or take --moe-backend grouped");
}

TEST(CheckModelOptions, BlocksAreWholeVectors) {
  const ModelConfig config = *ParseModelConfig(GptOss20b().dump(), "config.json");
  ModelOptions options;
  options.block_size = 24;
  EXPECT_EQ(CheckModelOptions(config, options).error().message,
            "block_size must be a multiple of 16 tokens, got 24");
}

}  // namespace
}  // namespace assay::engine
