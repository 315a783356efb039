#include "runner/run/journal.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace assay::runner {

Result<std::unique_ptr<Journal>> Journal::Open(const Path& file) {
  std::FILE* stream = std::fopen(file.c_str(), "ae");
  if (stream == nullptr) {
    return Fail(ErrorKind::kInfrastructure, "{}: cannot be written: {}", file.string(), std::strerror(errno));
  }
  return std::unique_ptr<Journal>(new Journal(stream));
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
