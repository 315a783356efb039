#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "record/verdict.h"

namespace assay::reports {

// How a page is written down: the same sections in markdown and in HTML. Text comes from models and servers
// too, so everything that is not markup already goes through Text, Code or CodeBlock. "Markup" below is what
// these return.
class Markup {
 public:
  virtual ~Markup() = default;

  // One line of plain text; at most `limit` characters of it.
  virtual std::string Text(std::string_view text, size_t limit = 600) const = 0;
  virtual std::string Code(std::string_view text) const = 0;
  virtual std::string Strong(const std::string& markup) const = 0;
  virtual std::string Outcome(record::Outcome outcome, const std::string& words) const = 0;  // a loud one
  // For an address of the web; "" for anything else.
  virtual std::string Link(std::string_view name, std::string_view url) const = 0;

  virtual std::string Headline(record::Outcome outcome, std::string_view symbol,
                               std::string_view text) const = 0;
  virtual std::string Paragraph(const std::string& markup) const = 0;
  virtual std::string Item(const std::string& markup, const std::vector<std::string>& details = {}) const = 0;
  virtual std::string List(const std::string& items) const = 0;  // "" without items
  virtual std::string CodeBlock(const std::vector<std::string>& lines, std::string_view language) const = 0;
  virtual std::string Row(const std::vector<std::string>& cells) const = 0;
  virtual std::string Table(const std::vector<std::string>& head, const std::string& rows) const = 0;
  virtual std::string Folded(std::string_view summary, const std::string& body) const = 0;
  virtual std::string Section(std::string_view title,
                              const std::string& body) const = 0;  // "" without a body
};

const Markup& MarkdownMarkup();
const Markup& HtmlMarkup();

}  // namespace assay::reports
