#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay::runner {

// A place in a file; line and column count from 1, 0 is "the file as a whole".
struct Mark {
  std::shared_ptr<const std::string> file;
  int line = 0;
  int column = 0;
};

// Everything wrong with one config, so that a user mends all of it at once.
class Mistakes {
 public:
  // `path` is the dotted key ("engine.model"; "" for the file), `what` says what is wrong and what to do.
  void Add(const Mark& mark, std::string_view path, std::string what);

  bool empty() const { return list_.empty(); }
  size_t size() const { return list_.size(); }
  // One line each in file order: "configs/a.yaml:14:3: engine.tokeniser: unknown key; did you mean
  // tokenizer?"
  std::string Text() const;
  Error ToError() const { return {ErrorKind::kUsage, Text()}; }

 private:
  struct Mistake {
    Mark mark;
    std::string text;
  };
  std::vector<Mistake> list_;
};

// "engine" + "model" is "engine.model"; "" + "engine" is "engine".
std::string JoinPath(std::string_view path, std::string_view key);

}  // namespace assay::runner
