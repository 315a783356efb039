#include "tokenizer/tokenizer.h"
#include "tokenizer/utf8.h"

namespace assay::tokenizer {

std::string IncrementalDecoder::Add(int32_t id) {
  held_ += tokenizer_->Decode({&id, 1}, skip_specials_);
  const size_t complete = CompleteUtf8Size(held_);
  std::string text = RepairUtf8(std::string_view(held_).substr(0, complete));
  held_.erase(0, complete);
  return text;
}

std::string IncrementalDecoder::Finish() {
  std::string text = RepairUtf8(held_);
  held_.clear();
  return text;
}

}  // namespace assay::tokenizer
