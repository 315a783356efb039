#include "record/sequential.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "record/distributions.h"

namespace assay::record {
namespace {

constexpr double kNothing = 1e-12;  // an error too small to spend
constexpr double kReach = 9;        // standard deviations that hold all but 1e-18

// The density of a sum that has not passed a bound yet, on equal steps from `low`.
struct Density {
  double low = 0, step = 0;
  std::vector<double> values;

  // Simpson's rule over value(x) * weight(x); an odd number of points.
  template <typename Weight>
  double Integral(Weight weight) const {
    double sum = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      const double factor = i == 0 || i + 1 == values.size() ? 1 : i % 2 == 1 ? 4 : 2;
      sum += factor * values[i] * weight(low + static_cast<double>(i) * step);
    }
    return sum * step / 3;
  }
};

double NormalDensity(double z) {
  constexpr double kScale = 0.3989422804014327;  // 1 / sqrt(2 pi)
  return z * z > kReach * kReach ? 0 : kScale * std::exp(-z * z / 2);
}

double UpperTail(double z) {
  return 0.5 * std::erfc(z / std::sqrt(2.0));
}

template <typename At>
Density Sample(double information, double bound, At at) {
  constexpr size_t kPoints = 401;
  Density density;
  density.low = -kReach * std::sqrt(information);
  const double high = std::min(bound, kReach) * std::sqrt(information);
  density.step = (high - density.low) / (kPoints - 1);
  for (size_t i = 0; i < kPoints; ++i)
    density.values.push_back(at(density.low + static_cast<double>(i) * density.step));
  return density;
}

// The bound that is passed with this chance; `chance` falls as the bound grows.
template <typename Chance>
double FindBound(double wanted, Chance chance) {
  double low = -kReach, high = kReach;
  for (int i = 0; i < 40; ++i) {
    const double middle = (low + high) / 2;
    (chance(middle) > wanted ? low : high) = middle;
  }
  return (low + high) / 2;
}

// P(X = x) for draws without replacement, and the x that can come with any chance worth counting.
class Hypergeometric {
 public:
  explicit Hypergeometric(int64_t size) {
    log_factorial_.resize(static_cast<size_t>(size) + 1);
    for (size_t i = 2; i < log_factorial_.size(); ++i)
      log_factorial_[i] = log_factorial_[i - 1] + std::log(static_cast<double>(i));
  }

  template <typename Visit>
  void ForEach(int64_t size, int64_t successes, int64_t draws, Visit visit) const {
    const double p = size == 0 ? 0 : static_cast<double>(successes) / static_cast<double>(size);
    const auto n = static_cast<double>(draws);
    const auto reach = static_cast<int64_t>(kReach * std::sqrt(n * p * (1 - p)) + 20);
    const auto mean = static_cast<int64_t>(n * p);
    const int64_t least = std::max({int64_t{0}, draws - (size - successes), mean - reach});
    const int64_t most = std::min({draws, successes, mean + reach});
    const double all = LogChoose(size, draws);
    for (int64_t x = least; x <= most; ++x) {
      visit(x, std::exp(LogChoose(successes, x) + LogChoose(size - successes, draws - x) - all));
    }
  }

 private:
  double LogChoose(int64_t n, int64_t k) const {
    return log_factorial_[static_cast<size_t>(n)] - log_factorial_[static_cast<size_t>(k)] -
           log_factorial_[static_cast<size_t>(n - k)];
  }

  std::vector<double> log_factorial_;
};

}  // namespace

double SpentError(double t, double error) {
  if (t <= 0 || error <= 0) return 0;
  if (t >= 1) return error;
  return 2 - 2 * NormalCdf(NormalQuantile(1 - error / 2) / std::sqrt(t));
}

std::vector<double> SequentialBounds(const std::vector<double>& information,
                                     const std::vector<double>& spent) {
  CHECK_EQ(information.size(), spent.size());
  std::vector<double> bounds;
  Density density;
  double already = 0, earlier = 0;
  for (size_t look = 0; look < information.size(); ++look) {
    const double now = information[look], root = std::sqrt(now), added = std::sqrt(now - earlier);
    CHECK_GT(now, earlier);
    const auto passes = [&](double bound) {
      if (look == 0) return UpperTail(bound);
      return density.Integral([&](double sum) { return UpperTail((bound * root - sum) / added); });
    };
    const double left = spent[look] - already;
    const bool closed = left < kNothing;
    const double bound = closed ? kReach : FindBound(left, passes);
    bounds.push_back(closed ? std::numeric_limits<double>::infinity() : bound);
    if (!closed) already = spent[look];
    if (look + 1 == information.size()) break;
    density = Sample(now, bound, [&](double x) {
      if (look == 0) return NormalDensity(x / root) / root;
      return density.Integral([&](double sum) { return NormalDensity((x - sum) / added) / added; });
    });
    earlier = now;
  }
  return bounds;
}

std::vector<int64_t> CountBounds(int64_t size, int64_t successes, const std::vector<int64_t>& looks,
                                 const std::vector<double>& spent) {
  CHECK_EQ(looks.size(), spent.size());
  CHECK_GE(successes, 0);
  CHECK_GE(size, successes);
  const Hypergeometric draw(size);
  std::vector<double> chance(static_cast<size_t>(size) + 1, 0.0);  // of each count, no bound reached yet
  chance[0] = 1;
  int64_t drawn = 0;
  double already = 0;
  std::vector<int64_t> bounds;
  for (size_t look = 0; look < looks.size(); ++look) {
    CHECK_GT(looks[look], drawn);
    std::vector<double> next(chance.size(), 0.0);
    for (int64_t count = 0; count <= std::min(drawn, successes); ++count) {
      const double p = chance[static_cast<size_t>(count)];
      if (p < 1e-18) continue;
      draw.ForEach(size - drawn, successes - count, looks[look] - drawn,
                   [&](int64_t x, double q) { next[static_cast<size_t>(count + x)] += p * q; });
    }
    chance = std::move(next);
    drawn = looks[look];
    // Down from the highest count, as long as reaching it is rare enough.
    int64_t bound = drawn + 1;
    double reached = 0;
    for (int64_t count = drawn; count >= 0; --count) {
      reached += chance[static_cast<size_t>(count)];
      if (already + reached > spent[look] + kNothing) break;
      bound = count;
    }
    for (int64_t count = bound; count <= drawn; ++count) {
      already += chance[static_cast<size_t>(count)];
      chance[static_cast<size_t>(count)] = 0;
    }
    bounds.push_back(bound);
  }
  return bounds;
}

}  // namespace assay::record
