#include "reports/markdown.h"

#include "base/text.h"
#include "reports/markdown_text.h"
#include "reports/sections.h"

namespace assay::reports {
namespace {

constexpr size_t kCommentCharacters = 60'000;
constexpr size_t kPageBytes = 1'000'000;  // both 1 MiB limits count bytes

size_t Bytes(std::string_view text) {
  return text.size();
}

std::string Body(const Page& page) {
  return HeadSection(page) + SummarySection(page) + ProblemSection(page) + ServerLogSection(page) +
         UndecidedSection(page) + AccuracySection(page) + ServingSection(page) + ImprovementSection(page) +
         NotesSection(page) + EnvironmentSection(page) + ReproduceSection(page) + ValiditySection(page) +
         DefinitionsSection(page);
}

std::string WhatIsLeftOut(const Page& page) {
  const Say& say = page.say;
  const Omitted& omitted = page.omitted;
  std::vector<std::string> parts;
  const auto add = [&](int64_t count, std::string text) {
    if (count > 0) parts.push_back(std::move(text));
  };
  add(omitted.fail_rows, say("{} lines of what fails", omitted.fail_rows));
  add(omitted.pass_rows, say("{} rows that pass", omitted.pass_rows));
  add(omitted.observations, say("{} observations", omitted.observations));
  add(omitted.held_checks, say("{} validity checks that hold", omitted.held_checks));
  add(omitted.long_texts, say("{} details", omitted.long_texts));
  if (page.Leaves(Cut::kTables)) parts.push_back(say("the tables"));
  return Join(parts, say.Word(", "));
}

std::string WithNote(const Page& page, std::string body) {
  if (page.cut == Cut::kNothing) return body;
  const std::string what = WhatIsLeftOut(page);
  return what.empty() ? body
                      : body +
                            page.say(
                                "Shortened to fit here. Left out: {}. Everything is in report.html and "
                                "verdict.json.",
                                what) +
                            "\n";
}

// When even the bare list of what fails is too long: its first lines, and how many there are.
std::string FirstLines(const Page& page, const std::string& body, size_t limit,
                       size_t (*size)(std::string_view)) {
  constexpr size_t kNote = 1000;  // more than the note is long
  std::string text;
  for (const std::string& line : SplitLines(body)) {
    if (page.omitted.fail_rows == 0 && size(text) + size(line) + kNote < limit) {
      text += line + "\n";
    } else if (StartsWith(line, "- ")) {
      ++page.omitted.fail_rows;
    }
  }
  return text + "\n";
}

}  // namespace

std::string RenderWithin(const ReportInput& input, size_t limit, size_t (*size)(std::string_view)) {
  // A check is a row of more than this: what is surely too long is not written to find that out.
  constexpr size_t kShortestRow = 40;
  const bool too_many =
      input.verdict.checks.size() * kShortestRow > limit * 3;  // scores share a row by three
  for (const Cut cut :
       {Cut::kNothing, Cut::kHeldChecks, Cut::kPassRows, Cut::kLongText, Cut::kTables, Cut::kReasons}) {
    if (too_many && cut == Cut::kNothing) continue;
    const Page page(input, MarkdownMarkup(), cut);
    std::string text = WithNote(page, Body(page));
    if (size(text) <= limit) return text;
  }
  const Page page(input, MarkdownMarkup(), Cut::kReasons);
  const std::string body = HeadSection(page) + SummarySection(page) + ProblemSection(page);
  return WithNote(page, FirstLines(page, body, limit, size));
}

std::string RenderComment(const ReportInput& input) {
  return RenderWithin(input, kCommentCharacters, Characters);
}

std::string RenderGithubSummary(const ReportInput& input) {
  return RenderWithin(input, kPageBytes, Bytes);
}

// Buildkite's own links reach files that the job uploads, wherever they are stored.
std::string RenderBuildkite(const ReportInput& input) {
  std::string files;
  if (!input.links.folder.empty()) {
    for (const char* file : {"report.html", "junit.xml", "record.json"}) {
      files += (files.empty() ? "" : " · ") + Link(file, "artifact://" + input.links.folder + "/" + file);
    }
    files = Say(input.language)("Files of this job: {}", files) + "\n";
  }
  return RenderWithin(input, kPageBytes - files.size(), Bytes) + files;
}

}  // namespace assay::reports
