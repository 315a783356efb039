#include <fmt/format.h>

#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>

#include "base/text.h"
#include "evals/gpqa/gpqa.h"
#include "record/run_record.h"
#include "runner/cli/command.h"
#include "runner/cli/exit_code.h"
#include "runner/cli/parse.h"

namespace assay::runner {

const std::string_view kGradeHelp =
    R"(usage: assay grade [FILE|RECORD]

Reads the letter out of answers, by both graders. FILE has one JSON object a line, {"id": ..., "text": ...}
(default, and "-": stdin); each gives one line with the letters and the rules that decided:

  {"id":"rec1","strict":"B","strict_rule":"answer is","compat":"A","compat_rule":"1 answer at ...","compat_hits":[1,3]}

An empty strict letter is an answer without a readable one. compat_hits are all rules of gpt-oss's grader that
hit, by their place in its list. RECORD, a run's folder or record.json, is graded again when it was run with
--include-text; what comes out otherwise than it was recorded has "was". The summary goes to stderr.

example
  echo '{"id": 1, "text": "The answer is (b)."}' | assay grade
)";

namespace {

using Json = nlohmann::ordered_json;

Json Graded(std::string_view text) {
  const evals::Grade strict = evals::GradeStrict(text), compat = evals::GradeCompat(text);
  return {{"strict", strict.letter},
          {"strict_rule", strict.rule},
          {"compat", compat.letter},
          {"compat_rule", compat.rule},
          {"compat_hits", evals::CompatHits(text)}};
}

void Print(const Json& line) {
  fmt::print("{}\n", line.dump(-1, ' ', false, Json::error_handler_t::replace));
}

// One {"id", "text"} of line `number`.
Result<Json> GradeLine(const std::string& line, const std::string& source, int64_t number) {
  const Json object = Json::parse(line, nullptr, false);
  if (!object.is_object() || !object.contains("text")) {
    return Fail(ErrorKind::kUsage, "{}:{}: is no JSON object with \"text\"{}", source, number,
                object.is_discarded() ? "; is the line cut, or not UTF-8?" : "");
  }
  const Json& text = object["text"];
  if (!text.is_string() && !text.is_null())
    return Fail(ErrorKind::kUsage, "{}:{}: text must be a string or null", source, number);
  Json graded = Graded(text.is_string() ? text.get<std::string>() : "");
  Json out = Json::object();
  if (object.contains("id")) out["id"] = object["id"];
  out.update(graded);
  return out;
}

// Every line is graded; the first that cannot be is the error, after the others.
Result<int> GradeLines(std::istream& in, const std::string& source) {
  std::string line;
  int64_t number = 0, graded = 0;
  std::optional<Error> first;
  while (std::getline(in, line)) {
    ++number;
    if (Trim(line).empty()) continue;
    auto out = GradeLine(line, source, number);
    if (!out) {
      if (!first) first = std::move(out).error();
      continue;
    }
    ++graded;
    Print(*out);
  }
  if (in.bad()) return Fail(ErrorKind::kInfrastructure, "{}: reading failed", source);
  if (first) return tl::unexpected(std::move(*first));
  if (graded == 0) return Fail(ErrorKind::kUsage, "{}: has no line to grade", source);
  return kExitPass;
}

struct Tally {
  int64_t samples = 0, strict = 0, compat = 0, changed = 0;
};

void GradeSample(const std::string& cell, const record::QuestionSample& sample, Tally& tally) {
  ++tally.samples;
  Json out = {{"cell", cell}, {"id", sample.id}, {"repeat", sample.repeat}, {"expected", sample.expected}};
  if (!sample.error.empty()) {
    out["error"] = sample.error;
    return Print(out);
  }
  const Json graded = Graded(sample.answer);
  out.update(graded);
  tally.strict += graded["strict"] == sample.expected;
  tally.compat += graded["compat"] == sample.expected;
  if (graded["strict"] != sample.strict || graded["compat"] != sample.compat) {
    ++tally.changed;
    out["was"] = {{"strict", sample.strict}, {"compat", sample.compat}};
  }
  Print(out);
}

Result<int> GradeRecord(const Path& file) {
  ASSIGN_OR_RETURN(const record::RunRecord record, record::LoadRunRecord(file));
  bool any = false;
  for (const record::CellRecord& cell : record.cells) {
    if (!cell.accuracy) continue;
    any = true;
    if (!cell.accuracy->has_text) {
      return Fail(
          ErrorKind::kUsage,
          "{}: cell {} has no answers to grade again: they are only kept by a run with --include-text",
          file.string(), cell.key);
    }
    Tally tally;
    for (const record::QuestionSample& sample : cell.accuracy->samples) GradeSample(cell.key, sample, tally);
    fmt::print(stderr, "{}: strict {}/{}, compat {}/{}, {} letters differ from the record\n", cell.key,
               tally.strict, tally.samples, tally.compat, tally.samples, tally.changed);
  }
  if (!any) return Fail(ErrorKind::kUsage, "{}: has no accuracy eval", file.string());
  return kExitPass;
}

// A record is one JSON document and says so in its first bytes; lines of answers do not.
bool IsRecord(const std::string& text) {
  const Json document = Json::parse(text, nullptr, false);
  return document.is_object() && document.contains("schema");
}

Result<int> Grade(const std::string& what) {
  if (what == "-") return GradeLines(std::cin, "stdin");
  std::error_code ignored;
  if (std::filesystem::is_directory(what, ignored)) return GradeRecord(Path(what) / "record.json");
  ASSIGN_OR_RETURN(const std::string text, ReadFile(what));
  if (IsRecord(text)) return GradeRecord(what);
  std::istringstream lines(text);
  return GradeLines(lines, what);
}

}  // namespace

int GradeCommand(int argc, char** argv) {
  std::string what = "-";
  CLI::App app;
  app.set_help_flag();
  app.add_option("what", what);
  if (const auto exit_code = ParseArguments(app, argc, argv)) return *exit_code;
  const Result<int> exit_code = Grade(what);
  if (exit_code) return *exit_code;
  fmt::print(stderr, "assay grade: {}\n", exit_code.error().message);
  return ExitCodeOf(exit_code.error().kind);
}

}  // namespace assay::runner
