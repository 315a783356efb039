#include "tokenizer/tokenizer_file.h"

#include "base/text.h"

namespace assay::tokenizer {
namespace {

using nlohmann::json;

constexpr int64_t kMostId = (1 << 24) - 1;  // far above any vocabulary: a larger id is a broken file

// Builds `rest` as values and takes model.vocab and model.merges apart on the way.
class Reader final : public nlohmann::json_sax<json> {
 public:
  explicit Reader(TokenizerFile* file) : file_(file) {}

  const std::string& problem() const { return problem_; }

  bool null() override { return Value(nullptr); }
  bool boolean(bool value) override { return Value(value); }
  bool number_float(double value, const std::string&) override { return Value(value); }
  bool binary(json::binary_t&) override { return false; }  // not in JSON text

  bool number_integer(int64_t value) override {
    if (part_ != Part::kVocabulary) return Value(value);
    return Refuse(fmt::format("model.vocab: the id of \"{}\" is {}", Printable(key_), value));
  }

  bool number_unsigned(uint64_t value) override {
    if (part_ != Part::kVocabulary) return Value(value);
    if (value > uint64_t{kMostId}) return number_integer(static_cast<int64_t>(value));
    file_->vocabulary.emplace_back(std::move(key_), static_cast<int32_t>(value));
    return true;
  }

  bool string(std::string& value) override {
    if (part_ == Part::kMerges) return MergeText(value);
    if (part_ == Part::kMergePair) return MergeHalf(value);
    return Value(std::move(value));
  }

  bool key(std::string& value) override {
    key_ = std::move(value);
    return true;
  }

  bool start_object(size_t) override {
    if (part_ == Part::kRest && AtModel("vocab")) {
      part_ = Part::kVocabulary;
      return true;
    }
    return Open(json::object());
  }
  bool end_object() override {
    if (part_ == Part::kVocabulary) {
      part_ = Part::kRest;
      return true;
    }
    return Close();
  }
  bool start_array(size_t) override {
    if (part_ == Part::kRest && AtModel("merges")) {
      part_ = Part::kMerges;
      return true;
    }
    if (part_ == Part::kMerges) {
      part_ = Part::kMergePair;
      halves_ = 0;
      return true;
    }
    return Open(json::array());
  }
  bool end_array() override {
    if (part_ == Part::kMergePair) {
      part_ = Part::kMerges;
      if (halves_ != 2) return Refuse(MergeProblem("is not a pair"));
      file_->merges.push_back(std::move(pair_));
      return true;
    }
    if (part_ == Part::kMerges) {
      part_ = Part::kRest;
      return true;
    }
    return Close();
  }

  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    std::string_view reason = error.what();  // "[json.exception.parse_error.101] parse error at line ..."
    if (const size_t end = reason.find("] "); end != std::string_view::npos) reason.remove_prefix(end + 2);
    return Refuse(fmt::format("not valid JSON at byte {}, perhaps cut off: {}", position, Printable(reason)));
  }

 private:
  enum class Part { kRest, kVocabulary, kMerges, kMergePair };

  bool Refuse(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
    return false;
  }

  std::string MergeProblem(std::string_view what) const {
    return fmt::format("model.merges[{}]: {}", file_->merges.size(), what);
  }

  bool AtModel(std::string_view name) const {
    return open_.size() == 2 && root_key_ == "model" && key_ == name && open_.back()->is_object();
  }

  bool Value(json value) {
    if (part_ == Part::kVocabulary) {
      return Refuse(fmt::format("model.vocab: the id of \"{}\" is not a number", Printable(key_)));
    }
    if (part_ != Part::kRest) return Refuse(MergeProblem("is neither \"a b\" nor [\"a\", \"b\"]"));
    Place(std::move(value));
    return true;
  }

  json* Place(json value) {
    if (open_.empty()) return &(file_->rest = std::move(value));
    json& parent = *open_.back();
    if (parent.is_array()) return &parent.emplace_back(std::move(value));
    return &(parent[key_] = std::move(value));
  }

  bool Open(json value) {
    if (part_ != Part::kRest) return Value(std::move(value));
    if (open_.size() == 1) root_key_ = key_;
    open_.push_back(Place(std::move(value)));
    return true;
  }
  bool Close() {
    open_.pop_back();
    return true;
  }

  // "a b", as older files have it.
  bool MergeText(std::string_view text) {
    const size_t blank = text.find(' ');
    if (blank == std::string_view::npos || text.find(' ', blank + 1) != std::string_view::npos) {
      return Refuse(MergeProblem("needs exactly one blank"));
    }
    file_->merges.emplace_back(text.substr(0, blank), text.substr(blank + 1));
    return true;
  }

  bool MergeHalf(std::string& text) {
    if (halves_ == 2) return Refuse(MergeProblem("is not a pair"));
    (halves_ == 0 ? pair_.first : pair_.second) = std::move(text);
    ++halves_;
    return true;
  }

  TokenizerFile* file_;
  Part part_ = Part::kRest;
  std::vector<json*> open_;  // the objects and arrays around the present position
  std::string key_;
  std::string root_key_;
  std::pair<std::string, std::string> pair_;
  int halves_ = 0;  // of pair_ that are read
  std::string problem_;
};

}  // namespace

Result<TokenizerFile> ParseTokenizerFile(std::string_view text) {
  TokenizerFile file;
  if (Trim(text).empty()) return Fail(ErrorKind::kUsage, "the file is empty");
  Reader reader(&file);
  try {
    if (!json::sax_parse(text, &reader)) return Fail(ErrorKind::kUsage, "{}", reader.problem());
  } catch (const json::exception& error) {
    return Fail(ErrorKind::kUsage, "not valid JSON: {}", Printable(error.what()));
  }
  if (!file.rest.is_object()) return Fail(ErrorKind::kUsage, "a JSON object is needed");
  return file;
}

}  // namespace assay::tokenizer
