#pragma once

#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "record/run_record.h"

namespace assay::runner {

// Appends each sample and request to OUT/journal.jsonl as it finishes, so that even a killed run leaves what
// it measured. One JSON object a line, with the cell's key and the eval's name. Thread-safe.
class Journal {
 public:
  // Goes on where an earlier attempt ended, be it in the middle of a line. A journal has one writer: a second
  // is refused for as long as the first one's process lives.
  static Result<std::unique_ptr<Journal>> Open(const Path& file);

  // Before the first entry of a cell: what was to be measured.
  void Begin(const std::string& cell, const std::string& config_hash);
  // Before its first sample: evals::WhatIsAsked.
  void BeginGpqa(const std::string& cell, const std::map<std::string, std::string>& asked);
  void Add(const std::string& cell, const record::QuestionSample& sample);
  void Add(const std::string& cell, const std::string& serving, const record::RequestTiming& request);

 private:
  explicit Journal(std::FILE* file) : file_(file, &std::fclose) {}
  void Write(const std::string& line);

  std::mutex mutex_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

// What a journal has of a cell.
struct JournalCell {
  std::string config_hash;
  std::map<std::string, std::string> asked;
  std::vector<record::QuestionSample> samples;  // of the accuracy eval, in the order they finished
};
// By cell. Lines that a kill cut are passed over. A file that cannot be read is an error.
Result<std::map<std::string, JournalCell>> ReadJournal(const Path& file);

}  // namespace assay::runner
