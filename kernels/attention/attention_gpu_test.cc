#include <algorithm>

#include "kernels/attention/attention.h"
#include "kernels/attention/attention_tiles_gpu.h"
#include "kernels/fp8/fp8.h"
#include "kernels/gpu/gpu_test_support.h"
#include "kernels/rotary/rotary.h"
#include "kernels/rotary/rotary_gpu.h"

namespace assay::kernels::gpu {
namespace {

const YarnOptions kGptOss{64, 150000, 32, 32, 1, 4096, false};

// What the cache keeps numbers as. Of the scales of FP8 some numbers are beyond the largest code and some
// among the subnormal ones.
struct Kept {
  bool fp8 = false;
  float key_scale = 1, value_scale = 1;
};
const Kept kKept[] = {{}, {true, 0.03f, 0.017f}};

// Some sequences in one paged cache, written by RotateAndStore, and the same on the host for the reference.
struct Scene {
  int64_t dim, kv_heads, group, block_size;
  std::vector<int64_t> lengths;
  Kept kept;
  int64_t heads = kv_heads * group, rows = 0, stride = 64, pool = 0;
  std::vector<int32_t> positions, sequence_of, tables;
  std::vector<float> sinks;
  RotaryTable table;
  std::vector<Bf16> qkv;

  Stream stream;
  DeviceBuffer<Bf16> device_qkv;
  DeviceBuffer<uint8_t> cache_memory;
  DeviceBuffer<int32_t> device_positions, device_sequence_of, device_tables;
  DeviceBuffer<float> device_sinks, cos, sin;

  Scene(int64_t dim_, int64_t kv_heads_, int64_t group_, int64_t block, std::vector<int64_t> lengths_,
        const Kept& kept_ = {})
      : dim(dim_),
        kv_heads(kv_heads_),
        group(group_),
        block_size(block),
        lengths(std::move(lengths_)),
        kept(kept_) {
    TestData data(static_cast<uint32_t>(dim + group));
    for (size_t s = 0; s < lengths.size(); ++s) {
      for (int64_t p = 0; p < lengths[s]; ++p) {
        positions.push_back(static_cast<int32_t>(p));
        sequence_of.push_back(static_cast<int32_t>(s));
      }
      pool += (lengths[s] + block - 1) / block;
    }
    rows = static_cast<int64_t>(positions.size());
    tables.assign(lengths.size() * static_cast<size_t>(stride), -7);
    int64_t next = pool += 3;
    for (size_t s = 0; s < lengths.size(); ++s) {  // from the end, so not in order
      for (int64_t b = 0; b * block < lengths[s]; ++b)
        tables[s * static_cast<size_t>(stride) + static_cast<size_t>(b)] = static_cast<int32_t>(--next);
    }
    qkv = Rounded(data.Values(rows * Width(), 0.3f));
    sinks = data.Values(heads);
    YarnOptions options = kGptOss;
    options.head_dim = dim;
    table = MakeRotaryTable(options, *std::max_element(lengths.begin(), lengths.end()));
    device_qkv = Input(stream, qkv);
    cache_memory = Unwritten<uint8_t>(stream, pool * Cache().BlockElements() * (kept.fp8 ? 1 : 2));  // NaNs
    device_positions = Input(stream, positions);
    device_sequence_of = Input(stream, sequence_of);
    device_tables = Input(stream, tables);
    device_sinks = Input(stream, sinks);
    cos = Input(stream, table.cos);
    sin = Input(stream, table.sin);
    RotateAndStore(stream.handle(), {device_qkv.data(), rows, heads, cos.data(), sin.data(),
                                     device_positions.data(), Cache(), Tables()});
  }
  int64_t Width() const { return (heads + 2 * kv_heads) * dim; }
  PagedCache Cache() const {
    return {cache_memory.data(), kv_heads, block_size, dim, kept.fp8, kept.key_scale, kept.value_scale};
  }
  // Keys and values as the cache has them; of a code its number, without its scale.
  std::vector<float> Numbers() const {
    const std::vector<uint8_t> bytes = ToHost(stream, cache_memory);
    std::vector<float> numbers;
    for (size_t i = 0; i < bytes.size(); ++i) {
      if (kept.fp8) {
        numbers.push_back(DecodeFp8(Fp8::kE4M3FN, bytes[i]));
      } else if (i % 2 == 0) {
        numbers.push_back(FromBf16(static_cast<Bf16>(bytes[i] | bytes[i + 1] << 8)));
      }
    }
    return numbers;
  }
  BlockTables Tables() const { return {device_tables.data(), stride, device_sequence_of.data()}; }

  std::vector<float> Run(int64_t window, int64_t splits) const {
    const auto out = Unwritten<Bf16>(stream, rows * heads * dim);
    const auto partial = Unwritten<float>(stream, AttentionPartials(rows, heads, splits, dim));
    Attention(stream.handle(),
              {device_qkv.data(), Width(), out.data(), rows, heads, device_positions.data(), Cache(),
               Tables(), device_sinks.data(), window, Scale(), partial.data(), splits});
    return Floats(ToHost(stream, out));
  }
  // The same by tiles, of rows from `first` on of each sequence.
  std::vector<float> RunTiles(int64_t window, int64_t first = 0) const {
    std::vector<RowTile> tiles;
    const int64_t tile_rows = AttentionTileRows(group);
    int64_t begin = 0;
    for (const int64_t length : lengths) {
      for (int64_t row = first; row < length; row += tile_rows)
        tiles.push_back(
            {static_cast<int32_t>(begin + row), static_cast<int32_t>(std::min(tile_rows, length - row))});
      begin += length;
    }
    const auto device_tiles = Input(stream, tiles);
    const auto out = Unwritten<Bf16>(stream, rows * heads * dim);
    AttentionOfTiles(stream.handle(),
                     {device_qkv.data(), Width(), out.data(), rows, heads, device_positions.data(), Cache(),
                      Tables(), device_sinks.data(), window, Scale(), nullptr, 0},
                     device_tiles.data(), device_tiles.size());
    return Floats(ToHost(stream, out));
  }
  float Scale() const { return 1 / std::sqrt(static_cast<float>(dim)); }

  // By the definition, from what the device put into its cache.
  std::vector<float> Expected(int64_t window) const {
    const std::vector<float> q = Floats(ToHost(stream, device_qkv));
    const std::vector<float> numbers = Numbers();
    std::vector<float> out(static_cast<size_t>(rows * heads * dim));
    for (int64_t h = 0; h < kv_heads; ++h) {
      const int64_t block_floats = block_size * dim;
      std::vector<float> keys(static_cast<size_t>(pool * block_floats)), values = keys;
      const PagedHead head{keys.data(), values.data(), block_floats, block_size, dim};
      for (int64_t b = 0; b < pool; ++b) {
        for (int64_t slot = 0; slot < block_size; ++slot) {
          const float* from =
              numbers.data() + b * 2 * kv_heads * block_floats + (h * block_size + slot) * dim;
          std::vector<float> key(from, from + dim), value = key;
          for (size_t d = 0; d < key.size(); ++d) {
            key[d] = from[d] * kept.key_scale;
            value[d] = from[d + static_cast<size_t>(kv_heads * block_floats)] * kept.value_scale;
          }
          StoreKeyValue(head, b, slot, key.data(), value.data());
        }
      }
      int64_t first_row = 0;
      for (size_t s = 0; s < lengths.size(); ++s) {
        AttentionReference(
            head, {q.data() + first_row * Width() + h * group * dim, Width(),
                   out.data() + first_row * heads * dim + h * group * dim, heads * dim, lengths[s], 0, window,
                   std::span(tables).subspan(s * static_cast<size_t>(stride), static_cast<size_t>(stride)),
                   sinks.data() + h * group, group, Scale()});
        first_row += lengths[s];
      }
    }
    return out;
  }
};

// Where the cache has a row's first key; its first value is `*to_value` further on.
int64_t KeyAt(const Scene& scene, int64_t row, int64_t kv_head, int64_t* to_value) {
  const auto at = static_cast<size_t>(row);
  const int64_t position = scene.positions[at];
  const int64_t block =
      scene.tables[static_cast<size_t>(scene.sequence_of[at] * scene.stride + position / scene.block_size)];
  *to_value = scene.kv_heads * scene.block_size * scene.dim;
  return block * scene.Cache().BlockElements() +
         (kv_head * scene.block_size + position % scene.block_size) * scene.dim;
}
// A row's [query heads | key heads | value heads], turned by the definition.
std::vector<float> TurnedRow(const Scene& scene, int64_t row) {
  std::vector<float> turned =
      Floats({scene.qkv.begin() + row * scene.Width(), scene.qkv.begin() + (row + 1) * scene.Width()});
  RotaryReference(scene.table, scene.positions[static_cast<size_t>(row)], scene.heads + scene.kv_heads,
                  turned.data());
  return turned;
}

TEST(RotaryGpu, MatchesTheReferenceAndStoresWhatItTurned) {
  for (const int64_t dim : {16, 32, 64, 128}) {
    const Scene scene(dim, 2, 3, 16, {40, 7});
    const std::vector<float> turned = Floats(ToHost(scene.stream, scene.device_qkv));
    const std::vector<float> kept = scene.Numbers();
    for (int64_t row = 0; row < scene.rows; ++row) {
      const std::vector<float> expected = TurnedRow(scene, row);
      for (int64_t i = 0; i < scene.heads * dim; ++i)
        ASSERT_TRUE(Close(turned[static_cast<size_t>(row * scene.Width() + i)],
                          expected[static_cast<size_t>(i)], kBf16Result, 100));
      for (int64_t h = 0; h < scene.kv_heads; ++h) {
        int64_t to_value = 0;
        const int64_t key = KeyAt(scene, row, h, &to_value);
        for (int64_t d = 0; d < dim; ++d) {
          ASSERT_TRUE(Close(kept[static_cast<size_t>(key + d)],
                            expected[static_cast<size_t>((scene.heads + h) * dim + d)], kBf16Result, 100));
          ASSERT_EQ(kept[static_cast<size_t>(key + to_value + d)],
                    expected[static_cast<size_t>((scene.heads + scene.kv_heads + h) * dim + d)]);
        }
      }
    }
  }
}

TEST(RotaryGpu, StoresTheCodesOfAnFp8Cache) {
  int64_t largest = 0, subnormal = 0;  // codes of such numbers
  for (const int64_t dim : {16, 32, 64, 128}) {
    const Scene scene(dim, 2, 3, 16, {40, 7}, kKept[1]);
    const std::vector<uint8_t> codes = ToHost(scene.stream, scene.cache_memory);
    for (int64_t row = 0; row < scene.rows; ++row) {
      const std::vector<float> expected = TurnedRow(scene, row);
      for (int64_t h = 0; h < scene.kv_heads; ++h) {
        int64_t to_value = 0;
        const int64_t at = KeyAt(scene, row, h, &to_value);
        for (int64_t d = 0; d < dim; ++d) {
          const float key = expected[static_cast<size_t>((scene.heads + h) * dim + d)];
          const uint8_t code = codes[static_cast<size_t>(at + d)];
          // Turned keys differ by float32's rounding of up to 100, which matters where codes meet.
          const auto encoded = [&](float of) { return EncodeFp8(Fp8::kE4M3FN, of / scene.kept.key_scale); };
          ASSERT_TRUE(code == encoded(key) || code == encoded(key - 2e-5f) || code == encoded(key + 2e-5f))
              << "head_dim " << dim << " row " << row << ": " << int{code} << " of " << key;
          const float value = expected[static_cast<size_t>((scene.heads + scene.kv_heads + h) * dim + d)];
          const uint8_t value_code = codes[static_cast<size_t>(at + to_value + d)];
          ASSERT_EQ(value_code, EncodeFp8(Fp8::kE4M3FN, value / scene.kept.value_scale)) << value;
          largest += (value_code & 0x7F) == 0x7E;
          subnormal += (value_code & 0x78) == 0;
        }
      }
    }
  }
  EXPECT_GT(largest, 0);
  EXPECT_GT(subnormal, 0);
}

TEST(AttentionGpu, MatchesTheReference) {
  for (const int64_t dim : {16, 32, 64, 128}) {
    for (const int64_t group : {1, 3, 8, 9}) {
      for (const Kept& kept : kKept) {
        const Scene scene(dim, 2, group, group == 3 ? 32 : 16, {150, 1, 33}, kept);
        for (const int64_t window : {0, 5, 128}) {
          const std::vector<float> expected = scene.Expected(window);
          const double largest = LargestOf(expected);
          for (const int64_t splits : {1, 2, 5}) {
            const std::vector<float> out = scene.Run(window, splits);
            for (size_t i = 0; i < out.size(); ++i) {
              ASSERT_TRUE(Close(out[i], expected[i], {2e-5, 1.0 / 256 + 1e-4}, largest))
                  << "head_dim " << dim << " group " << group << " fp8 " << kept.fp8 << " window " << window
                  << " splits " << splits << " at " << i << ": " << out[i] << " vs " << expected[i];
            }
          }
        }
      }
    }
  }
}

TEST(AttentionGpu, LongContextsAreSplitAndMergedRight) {
  const Scene scene(64, 1, 8, 16, {1000});
  const std::vector<float> expected = scene.Expected(0);
  const double largest = LargestOf(expected);
  for (const int64_t splits : {1, 8, 32}) {
    const std::vector<float> out = scene.Run(0, splits);
    for (size_t i = 0; i < out.size(); ++i)
      ASSERT_TRUE(Close(out[i], expected[i], {2e-5, 1.0 / 256 + 1e-4}, largest)) << splits << " at " << i;
  }
}

TEST(AttentionGpu, TilesMatchTheReference) {
  for (const int64_t dim : {32, 64}) {
    for (const int64_t group : {1, 3, 8, 9}) {
      for (const Kept& kept : kKept) {
        const Scene scene(dim, 2, group, group == 3 ? 32 : 16, {200, 1, 33}, kept);
        for (const int64_t window : {0, 5, 128}) {
          const std::vector<float> expected = scene.Expected(window);
          const double largest = LargestOf(expected);
          for (const int64_t first : {0, 7}) {  // a prompt that goes on where an earlier step ended
            const std::vector<float> out = scene.RunTiles(window, first);
            for (int64_t i = 0; i < static_cast<int64_t>(out.size()); ++i) {
              const int64_t row = i / (scene.heads * dim);
              if (scene.positions[static_cast<size_t>(row)] < first) continue;
              // Weights of values are rounded to bf16.
              ASSERT_TRUE(Close(out[static_cast<size_t>(i)], expected[static_cast<size_t>(i)],
                                {1.0 / 256, 1.0 / 128}, largest))
                  << "head_dim " << dim << " group " << group << " fp8 " << kept.fp8 << " window " << window
                  << " first " << first << " row " << row << ": " << out[static_cast<size_t>(i)] << " vs "
                  << expected[static_cast<size_t>(i)];
            }
          }
        }
      }
    }
  }
}

TEST(AttentionGpu, PaddingRowsAreLeftAlone) {
  for (const Kept& kept : kKept) {
    Scene scene(32, 2, 3, 16, {20}, kept);
    const std::vector<float> clean = scene.Run(0, 2);
    scene.positions.back() = -1;
    scene.device_positions = Input(scene.stream, scene.positions);
    const std::vector<float> out = scene.Run(0, 2);
    const auto width = static_cast<long>(scene.heads * scene.dim);
    EXPECT_EQ(std::vector<float>(out.begin(), out.end() - width),
              std::vector<float>(clean.begin(), clean.end() - width));
    for (auto at = out.end() - width; at != out.end(); ++at) EXPECT_TRUE(std::isnan(*at)) << "not written";
  }
}

TEST(AttentionGpu, NotANumberInTheQueryIsNotHidden) {
  Scene scene(16, 1, 1, 16, {5});
  std::vector<Bf16> qkv = ToHost(scene.stream, scene.device_qkv);
  qkv[static_cast<size_t>(4 * scene.Width())] = 0x7FC0;
  scene.device_qkv = Input(scene.stream, qkv);
  for (const int64_t splits : {1, 3}) {
    const std::vector<float> out = scene.Run(0, splits);
    for (size_t d = 0; d < 16; ++d) {
      EXPECT_TRUE(std::isnan(out[4 * 16 + d]));
      EXPECT_TRUE(std::isfinite(out[3 * 16 + d]));
    }
  }
}

TEST(AttentionGpu, ACodeThatIsNotANumberIsNotHidden) {
  Scene scene(64, 1, 1, 16, {5}, kKept[1]);
  const std::vector<float> clean = scene.Run(0, 1), clean_tiles = scene.RunTiles(0);
  std::vector<uint8_t> codes = ToHost(scene.stream, scene.cache_memory);
  int64_t to_value = 0;
  codes[static_cast<size_t>(KeyAt(scene, 3, 0, &to_value) + 9)] = 0xFF;
  scene.cache_memory = Input(scene.stream, codes);
  const std::vector<float> out = scene.Run(0, 1), tiles = scene.RunTiles(0);
  for (size_t i = 0; i < out.size(); ++i) {
    const bool sees_it = i / 64 >= 3;
    EXPECT_TRUE(sees_it ? std::isnan(out[i]) : out[i] == clean[i]) << i;
    EXPECT_TRUE(sees_it ? std::isnan(tiles[i]) : tiles[i] == clean_tiles[i]) << i;
  }
}

}  // namespace
}  // namespace assay::kernels::gpu
