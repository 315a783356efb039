#include "gate/change_points.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

#include "base/check.h"

namespace assay::gate {
namespace {

// Distances between all values, taken once for a window and its permutations.
class Distances {
 public:
  explicit Distances(const std::vector<double>& values) : n_(values.size()), of_(n_ * n_) {
    for (size_t i = 0; i < n_; ++i) {
      for (size_t j = 0; j < n_; ++j) of_[i * n_ + j] = std::abs(values[i] - values[j]);
    }
  }

  // Q of every split of the values in this order. One value after the other changes sides, so all splits
  // together cost as much as one.
  std::vector<double> Q(const std::vector<size_t>& order) const {
    double between = 0, within_first = 0, within_second = 0;
    for (size_t i = 0; i < n_; ++i) {
      for (size_t j = i + 1; j < n_; ++j) within_second += of_[i * n_ + j];
    }
    std::vector<double> q;
    for (size_t tau = 1; tau < n_; ++tau) {
      const double* row = &of_[order[tau - 1] * n_];
      double to_first = 0, to_second = 0;
      for (size_t i = 0; i + 1 < tau; ++i) to_first += row[order[i]];
      for (size_t j = tau; j < n_; ++j) to_second += row[order[j]];
      between += to_second - to_first;
      within_first += to_first;
      within_second -= to_second;
      const auto n = static_cast<double>(tau), m = static_cast<double>(n_ - tau);
      const auto mean = [](double sum, double k) { return k < 2 ? 0 : sum / (k * (k - 1) / 2); };
      q.push_back(n * m / (n + m) * (2 / (n * m) * between - mean(within_first, n) - mean(within_second, m)));
    }
    return q;
  }

 private:
  size_t n_;
  std::vector<double> of_;
};

struct Split {
  size_t index = 0;
  double q = 0;
};

Split Largest(const std::vector<double>& q, size_t min_points) {
  Split split;
  for (size_t tau = min_points; tau + min_points <= q.size() + 1; ++tau) {
    if (split.index == 0 || q[tau - 1] > split.q) split = {tau, q[tau - 1]};
  }
  return split;
}

std::vector<size_t> InOrder(size_t n) {
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// How often the values in random order have a Q as large.
double PermutationP(const Distances& distances, size_t n, double q, const ChangePointRule& rule) {
  std::mt19937_64 random(rule.seed);
  std::vector<size_t> order = InOrder(n);
  int as_large = 1, tried = 1;  // the order that happened is one of them
  while (tried <= rule.permutations) {
    std::shuffle(order.begin(), order.end(), random);
    ++tried;
    as_large += Largest(distances.Q(order), rule.min_points).q >= q - 1e-12;
    if (as_large > rule.p_value * (rule.permutations + 1)) break;  // it can only grow
  }
  return static_cast<double>(as_large) / tried;
}

class Search {
 public:
  Search(std::vector<double> levels, const ChangePointRule& rule) : values_(std::move(levels)), rule_(rule) {}

  std::map<size_t, ChangePoint> Run() && {
    const size_t n = values_.size(), step = std::max<size_t>(1, rule_.window / 2);
    for (size_t begin = 0; begin < n; begin += step) {
      Divide(begin, std::min(n, begin + rule_.window));
      if (begin + rule_.window >= n) break;
    }
    DropNeighbours();
    DropSmall();
    return std::move(found_);
  }

 private:
  void Divide(size_t begin, size_t end) {
    const size_t n = end - begin;
    if (n < 2 * rule_.min_points) return;
    const Distances distances(
        {values_.begin() + static_cast<long>(begin), values_.begin() + static_cast<long>(end)});
    const Split split = Largest(distances.Q(InOrder(n)), rule_.min_points);
    if (split.q <= 0) return;
    const double p = PermutationP(distances, n, split.q, rule_);
    if (p > rule_.p_value) return;
    const size_t at = begin + split.index;
    ChangePoint& point = found_[at];
    if (split.q > point.q) point = {.index = at, .q = split.q, .p_value = p};
    Divide(begin, at);
    Divide(at, end);
  }

  // Overlapping windows may place one change a little apart: the clearer place stays.
  void DropNeighbours() {
    for (auto point = found_.begin(); point != found_.end() && std::next(point) != found_.end();) {
      const auto next = std::next(point);
      if (next->first - point->first >= rule_.min_points) {
        point = next;
      } else if (next->second.q > point->second.q) {
        point = found_.erase(point);
      } else {
        found_.erase(next);
      }
    }
  }

  // Levels are those between changes, so dropping one changes its neighbours: the smallest goes first.
  void DropSmall() {
    while (!found_.empty()) {
      SetLevels();
      const auto smallest = std::min_element(found_.begin(), found_.end(), [](const auto& a, const auto& b) {
        return std::abs(a.second.after - a.second.before) < std::abs(b.second.after - b.second.before);
      });
      const double size = std::abs(smallest->second.after - smallest->second.before);
      const double wanted = rule_.relative ? std::log1p(rule_.min_change) : rule_.min_change;
      if (size >= wanted) return;
      found_.erase(smallest);
    }
  }

  void SetLevels() {
    size_t begin = 0;
    for (auto point = found_.begin(); point != found_.end(); ++point) {
      const auto next = std::next(point);
      point->second.before = MeanOf(begin, point->first);
      point->second.after = MeanOf(point->first, next == found_.end() ? values_.size() : next->first);
      begin = point->first;
    }
  }

  double MeanOf(size_t begin, size_t end) const {
    return std::accumulate(values_.begin() + static_cast<long>(begin),
                           values_.begin() + static_cast<long>(end), 0.0) /
           static_cast<double>(end - begin);
  }

  const std::vector<double> values_;
  const ChangePointRule& rule_;
  std::map<size_t, ChangePoint> found_;
};

}  // namespace

std::vector<double> SplitStatistics(const std::vector<double>& values) {
  return Distances(values).Q(InOrder(values.size()));
}

std::vector<ChangePoint> FindChangePoints(const std::vector<double>& values, const ChangePointRule& rule) {
  std::vector<double> levels = values;
  if (rule.relative) {
    for (double& level : levels) {
      CHECK(level > 0);
      level = std::log(level);
    }
  }
  std::vector<ChangePoint> points;
  for (auto& [index, point] : Search(std::move(levels), rule).Run()) {
    if (rule.relative) {
      point.before = std::exp(point.before);
      point.after = std::exp(point.after);
    }
    point.change = rule.relative ? point.after / point.before - 1 : point.after - point.before;
    points.push_back(point);
  }
  return points;
}

}  // namespace assay::gate
