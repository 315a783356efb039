#pragma once

#include <optional>
#include <string>
#include <string_view>

// GPT-2's way of writing bytes as printable characters in a vocabulary: 33..126, 161..172 and 174..255 stand
// for themselves, the other 68 bytes are U+0100, U+0101, ... in order, so that a blank is U+0120.
namespace assay::tokenizer {

// The bytes that such a text stands for, or nothing when a character is not of the alphabet.
std::optional<std::string> BytesFromAlphabet(std::string_view text);

// The character of a byte, in UTF-8.
std::string AlphabetCharacter(unsigned char byte);

}  // namespace assay::tokenizer
