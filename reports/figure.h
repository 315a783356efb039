#pragma once

#include <string>

namespace assay::reports {

// A plot with its caption and a line below it, all markup. `note` may be "".
inline std::string Figure(const std::string& caption, const std::string& body, const std::string& note) {
  return "<figure><figcaption>" + caption + "</figcaption>\n" + body +
         (note.empty() ? "" : "<p>" + note + "</p>") + "</figure>\n";
}

// Figures beside each other under a title; "" without figures.
inline std::string FigureGrid(const std::string& title, const std::string& figures) {
  return figures.empty() ? "" : "<h3>" + title + "</h3>\n<div class=\"plots\">\n" + figures + "</div>\n";
}

}  // namespace assay::reports
