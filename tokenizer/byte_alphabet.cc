#include "tokenizer/byte_alphabet.h"

#include <array>
#include <cstdint>

namespace assay::tokenizer {
namespace {

constexpr int kCharacters = 0x144;  // one more than the last: 256 + 68
constexpr int kNoByte = -1;

bool StandsForItself(int byte) {
  return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || (byte >= 174 && byte <= 255);
}

struct Alphabet {
  std::array<int, 256> character;
  std::array<int, kCharacters> byte;
};

const Alphabet& TheAlphabet() {
  static const Alphabet kAlphabet = [] {
    Alphabet alphabet;
    alphabet.byte.fill(kNoByte);
    int next = 0x100;
    for (int byte = 0; byte < 256; ++byte) {
      const int character = StandsForItself(byte) ? byte : next++;
      alphabet.character[byte] = character;
      alphabet.byte[character] = byte;
    }
    return alphabet;
  }();
  return kAlphabet;
}

}  // namespace

std::optional<std::string> BytesFromAlphabet(std::string_view text) {
  const Alphabet& alphabet = TheAlphabet();
  std::string bytes;
  bytes.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    int character = static_cast<uint8_t>(text[i]);
    if (character >= 0x80) {  // every character of the alphabet has at most two bytes
      if (character < 0xC2 || character > 0xDF || ++i == text.size()) return std::nullopt;
      character = ((character & 0x1F) << 6) | (static_cast<uint8_t>(text[i]) & 0x3F);
    }
    if (character >= kCharacters || alphabet.byte[character] == kNoByte) return std::nullopt;
    bytes += static_cast<char>(alphabet.byte[character]);
  }
  return bytes;
}

std::string AlphabetCharacter(unsigned char byte) {
  const int character = TheAlphabet().character[byte];
  if (character < 0x80) return std::string(1, static_cast<char>(character));
  return {static_cast<char>(0xC0 | (character >> 6)), static_cast<char>(0x80 | (character & 0x3F))};
}

}  // namespace assay::tokenizer
