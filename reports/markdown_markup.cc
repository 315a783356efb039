#include "reports/markdown_text.h"
#include "reports/markup.h"

namespace assay::reports {
namespace {

class Markdown : public Markup {
 public:
  std::string Text(std::string_view text, size_t limit) const override { return Inline(text, limit); }
  std::string Code(std::string_view text) const override { return reports::Code(text); }
  std::string Strong(const std::string& markup) const override { return "**" + markup + "**"; }
  std::string Outcome(record::Outcome, const std::string& words) const override { return Strong(words); }
  std::string Link(std::string_view name, std::string_view url) const override {
    return reports::Link(name, url);
  }

  std::string Headline(record::Outcome, std::string_view symbol, std::string_view text) const override {
    return "## " + std::string(symbol) + " " + Inline(text) + "\n\n";
  }
  std::string Paragraph(const std::string& markup) const override { return markup + "\n\n"; }
  std::string Item(const std::string& markup, const std::vector<std::string>& details) const override {
    std::string item = "- " + markup + "\n";
    for (const std::string& detail : details) item += "  - " + detail + "\n";
    return item;
  }
  std::string List(const std::string& items) const override { return items.empty() ? "" : items + "\n"; }
  std::string CodeBlock(const std::vector<std::string>& lines, std::string_view language) const override {
    return reports::CodeBlock(lines, language) + "\n";
  }
  std::string Row(const std::vector<std::string>& cells) const override { return TableRow(cells); }
  std::string Table(const std::vector<std::string>& head, const std::string& rows) const override {
    return TableRow(head) + TableRow(std::vector<std::string>(head.size(), "---")) + rows + "\n";
  }
  std::string Folded(std::string_view summary, const std::string& body) const override {
    return "<details><summary>" + std::string(summary) + "</summary>\n\n" + body + "</details>\n\n";
  }
  std::string Section(std::string_view title, const std::string& body) const override {
    return body.empty() ? "" : "### " + std::string(title) + "\n\n" + body;
  }
};

}  // namespace

const Markup& MarkdownMarkup() {
  static const Markdown markup;
  return markup;
}

}  // namespace assay::reports
