#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace assay::tokenizer {

// The bytes with every maximal invalid part replaced by one U+FFFD, as Rust's String::from_utf8_lossy and
// Python's errors="replace" do: what a Hugging Face tokenizer would get to see.
std::string RepairUtf8(std::string_view bytes);

// Size without a sequence at the end that is valid so far and may still be completed.
size_t CompleteUtf8Size(std::string_view bytes);

}  // namespace assay::tokenizer
