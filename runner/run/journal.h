#pragma once

#include <cstdio>
#include <memory>
#include <mutex>

#include "base/file.h"
#include "base/result.h"
#include "record/run_record.h"

namespace assay::runner {

// Appends each sample and request to OUT/journal.jsonl as it finishes, so that even a killed run leaves what
// it measured. One JSON object a line, with the cell's key and the eval's name. Thread-safe.
class Journal {
 public:
  static Result<std::unique_ptr<Journal>> Open(const Path& file);

  void Add(const std::string& cell, const record::QuestionSample& sample);
  void Add(const std::string& cell, const std::string& serving, const record::RequestTiming& request);

 private:
  explicit Journal(std::FILE* file) : file_(file, &std::fclose) {}
  void Write(const std::string& line);

  std::mutex mutex_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

}  // namespace assay::runner
