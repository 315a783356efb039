#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace assay::wire {

struct SseEvent {
  std::string_view event;  // "" when the field is absent
  std::string_view data;   // lines joined by LF; valid during the callback only
};

// Incremental decoder of text/event-stream (WHATWG HTML, section 9.2.6). Bytes may be cut anywhere, inside
// UTF-8 or between CR and LF. Comments, id: and retry: are read and dropped; a byte-order mark at the start
// is skipped.
class SseDecoder {
 public:
  using Sink = std::function<void(const SseEvent&)>;

  // Calls `sink` once for each event completed by these bytes. An event without data is not dispatched.
  void Feed(std::string_view bytes, const Sink& sink);

  // Bytes of an event that never got its blank line: non-zero at the end of a stream means it was cut.
  size_t Pending() const;

 private:
  // False while the bytes so far may still grow into a byte-order mark.
  bool SkipByteOrderMark(std::string_view* bytes);
  void Line(std::string_view line, const Sink& sink);
  void Dispatch(const Sink& sink);

  std::string buffer_;  // the unfinished line
  std::string event_;
  std::string data_;
  bool has_data_ = false;
  bool started_ = false;  // past the byte-order mark
  bool skip_lf_ = false;  // the last chunk ended in CR
};

// "data: {json}\n\n"
std::string SseData(std::string_view data);
// "event: name\ndata: {json}\n\n"
std::string SseData(std::string_view event, std::string_view data);

}  // namespace assay::wire
