#include "kernels/sample/sample_gpu.h"

#include <algorithm>
#include <numeric>
#include <random>

#include "kernels/argmax/argmax_gpu.h"
#include "kernels/gpu/gpu_test_support.h"
#include "kernels/sample/fast_exp.h"

namespace assay::kernels::gpu {
namespace {

// How far a running sum of the device may be from the host's, as a share of the whole: arithmetic of float32
// that is fused there.
constexpr double kSlack = 2e-6;

// The choices of all rows: the largest, or what is drawn of those that `rows` names.
std::vector<int32_t> Choices(const std::vector<float>& logits, int64_t count,
                             const std::vector<SampledRow>& rows) {
  const Stream stream;
  const int64_t vocabulary = static_cast<int64_t>(logits.size()) / count;
  const auto device = Input(stream, logits);
  const auto keys = Unwritten<uint64_t>(stream, count * kArgmaxParts);
  const auto ids = Unwritten<int32_t>(stream, count);
  const auto device_rows = Input(stream, rows);
  const auto scratch = Unwritten<uint8_t>(stream, SampleScratchBytes(static_cast<int64_t>(rows.size())));
  Argmax(stream.handle(), device.data(), count, vocabulary, keys.data(), ids.data());
  Sample(stream.handle(),
         {device.data(), vocabulary, device_rows.data(), device_rows.size(), ids.data(), scratch.data()});
  return ToHost(stream, ids);
}

// The definition, with a running sum in double.
struct Definition {
  std::vector<size_t> order;   // candidates
  std::vector<double> weight;  // of each
  double sum = 0;
  bool filtered;

  Definition(std::span<const float> logits, const SampledRow& row, double min_p)
      : filtered(row.top_k > 0 || row.top_p < 1 || row.min_p > 0) {
    const float peak = *std::max_element(logits.begin(), logits.end());
    const auto inverse = static_cast<float>(1 / row.temperature);
    std::vector<double> of(logits.size());
    for (size_t i = 0; i < logits.size(); ++i) {
      of[i] = static_cast<double>(FastExp((logits[i] - peak) * inverse));
      if (of[i] > 0 && of[i] >= min_p) order.push_back(i);
    }
    if (filtered) {
      std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return logits[a] > logits[b]; });
    }
    if (row.top_k > 0 && order.size() > static_cast<size_t>(row.top_k))
      order.resize(static_cast<size_t>(row.top_k));
    for (const size_t i : order) weight.push_back(of[i]);
    sum = std::accumulate(weight.begin(), weight.end(), 0.0);
  }
  // What top_p may leave of the sum: one number, or two where it cuts within the slack.
  std::vector<double> Kept(double top_p) const {
    if (!filtered || top_p >= 1) return {sum};
    std::vector<double> kept;
    double running = 0;
    for (const double of : weight) {
      if (running >= top_p * sum + kSlack * sum) break;
      running += of;
      if (running >= top_p * sum - kSlack * sum) kept.push_back(running);
    }
    return kept;
  }
};

// Whether the draw may fall on `id`: within it, or within the slack of it.
bool MayDraw(std::span<const float> logits, const SampledRow& row, int32_t id) {
  for (const double off : {1 - 1e-6, 1 + 1e-6}) {
    const Definition by(logits, row, row.min_p * off);
    double before = 0;
    for (size_t i = 0; i < by.order.size(); before += by.weight[i++]) {
      if (by.order[i] != static_cast<size_t>(id)) continue;
      for (const double kept : by.Kept(row.top_p)) {
        const double drawn = row.u * kept, slack = kSlack * by.sum;
        if (before - slack <= drawn && drawn <= before + by.weight[i] + slack && before < kept) return true;
      }
    }
  }
  return false;
}

std::vector<float> Normal(int64_t n, uint32_t seed, float deviation) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, deviation);
  std::vector<float> values(static_cast<size_t>(n));
  for (float& value : values) value = normal(random);
  return values;
}

TEST(SampleGpu, DrawsAsTheDefinitionDoes) {
  const struct {
    int32_t top_k;
    double top_p, min_p;
  } filters[] = {{0, 1, 0},      {1, 1, 0},    {50, 1, 0}, {1 << 30, 1, 0}, {0, 0.9, 0},     {0, 1e-9, 0},
                 {0, 0.5, 0.01}, {0, 1, 0.05}, {0, 1, 1},  {40, 0.95, 0},   {300, 0.8, 1e-3}};
  for (const int64_t vocabulary : {1, 2, 31, 1000, 8192, 8193, 201088}) {
    std::vector<float> logits;
    std::vector<SampledRow> rows;
    for (const double temperature : {0.1, 0.7, 1.0, 2.0}) {
      for (const auto& filter : filters) {
        for (const double u : {0.0, 0.313, 0.77, 1 - 0x1p-53}) {
          if (vocabulary > 10000 && u != 0.313 && temperature != 1) continue;
          const auto row = static_cast<int32_t>(rows.size());
          rows.push_back({row, filter.top_k, temperature, u, filter.top_p, filter.min_p});
          // Every third in steps of 1/4, so that many are equal.
          auto values = Normal(vocabulary, static_cast<uint32_t>(7 * row + vocabulary), 3);
          if (row % 3 == 0)
            std::for_each(values.begin(), values.end(), [](float& v) { v = std::round(v * 4) / 4; });
          logits.insert(logits.end(), values.begin(), values.end());
        }
      }
    }
    const auto count = static_cast<int64_t>(rows.size());
    const std::vector<int32_t> ids = Choices(logits, count, rows);
    for (const SampledRow& row : rows) {
      const auto of = std::span(logits).subspan(static_cast<size_t>(row.row * vocabulary),
                                                static_cast<size_t>(vocabulary));
      const int32_t id = ids[static_cast<size_t>(row.row)];
      ASSERT_TRUE(id >= 0 && id < vocabulary && MayDraw(of, row, id))
          << "vocabulary " << vocabulary << " top_k " << row.top_k << " top_p " << row.top_p << " min_p "
          << row.min_p << " temperature " << row.temperature << " u " << row.u << " row " << row.row << ": "
          << id;
    }
  }
}

TEST(SampleGpu, EqualsAreTakenByTheirIds) {
  // 20000 equal ones beside ones that weigh nothing: the draws are known to the token.
  constexpr int64_t kVocabulary = 40000;
  std::vector<float> one(kVocabulary, -200);
  for (size_t i = 1; i < one.size(); i += 2) one[i] = 3.5f;
  const struct {
    int32_t top_k;
    double top_p, u;
    int32_t nth;
  } rows[] = {{0, 1, 0, 0},    {0, 1, 0.5, 10000},      {0, 1, 1 - 0x1p-53, 19999},
              {7, 1, 0.5, 3},  {7, 1, 0.999, 6},        {0, 0.5, 0.999999, 9999},
              {0, 0.25, 0, 0}, {4000, 0.5, 0.75, 1500}, {1, 1, 0.9999, 0}};
  std::vector<float> logits;
  std::vector<SampledRow> sampled;
  for (const auto& row : rows) {
    sampled.push_back({static_cast<int32_t>(sampled.size()), row.top_k, 1, row.u, row.top_p, 0});
    logits.insert(logits.end(), one.begin(), one.end());
  }
  const std::vector<int32_t> ids = Choices(logits, static_cast<int64_t>(sampled.size()), sampled);
  for (size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(ids[i], 2 * rows[i].nth + 1) << i;
}

TEST(SampleGpu, NumbersNextToZeroAreToldApart) {
  // Weights of all are the same but for the last bits, and the order is that of the logits all the same.
  std::vector<float> one;
  for (int i = 0; i < 64; ++i) one.push_back(static_cast<float>(i % 2 == 0 ? i : -i) * 1e-20f);
  std::vector<size_t> order(one.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return one[a] > one[b]; });
  std::vector<float> logits;
  std::vector<SampledRow> rows;
  for (int i = 0; i < 32; ++i) {
    rows.push_back({i, 32, 1, (i + 0.5) / 32, 1, 0});
    logits.insert(logits.end(), one.begin(), one.end());
  }
  const std::vector<int32_t> ids = Choices(logits, 32, rows);
  for (size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(ids[i], static_cast<int32_t>(order[i])) << i;
}

TEST(SampleGpu, OtherRowsAndRowsThatSayNothingAreLeftAlone) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> logits{0, 9, 1, 1, nan, 2, -inf, -inf, -inf, 0, 0, 99, 1, inf, 0, 2, -inf, -inf};
  std::vector<SampledRow> rows;
  for (const int32_t row : {1, 2, 4, 5}) rows.push_back({row, 0, 1, 0.999, 1, 0});
  for (const int32_t top_k : {0, 2}) {
    for (SampledRow& row : rows) row.top_k = top_k;
    EXPECT_EQ(Choices(logits, 6, rows), (std::vector<int32_t>{1, -1, -1, 2, -1, 0})) << top_k;
  }
}

TEST(SampleGpu, ADrawDoesNotDependOnTheRowsBesideIt) {
  constexpr int64_t kVocabulary = 20000, kRows = 24;
  const std::vector<float> logits = Normal(kRows * kVocabulary, 3, 2);
  std::vector<SampledRow> rows;
  for (int32_t row = 0; row < kRows; ++row) {
    rows.push_back({row, row % 4 == 1 ? 60 : 0, 0.5 + 0.05 * row, 0.04 * row, row % 3 == 0 ? 0.9 : 1, 0});
  }
  const std::vector<int32_t> together = Choices(logits, kRows, rows);
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto begin = logits.begin() + static_cast<long>(i) * kVocabulary;
    SampledRow alone = rows[i];
    alone.row = 0;
    EXPECT_EQ(Choices({begin, begin + kVocabulary}, 1, {alone}), std::vector<int32_t>{together[i]}) << i;
  }
}

TEST(SampleGpu, TokensComeAsOftenAsTheirProbability) {
  constexpr int kDraws = 4000;
  const std::vector<float> one{0, 1, 2, -1, 0.5f, 1.5f};
  std::mt19937_64 random(11);
  std::vector<float> logits;
  std::vector<SampledRow> rows;
  for (int i = 0; i < kDraws; ++i) {
    rows.push_back({i, i % 2 == 0 ? 0 : 6, 0.8, std::uniform_real_distribution<double>()(random), 1, 0});
    logits.insert(logits.end(), one.begin(), one.end());
  }
  std::vector<double> counts(one.size());
  for (const int32_t id : Choices(logits, kDraws, rows)) ++counts[static_cast<size_t>(id)];
  double sum = 0, chi_square = 0;
  for (const float logit : one) sum += std::exp(static_cast<double>(logit) / 0.8);
  for (size_t i = 0; i < one.size(); ++i) {
    const double expected = kDraws * std::exp(static_cast<double>(one[i]) / 0.8) / sum;
    chi_square += (counts[i] - expected) * (counts[i] - expected) / expected;
  }
  EXPECT_LT(chi_square, 20.5);  // 5 degrees of freedom: one seed in a thousand is above
}

}  // namespace
}  // namespace assay::kernels::gpu
