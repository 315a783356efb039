#include "reports/html_document.h"

#include "reports/html_style.h"
#include "reports/markup_text.h"

namespace assay::reports {
namespace {

constexpr char kPolicy[] =
    R"(<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">)";

}  // namespace

std::string HtmlDocument(Language language, std::string_view title, const std::string& body) {
  const std::string code = language == Language::kChinese ? "zh-CN" : "en";
  return "<!doctype html>\n<html lang=\"" + code + "\">\n<head>\n<meta charset=\"utf-8\">\n" +
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n" + kPolicy +
         "\n<title>" + Escaped(title) + "</title>\n<style>\n" + std::string(kHtmlStyle) +
         "</style>\n</head>\n<body>\n<main>\n" + body + "</main>\n</body>\n</html>\n";
}

}  // namespace assay::reports
