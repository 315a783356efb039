#include <algorithm>

#include "base/text.h"
#include "reports/markup.h"
#include "reports/markup_text.h"
#include "reports/text_line.h"
#include "reports/web_address.h"

namespace assay::reports {
namespace {

std::string Tag(std::string_view name, const std::string& content) {
  return "<" + std::string(name) + ">" + content + "</" + std::string(name) + ">";
}

std::string ClassOf(record::Outcome outcome) {
  return ToLower(record::Name(outcome));
}

class Html : public Markup {
 public:
  std::string Text(std::string_view text, size_t limit) const override {
    return Escaped(AtMost(OneLine(text), limit));
  }
  std::string Code(std::string_view text) const override {
    const std::string line = AtMost(OneLine(text), 600);
    return line.empty() ? "" : Tag("code", Escaped(line));
  }
  std::string Strong(const std::string& markup) const override { return Tag("b", markup); }
  std::string Outcome(record::Outcome outcome, const std::string& words) const override {
    return "<b class=\"" + ClassOf(outcome) + "\">" + words + "</b>";
  }
  std::string Link(std::string_view name, std::string_view url) const override {
    const std::string address = WebAddress(url);
    if (address.empty()) return "";
    return "<a rel=\"noreferrer\" href=\"" + Escaped(address) + "\">" + Escaped(name) + "</a>";
  }

  // The colour says what the symbol says; fonts for it are not everywhere.
  std::string Headline(record::Outcome outcome, std::string_view, std::string_view text) const override {
    return "<h1 class=\"" + ClassOf(outcome) + "\">" + Escaped(text) + "</h1>\n";
  }
  std::string Paragraph(const std::string& markup) const override { return Tag("p", markup) + "\n"; }
  std::string Item(const std::string& markup, const std::vector<std::string>& details) const override {
    std::string inner;
    for (const std::string& detail : details) inner += Tag("li", detail);
    return Tag("li", markup + (inner.empty() ? "" : Tag("ul", inner))) + "\n";
  }
  std::string List(const std::string& items) const override {
    return items.empty() ? "" : Tag("ul", "\n" + items) + "\n";
  }
  std::string CodeBlock(const std::vector<std::string>& lines, std::string_view) const override {
    std::string body;
    for (const std::string& line : lines) body += Escaped(AtMost(OneLine(line), 2000)) + "\n";
    return Tag("pre", body) + "\n";
  }
  std::string Row(const std::vector<std::string>& cells) const override { return Cells("td", cells); }
  std::string Table(const std::vector<std::string>& head, const std::string& rows) const override {
    return "<div class=\"table\"><table>\n" + Tag("thead", Cells("th", head)) + "\n" +
           Tag("tbody", "\n" + rows) + "</table></div>\n";
  }
  std::string Folded(std::string_view summary, const std::string& body) const override {
    return "<details><summary>" + std::string(summary) + "</summary>\n" + body + "</details>\n";
  }
  std::string Section(std::string_view title, const std::string& body) const override {
    return body.empty() ? "" : "<section>\n" + Tag("h2", std::string(title)) + "\n" + body + "</section>\n";
  }

 private:
  static std::string Cells(std::string_view tag, const std::vector<std::string>& cells) {
    std::string row;
    for (const std::string& cell : cells) row += Tag(tag, cell);
    return Tag("tr", row) + "\n";
  }
};

}  // namespace

const Markup& HtmlMarkup() {
  static const Html markup;
  return markup;
}

}  // namespace assay::reports
