#include "reports/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/markup_text.h"

namespace assay::reports {
namespace {

const char* ClassOf(Arm arm) {
  return arm == Arm::kBase ? "base" : "head";
}

// A number of an axis: no more digits than the step needs.
std::string TickText(double value, double step) {
  const int decimals = std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 6);
  return fmt::format("{:.{}f}", value == 0 ? 0 : value, decimals);
}

// Data to drawing coordinates.
struct Scale {
  double low, high, from, to;
  double operator()(double value) const {
    return high == low ? from : from + (value - low) / (high - low) * (to - from);
  }
};

std::string SvgText(double x, double y, const char* anchor, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>", x, y, anchor,
                     Escaped(text));
}

std::string Line(const char* css, double x1, double y1, double x2, double y2) {
  return fmt::format("<path class=\"{}\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\"/>", css, x1, y1, x2, y2);
}

std::string Dot(Arm arm, double x, double y) {
  return fmt::format("<circle class=\"dot {}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"/>", ClassOf(arm), x, y);
}

double StepOf(const std::vector<double>& ticks) {
  return ticks.size() > 1 ? ticks[1] - ticks[0] : 1;
}

constexpr double kWidth = 400, kHeight = 230, kLeft = 52, kRight = 20, kTop = 12, kBottom = 40;

std::string Axes(const CurvePlot& plot, const Scale& x, const Scale& y) {
  std::string svg;
  const std::vector<double> x_ticks = Ticks(plot.x_low, plot.x_high, 5),
                            y_ticks = Ticks(plot.y_low, plot.y_high, 4);
  for (double tick : y_ticks) {
    svg += Line("grid", kLeft, y(tick), kWidth - kRight, y(tick)) +
           SvgText(kLeft - 6, y(tick) + 4, "end", TickText(tick, StepOf(y_ticks)));
  }
  for (double tick : x_ticks)
    svg += SvgText(x(tick), kHeight - kBottom + 16, "middle", TickText(tick, StepOf(x_ticks)));
  svg += Line("axis", kLeft, kHeight - kBottom, kWidth - kRight, kHeight - kBottom);
  return svg + SvgText(kWidth - kRight, kHeight - 6, "end", plot.x_label) +
         SvgText(2, kTop - 1, "start", plot.y_label);
}

std::string CurvePath(const Curve& curve, const Scale& x, const Scale& y) {
  std::string path, dots;
  for (size_t i = 0; i < curve.points.size(); ++i) {
    const auto& [at, value] = curve.points[i];
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? 'M' : 'L', x(at), y(value));
    if (!curve.dots) continue;
    const std::string text = i < curve.point_texts.size() ? curve.point_texts[i] : "";
    dots += fmt::format("<g><title>{}</title>{}</g>", Escaped(text), Dot(curve.arm, x(at), y(value)));
  }
  return fmt::format("<path class=\"curve {}\" d=\"{}\"><title>{}</title></path>{}", ClassOf(curve.arm), path,
                     Escaped(curve.name), dots);
}

// What lies beyond the axis is cut where the curve meets it.
std::vector<std::pair<double, double>> Clipped(const std::vector<std::pair<double, double>>& points,
                                               double high) {
  std::vector<std::pair<double, double>> kept;
  for (const auto& point : points) {
    if (point.first <= high) {
      kept.push_back(point);
      continue;
    }
    if (!kept.empty() && kept.back().first < high) {
      const auto& [x0, y0] = kept.back();
      kept.emplace_back(high, y0 + (point.second - y0) * (high - x0) / (point.first - x0));
    }
    break;
  }
  return kept;
}

}  // namespace

std::vector<double> Ticks(double low, double high, int wanted) {
  if (!(high > low)) return {low};
  const double raw = (high - low) / wanted;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  const double share = raw / power;
  const double step = power * (share < 1.5 ? 1 : share < 3.5 ? 2 : share < 7.5 ? 5 : 10);
  std::vector<double> ticks;
  for (auto i = static_cast<int64_t>(std::ceil(low / step - 1e-9));
       static_cast<double>(i) * step <= high + step * 1e-9; ++i)
    ticks.push_back(static_cast<double>(i) * step);
  return ticks;
}

std::string CurveSvg(const CurvePlot& plot) {
  const Scale x{plot.x_low, plot.x_high, kLeft, kWidth - kRight};
  const Scale y{plot.y_low, plot.y_high, kHeight - kBottom, kTop + 8};
  std::string svg =
      fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\">", kWidth, kHeight) + Axes(plot, x, y);
  for (const Mark& mark : plot.marks) {
    svg += fmt::format(
        "<g><title>{}</title>{}</g>", Escaped(mark.text),
        Line(mark.quiet ? "mark quiet" : "mark", x(mark.x), kTop + 8, x(mark.x), kHeight - kBottom));
  }
  for (Curve curve : plot.curves) {
    curve.points = Clipped(curve.points, plot.x_high);
    svg += CurvePath(curve, x, y);
  }
  return svg + "</svg>\n";
}

std::string IntervalSvg(const std::vector<IntervalRow>& rows, double low, double high) {
  constexpr double kRow = 46, kLabelLine = 14, kPad = 10;
  const double height = kPad + kRow * static_cast<double>(rows.size()) + 24;
  const Scale x{low, high, kPad + 8, kWidth - kRight - 8};
  std::string svg = fmt::format("<svg viewBox=\"0 0 {} {:.0f}\" role=\"img\">", kWidth, height);
  const std::vector<double> ticks = Ticks(low, high, 5);
  for (double tick : ticks) {
    svg += Line("grid", x(tick), kPad, x(tick), height - 22) +
           SvgText(x(tick), height - 6, "middle", TickText(tick, StepOf(ticks)));
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    const double top = kPad + kRow * static_cast<double>(i);
    svg += SvgText(kPad, top + kLabelLine - 2, "start", rows[i].label);
    double line = top + kLabelLine + 7;
    for (const IntervalRow::Value& value : rows[i].values) {
      const std::string css = fmt::format("whisker {}", ClassOf(value.arm));
      svg += fmt::format("<g><title>{}</title>{}{}</g>", Escaped(value.text),
                         Line(css.c_str(), x(value.low), line, x(value.high), line),
                         Dot(value.arm, x(value.value), line));
      line += 12;
    }
  }
  return svg + "</svg>\n";
}

std::string GridSvg(const std::vector<const char*>& classes) {
  constexpr int kColumns = 32;
  constexpr double kCell = 12.5, kSquare = 10.5;
  std::vector<std::pair<std::string, std::string>> paths;  // one path a class keeps pages small
  for (size_t i = 0; i < classes.size(); ++i) {
    const std::string css = classes[i];
    auto path = std::find_if(paths.begin(), paths.end(), [&](const auto& p) { return p.first == css; });
    if (path == paths.end()) path = paths.insert(paths.end(), {css, ""});
    path->second += fmt::format("M{:.1f} {:.1f}h{}v{}h-{}z", static_cast<double>(i % kColumns) * kCell,
                                static_cast<double>(i / kColumns) * kCell, kSquare, kSquare, kSquare);
  }
  const double rows = std::ceil(static_cast<double>(classes.size()) / kColumns);
  std::string svg =
      fmt::format("<svg viewBox=\"0 0 {:.0f} {:.1f}\" role=\"img\">", kColumns * kCell, rows * kCell);
  for (const auto& [css, d] : paths) svg += fmt::format("<path class=\"{}\" d=\"{}\"/>", css, d);
  return svg + "</svg>\n";
}

}  // namespace assay::reports
