#include "wire/sse.h"

#include <algorithm>
#include <cstring>

namespace assay::wire {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Walks over the line ends of some bytes. Each byte is looked at once for LF and once for CR, whichever the
// stream uses.
class LineEnds {
 public:
  explicit LineEnds(std::string_view bytes) : bytes_(bytes) {}

  // Offset of the first CR or LF at or after `from`, or the size.
  size_t Next(size_t from) {
    if (lf_ < from || from == 0) lf_ = Find('\n', from, bytes_.size());
    return Find('\r', from, lf_);
  }

 private:
  size_t Find(char c, size_t from, size_t end) const {
    if (from == end) return end;
    const void* at = std::memchr(bytes_.data() + from, c, end - from);
    return at == nullptr ? end : static_cast<size_t>(static_cast<const char*>(at) - bytes_.data());
  }

  std::string_view bytes_;
  size_t lf_ = 0;
};

// Length of the line end at `at`: 2 for CR LF.
size_t LineEndLength(std::string_view bytes, size_t at) {
  return bytes.substr(at, 2) == "\r\n" ? 2 : 1;
}

}  // namespace

bool SseDecoder::SkipByteOrderMark(std::string_view* bytes) {
  // buffer_ holds the part of the mark seen so far.
  const size_t seen = buffer_.size();
  const size_t fresh = std::min(bytes->size(), kByteOrderMark.size() - seen);
  if (bytes->substr(0, fresh) != kByteOrderMark.substr(seen, fresh)) {
    started_ = true;  // no mark: what was held belongs to the first line
    return true;
  }
  if (seen + fresh < kByteOrderMark.size()) {
    buffer_.append(*bytes);
    return false;
  }
  bytes->remove_prefix(fresh);
  buffer_.clear();
  started_ = true;
  return true;
}

void SseDecoder::Feed(std::string_view bytes, const Sink& sink) {
  if (bytes.empty() || (!started_ && !SkipByteOrderMark(&bytes))) return;
  if (skip_lf_ && !bytes.empty()) {
    if (bytes.front() == '\n') bytes.remove_prefix(1);
    skip_lf_ = false;
  }
  LineEnds ends(bytes);
  for (size_t at = 0; at < bytes.size();) {
    const size_t end = ends.Next(at);
    if (end == bytes.size()) {
      buffer_.append(bytes.substr(at));
      return;
    }
    if (buffer_.empty()) {
      Line(bytes.substr(at, end - at), sink);
    } else {
      buffer_.append(bytes.substr(at, end - at));
      Line(buffer_, sink);
      buffer_.clear();
    }
    skip_lf_ = bytes[end] == '\r' && end + 1 == bytes.size();
    at = end + LineEndLength(bytes, end);
  }
}

void SseDecoder::Line(std::string_view line, const Sink& sink) {
  if (line.empty()) return Dispatch(sink);
  const size_t colon = line.find(':');
  const std::string_view field = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
  if (!value.empty() && value.front() == ' ') value.remove_prefix(1);
  if (field == "data") {
    if (has_data_) data_ += '\n';
    data_ += value;
    has_data_ = true;
  } else if (field == "event") {
    event_ = value;
  }
}

void SseDecoder::Dispatch(const Sink& sink) {
  if (has_data_) sink({event_, data_});
  event_.clear();
  data_.clear();
  has_data_ = false;
}

size_t SseDecoder::Pending() const {
  return buffer_.size() + event_.size() + data_.size() + (has_data_ ? 1 : 0);
}

std::string SseData(std::string_view data) {
  std::string text;
  text.reserve(data.size() + 8);
  // A line end inside the data starts another data line; JSON has none.
  LineEnds ends(data);
  for (size_t at = 0;;) {
    const size_t end = ends.Next(at);
    text += "data: ";
    text += data.substr(at, end - at);
    text += '\n';
    if (end == data.size()) break;
    at = end + LineEndLength(data, end);
  }
  text += '\n';
  return text;
}

std::string SseData(std::string_view event, std::string_view data) {
  return "event: " + std::string(event) + "\n" + SseData(data);
}

}  // namespace assay::wire
