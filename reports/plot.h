#pragma once

#include <string>
#include <utility>
#include <vector>

// Plots as inline SVG, computed here: no library has to be shipped with a page or run in it. Colours and
// fonts come from the page's style sheet. All texts given are plain.
namespace assay::reports {

enum class Arm { kBase, kHead };

struct Curve {
  Arm arm = Arm::kHead;
  std::string name;
  std::vector<std::pair<double, double>> points;  // x ascending
  bool dots = false;                              // a dot at each point
  std::vector<std::string> point_texts = {};      // shown when a dot is pointed at
};

struct Mark {
  double x = 0;
  std::string text;
  bool quiet = false;  // in grey: no change, an end of comparison
};

struct CurvePlot {
  std::string x_label, y_label;
  double x_low = 0, x_high = 1, y_low = 0, y_high = 1;  // what lies outside is cut off
  std::vector<Curve> curves;
  std::vector<Mark> marks;  // vertical lines
};
std::string CurveSvg(const CurvePlot& plot);

struct IntervalRow {
  std::string label;
  struct Value {
    Arm arm = Arm::kHead;
    double value = 0, low = 0, high = 0;
    std::string text;  // shown when pointed at
  };
  std::vector<Value> values;
};
// Points with whiskers, one row a label, on a scale from `low` to `high`.
std::string IntervalSvg(const std::vector<IntervalRow>& rows, double low, double high);

// Squares in reading order, each of a class of the style sheet: lost, won, wrong, right.
std::string GridSvg(const std::vector<const char*>& classes);

// Round numbers within low..high, about `wanted` of them: steps of 1, 2 or 5 times a power of ten.
std::vector<double> Ticks(double low, double high, int wanted);

}  // namespace assay::reports
