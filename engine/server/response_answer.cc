#include <fmt/format.h>

#include <utility>

#include "engine/server/answer.h"
#include "engine/server/errors.h"
#include "wire/sse.h"

namespace assay::engine {
namespace {

using nlohmann::json;
using wire::ResponseItem;
using Kind = ResponseItem::Kind;

// The names of the events of one kind of item. Reasoning parts have names of their own, as in vLLM.
struct ItemEvents {
  const char* id_prefix;
  const char* delta;
  const char* done;
  const char* text_field;  // of the done event
  const char* part_added;  // none for calls
  const char* part_done;
};

const ItemEvents& EventsOf(Kind kind) {
  static const ItemEvents kReasoning = {
      "rs",   "response.reasoning_text.delta", "response.reasoning_text.done",
      "text", "response.reasoning_part.added", "response.reasoning_part.done"};
  static const ItemEvents kMessage = {"msg",  "response.output_text.delta",  "response.output_text.done",
                                      "text", "response.content_part.added", "response.content_part.done"};
  static const ItemEvents kCall = {"fc",
                                   "response.function_call_arguments.delta",
                                   "response.function_call_arguments.done",
                                   "arguments",
                                   nullptr,
                                   nullptr};
  switch (kind) {
    case Kind::kReasoning:
      return kReasoning;
    case Kind::kMessage:
      return kMessage;
    default:
      return kCall;
  }
}

// Builds the items of a response from what the tokens give, and tells of each step if it is a stream.
class ResponseAnswer final : public Answer {
 public:
  ResponseAnswer(std::shared_ptr<Exchange> exchange, wire::Response response, bool stream)
      : exchange_(std::move(exchange)), response_(std::move(response)), stream_(stream) {}

  void Add(size_t, TextDelta delta, const wire::Usage&) override {
    Begin();
    waiting_.Append(std::move(delta));
    if (!exchange_->Congested()) Advance();
    Send();
  }

  void Finish(size_t, const ChoiceEnd& end, const wire::Usage&) override {
    Begin();
    Advance();
    const bool cut = end.finish_reason == "length";
    CloseItem(cut ? "incomplete" : "completed");
    response_.status = cut ? "incomplete" : "completed";
    if (cut) response_.incomplete_reason = "max_output_tokens";
  }

  void Close(const wire::Usage& usage) override {
    response_.usage = usage;
    if (!stream_) {
      HttpResponse response;
      response.body = wire::JsonText(wire::ToJson(response_));
      return exchange_->Respond(response);
    }
    End("response." + response_.status);
  }

  void Fail(const wire::ErrorBody& error) override {
    if (!stream_ || !begun_) return exchange_->Respond(ErrorResponse(error));
    response_.status = "failed";
    response_.error = error;
    End("response.failed");
  }

 private:
  void Begin() {
    if (std::exchange(begun_, true) || !stream_) return;
    exchange_->BeginStream();
    Emit("response.created", {{"response", wire::ToJson(response_)}});
    Emit("response.in_progress", {{"response", wire::ToJson(response_)}});
  }

  void Advance() {
    TextDelta delta = std::exchange(waiting_, {});
    if (!delta.reasoning.empty()) Text(Kind::kReasoning, delta.reasoning);
    if (!delta.content.empty()) Text(Kind::kMessage, delta.content);
    for (wire::ToolCallDelta& call : delta.calls) {
      if (!call.id.empty()) OpenItem(Kind::kFunctionCall, std::move(call.id), std::move(call.name));
      Grow(call.arguments);
    }
  }

  void Text(Kind kind, const std::string& text) {
    if (!open_ || response_.output.back().kind != kind) OpenItem(kind, "", "");
    Grow(text);
  }

  void OpenItem(Kind kind, std::string call_id, std::string name) {
    CloseItem("completed");
    open_ = true;
    ResponseItem& item = response_.output.emplace_back();
    item.kind = kind;
    item.id = fmt::format("{}_{}_{}", EventsOf(kind).id_prefix,
                          response_.head.id.substr(response_.head.id.find('_') + 1), response_.output.size());
    item.call_id = std::move(call_id);
    item.name = std::move(name);
    Emit("response.output_item.added", {{"output_index", Index()}, {"item", wire::ToJson(item)}});
    if (const char* part_added = EventsOf(kind).part_added) EmitPart(part_added);
  }

  void Grow(const std::string& text) {
    if (text.empty()) return;
    ResponseItem& item = response_.output.back();
    item.text += text;
    if (!stream_) return;
    json event = Place();
    event["delta"] = text;
    if (item.kind == Kind::kMessage) event["logprobs"] = json::array();
    Emit(EventsOf(item.kind).delta, std::move(event));
  }

  void CloseItem(const char* status) {
    if (!std::exchange(open_, false)) return;
    ResponseItem& item = response_.output.back();
    item.status = status;
    if (!stream_) return;
    const ItemEvents& events = EventsOf(item.kind);
    json done = Place();
    done[events.text_field] = item.text;
    if (item.kind == Kind::kMessage) done["logprobs"] = json::array();
    if (item.kind == Kind::kFunctionCall) done["name"] = item.name;
    Emit(events.done, std::move(done));
    if (events.part_done != nullptr) EmitPart(events.part_done);
    Emit("response.output_item.done", {{"output_index", Index()}, {"item", wire::ToJson(item)}});
  }

  size_t Index() const { return response_.output.size() - 1; }

  // What names the place of a text in the response.
  json Place() const {
    const ResponseItem& item = response_.output.back();
    json place = {{"item_id", item.id}, {"output_index", Index()}};
    if (item.kind != Kind::kFunctionCall) place["content_index"] = 0;
    return place;
  }

  void EmitPart(const char* type) {
    if (!stream_) return;
    json event = Place();
    event["part"] = wire::PartJson(response_.output.back());
    Emit(type, std::move(event));
  }

  void Emit(const std::string& type, json event) {
    if (!stream_) return;
    event["type"] = type;
    event["sequence_number"] = sequence_number_++;
    events_ += wire::SseData(type, wire::JsonText(event));
  }

  void Send() {
    if (!stream_) return;
    exchange_->Write(events_);
    events_.clear();
  }

  void End(const std::string& type) {
    Emit(type, {{"response", wire::ToJson(response_)}});
    Send();
    exchange_->EndStream();
  }

  std::shared_ptr<Exchange> exchange_;
  wire::Response response_;
  bool stream_;
  bool begun_ = false;
  bool open_ = false;  // the last item is being written
  TextDelta waiting_;
  int64_t sequence_number_ = 0;
  std::string events_;
};

}  // namespace

std::unique_ptr<Answer> Answer::MakeResponse(std::shared_ptr<Exchange> exchange, wire::Response response,
                                             bool stream) {
  return std::make_unique<ResponseAnswer>(std::move(exchange), std::move(response), stream);
}

}  // namespace assay::engine
