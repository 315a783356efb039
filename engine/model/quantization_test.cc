#include "engine/model/quantization.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/model/random_checkpoint.h"

namespace assay::engine {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

Json Config(WeightLayout layout) {
  RandomCheckpoint checkpoint;
  checkpoint.layout = layout;
  return Json::parse(RandomConfigJson(checkpoint));
}

Result<Quantization> Read(const Json& config) {
  return ReadQuantization(JsonFields(config, "m/config.json"), 2);
}

TEST(Quantization, ReadsEveryLayoutThatRuns) {
  const struct {
    WeightLayout layout;
    ExpertFormat experts;
    bool fp8_activations, fp8_kv_cache;
  } rows[] = {{WeightLayout::kMxfp4, ExpertFormat::kMxfp4, false, false},
              {WeightLayout::kBf16, ExpertFormat::kBf16, false, false},
              {WeightLayout::kQuark, ExpertFormat::kQuarkMxfp4, false, false},
              {WeightLayout::kQuarkFp8, ExpertFormat::kQuarkMxfp4, true, false},
              {WeightLayout::kQuarkFp8Kv, ExpertFormat::kQuarkMxfp4, true, true}};
  for (const auto& row : rows) {
    const auto quantization = Read(Config(row.layout));
    ASSERT_TRUE(quantization) << quantization.error().message;
    EXPECT_EQ(quantization->experts, row.experts);
    EXPECT_EQ(quantization->fp8_activations, row.fp8_activations);
    EXPECT_EQ(quantization->fp8_kv_cache, row.fp8_kv_cache);
    EXPECT_EQ(quantization->gate_up_order, GateUpOrder::kInterleaved);
  }
}

TEST(Quantization, ALayersOwnSchemeGoesBeforeTheGlobalOne) {
  Json config = Config(WeightLayout::kQuarkFp8);
  Json& quark = config["quantization_config"];
  quark["layer_quant_config"]["*mlp.experts*"] = quark["global_quant_config"];
  quark["global_quant_config"] = {{"weight", {{"dtype", "fp8_e4m3"}}}};
  EXPECT_TRUE(Read(config)) << Read(config).error().message;
  quark["layer_quant_config"] = Json::object();
  EXPECT_THAT(Read(config).error().message, HasSubstr("global_quant_config.weight.dtype must be \"fp4\""));
}

struct Bad {
  const char* name;
  const char* pointer;  // below quantization_config
  Json value;
  const char* message;
};
const Bad kBad[] = {
    {"method", "/quant_method", "awq", "quant_method must be mxfp4 or quark, found awq"},
    {"FP8 weights", "/global_quant_config/weight/dtype", "fp8_e4m3",
     "field quantization_config.global_quant_config.weight.dtype must be \"fp4\", found \"fp8_e4m3\""},
    {"other groups", "/global_quant_config/weight/group_size", 16, "weight.group_size must be 32, found 16"},
    {"other scales", "/global_quant_config/weight/scale_format", "e4m3",
     "weight.scale_format must be \"e8m0\""},
    {"weights per tensor", "/global_quant_config/weight/qscheme", "per_tensor", "weight.qscheme must be"},
    {"dynamic activations", "/global_quant_config/input_tensors/is_dynamic", true,
     "input_tensors.is_dynamic must be false, found true"},
    {"FP4 activations", "/global_quant_config/input_tensors/dtype", "fp4",
     "input_tensors.dtype must be \"fp8_e4m3\", found \"fp4\""},
    {"activations per token", "/global_quant_config/input_tensors/qscheme", "per_channel",
     "input_tensors.qscheme must be"},
    {"quantised attention", "/exclude", Json::array({"lm_head"}),
     "global_quant_config.weight quantises model.layers.0.self_attn.q_proj, which must be bf16"},
    {"experts left out", "/exclude", Json::array({"*"}), "exclude names the experts"},
    {"regular expression", "/exclude", Json::array({"re:.*attn"}), "exclude has a regular expression"},
    {"by type of layer",
     "/layer_type_quant_config",
     {{"Linear", nullptr}},
     "layer_type_quant_config must be empty"},
    {"KV group without a scheme", "/export/kv_cache_group", Json::array({"*x_proj"}),
     "layer_quant_config.*x_proj is missing"},
    {"KV in another type", "/layer_quant_config/*k_proj/output_tensors/dtype", "int8",
     "layer_quant_config.*k_proj.output_tensors.dtype must be \"fp8_e4m3\", found \"int8\""},
    {"half of the experts",
     "/layer_quant_config/*down_proj",
     {{"weight", nullptr}},
     "layer_quant_config.*down_proj.weight is missing"},
    {"order", "/gate_up_order", "shuffled", "gate_up_order must be interleaved or separate, found shuffled"},
};

TEST(Quantization, RefusesWhatDoesNotRunByTheFieldThatAsksForIt) {
  for (const Bad& bad : kBad) {
    Json config = Config(WeightLayout::kQuarkFp8Kv);
    config[Json::json_pointer(std::string("/quantization_config") + bad.pointer)] = bad.value;
    const auto read = Read(config);
    ASSERT_FALSE(read) << bad.name;
    EXPECT_THAT(read.error().message, HasSubstr(bad.message)) << bad.name;
    EXPECT_THAT(read.error().message, ::testing::StartsWith("m/config.json: field quantization_config."));
  }
}

}  // namespace
}  // namespace assay::engine
