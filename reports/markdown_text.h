#pragma once

#include <string>
#include <string_view>
#include <vector>

// Text for a pull request. Models and servers wrote part of what a report quotes: it must not ping people,
// link, refer to issues, break tables or inject HTML.
namespace assay::reports {

// One line of plain text; at most `limit` characters of it.
std::string Inline(std::string_view text, size_t limit = 600);
// A code span: `ttft_p50_ms`. Safe in table cells.
std::string Code(std::string_view text);
// A fenced block no content can end.
std::string CodeBlock(const std::vector<std::string>& lines, std::string_view language);
// A line of a table; cells are markdown already.
std::string TableRow(const std::vector<std::string>& cells);
// [name](url), for an address of the web; "" for anything else.
std::string Link(std::string_view name, std::string_view url);
// Code points, as GitHub counts a comment's.
size_t Characters(std::string_view text);

}  // namespace assay::reports
