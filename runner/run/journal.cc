#include "runner/run/journal.h"

#include <fmt/format.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace assay::runner {

Result<std::unique_ptr<Journal>> Journal::Open(const Path& file) {
  std::FILE* stream = std::fopen(file.c_str(), "ae");
  if (stream == nullptr) {
    return Fail(ErrorKind::kInfrastructure, "{}: cannot be written: {}", file.string(), std::strerror(errno));
  }
  std::unique_ptr<Journal> journal(new Journal(stream));
  if (::flock(::fileno(stream), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK)
      return Fail(ErrorKind::kInfrastructure, "{}: cannot be locked: {}", file.string(),
                  std::strerror(errno));
    return Fail(ErrorKind::kUsage,
                "{}: another assay is writing it; wait until that has ended, or end it, then --resume",
                file.string());
  }
  std::error_code ignored;
  const auto size = std::filesystem::file_size(file, ignored);
  if (!ignored && size > 0) {
    ASSIGN_OR_RETURN(const std::string before, ReadFile(file));
    if (!before.empty() && before.back() != '\n') std::fputc('\n', stream);
  }
  return journal;
}

Result<std::map<std::string, JournalCell>> ReadJournal(const Path& file) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  std::map<std::string, JournalCell> cells;
  for (const std::string& line : SplitLines(text)) {
    const nlohmann::json entry = nlohmann::json::parse(line, nullptr, false);
    const nlohmann::json name = entry.is_object() ? entry.value("cell", nlohmann::json()) : nlohmann::json();
    if (!name.is_string()) continue;
    JournalCell& cell = cells[name.get<std::string>()];
    if (const auto hash = entry.find("config_hash"); hash != entry.end() && hash->is_string())
      cell.config_hash = hash->get<std::string>();
    if (const auto asked = entry.find("asked"); asked != entry.end() && asked->is_object()) {
      cell.asked.clear();
      for (const auto& [setting, value] : asked->items())
        if (value.is_string()) cell.asked[setting] = value.get<std::string>();
    }
    if (!entry.contains("sample")) continue;
    auto sample = record::ParseQuestionSample(entry["sample"]);
    if (sample) cell.samples.push_back(std::move(*sample));
  }
  return cells;
}

void Journal::Begin(const std::string& cell, const std::string& config_hash) {
  Write(nlohmann::json{{"cell", cell}, {"config_hash", config_hash}}.dump());
}

void Journal::BeginGpqa(const std::string& cell, const std::map<std::string, std::string>& asked) {
  Write(nlohmann::json{{"cell", cell}, {"eval", "gpqa"}, {"asked", asked}}.dump());
}

void Journal::Add(const std::string& cell, const record::QuestionSample& sample) {
  Write(nlohmann::json{{"cell", cell}, {"eval", "gpqa"}, {"sample", record::ToJson(sample)}}.dump());
}

void Journal::Add(const std::string& cell, const std::string& serving, const record::RequestTiming& request) {
  Write(nlohmann::json{{"cell", cell}, {"eval", "serving:" + serving}, {"request", record::ToJson(request)}}
            .dump());
}

void Journal::Write(const std::string& line) {
  const std::lock_guard lock(mutex_);
  std::fputs((line + "\n").c_str(), file_.get());
  std::fflush(file_.get());  // a killed run keeps what the kernel has
}

}  // namespace assay::runner
