#include "testing/scripted_answers.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

namespace assay::testing {
namespace {

using nlohmann::json;

constexpr int64_t kCreated = 1700000000;

std::vector<std::string> CodePoints(const std::string& text) {
  std::vector<std::string> points;
  for (char c : text) {
    const bool continues = (static_cast<unsigned char>(c) & 0xC0u) == 0x80u;
    if (points.empty() || !continues) points.emplace_back();
    points.back() += c;
  }
  return points;
}

// `text` cut into `count` pieces between characters; blanks where it has fewer characters than that.
std::vector<std::string> Spread(const std::string& text, size_t count) {
  const std::vector<std::string> points = CodePoints(text);
  std::vector<std::string> pieces(count);
  for (size_t i = 0; i < points.size(); ++i) pieces[i * count / std::max(points.size(), count)] += points[i];
  for (std::string& piece : pieces)
    if (piece.empty()) piece = " ";
  return pieces;
}

struct Question {
  bool chat = false;
  bool stream = false;
  size_t tokens = 0;
  std::string finish_reason;
  int64_t prompt_tokens = 0;
};

Question Read(bool chat, const json& request, const ScriptedOptions& options) {
  Question question;
  question.chat = chat;
  question.stream = request.value("stream", false);
  const json prompt = request.value("prompt", json());
  // Nobody here has a tokenizer: token-id prompts are counted, text is taken as four bytes a token.
  question.prompt_tokens = prompt.is_array() ? static_cast<int64_t>(prompt.size())
                                             : static_cast<int64_t>(request.dump().size() / 4 + 1);
  json limit = request.value("max_tokens", json());
  for (const char* name : {"max_completion_tokens", "max_output_tokens"})
    if (limit.is_null()) limit = request.value(name, json());
  question.tokens = static_cast<size_t>(options.tokens);
  question.finish_reason = "stop";
  if (limit.is_number_integer()) {
    const size_t most = limit.get<size_t>();
    if (most < question.tokens || request.value("ignore_eos", false)) {
      question.tokens = most;
      question.finish_reason = "length";
    }
  }
  return question;
}

json Usage(const Question& question) {
  const auto completion = static_cast<int64_t>(question.tokens);
  return {{"prompt_tokens", question.prompt_tokens},
          {"completion_tokens", completion},
          {"total_tokens", question.prompt_tokens + completion}};
}

json Head(const Question& question, const ScriptedOptions& options) {
  const char* object = question.stream ? (question.chat ? "chat.completion.chunk" : "text_completion")
                                       : (question.chat ? "chat.completion" : "text_completion");
  return {{"id", question.chat ? "chatcmpl-scripted" : "cmpl-scripted"},
          {"object", object},
          {"created", kCreated},
          {"model", options.answer_model.empty() ? options.model : options.answer_model}};
}

std::string Event(const json& payload) {
  return "data: " + payload.dump() + "\n\n";
}

ScriptedAnswer Stream(const Question& question, const std::vector<std::string>& pieces,
                      const ScriptedOptions& options) {
  ScriptedAnswer answer;
  for (size_t i = 0; i < pieces.size(); ++i) {
    json choice = {{"index", 0}, {"finish_reason", nullptr}};
    if (question.chat) {
      choice["delta"] = {{"content", pieces[i]}};
      if (i == 0) choice["delta"]["role"] = "assistant";
    } else {
      choice["text"] = pieces[i];
    }
    if (i + 1 == pieces.size()) choice["finish_reason"] = question.finish_reason;
    json chunk = Head(question, options);
    chunk["choices"] = json::array({choice});
    answer.chunks.push_back({options.token_interval_ms, Event(chunk)});
  }
  json last = Head(question, options);
  last["choices"] = json::array();
  last["usage"] = Usage(question);
  answer.chunks.push_back({0, Event(last) + "data: [DONE]\n\n"});
  return answer;
}

ScriptedAnswer Whole(const Question& question, const std::vector<std::string>& pieces,
                     const ScriptedOptions& options) {
  std::string text;
  for (const std::string& piece : pieces) text += piece;
  json choice = {{"index", 0}, {"finish_reason", question.finish_reason}};
  if (question.chat)
    choice["message"] = {{"role", "assistant"}, {"content", text}};
  else
    choice["text"] = text;
  json body = Head(question, options);
  body["choices"] = json::array({choice});
  body["usage"] = Usage(question);
  ScriptedAnswer answer;
  answer.content_type = "application/json";
  answer.chunks.push_back({options.token_interval_ms * static_cast<double>(pieces.size()), body.dump()});
  return answer;
}

// Text alone, without the events that open and close items.
ScriptedAnswer Responses(const Question& question, const std::vector<std::string>& pieces,
                         const ScriptedOptions& options) {
  ScriptedAnswer answer;
  std::string text;
  for (const std::string& piece : pieces) {
    text += piece;
    answer.chunks.push_back(
        {options.token_interval_ms, Event({{"type", "response.output_text.delta"}, {"delta", piece}})});
  }
  const bool cut = question.finish_reason == "length";
  const json part = {{"type", "output_text"}, {"text", text}};
  const json message = {{"type", "message"}, {"role", "assistant"}, {"content", json::array({part})}};
  const json response = {
      {"id", "resp-scripted"},
      {"object", "response"},
      {"model", options.answer_model.empty() ? options.model : options.answer_model},
      {"status", cut ? "incomplete" : "completed"},
      {"incomplete_details", cut ? json{{"reason", "max_output_tokens"}} : json()},
      {"output", json::array({message})},
      {"usage", {{"input_tokens", question.prompt_tokens}, {"output_tokens", question.tokens}}}};
  const std::string type = cut ? "response.incomplete" : "response.completed";
  if (question.stream) {
    answer.chunks.push_back({0, Event({{"type", type}, {"response", response}})});
  } else {
    answer.content_type = "application/json";
    answer.chunks = {{options.token_interval_ms * static_cast<double>(pieces.size()), response.dump()}};
  }
  return answer;
}

}  // namespace

std::string ModelListBody(const ScriptedOptions& options) {
  return json{
      {"object", "list"},
      {"data",
       json::array(
           {{{"id", options.model}, {"object", "model"}, {"created", kCreated}, {"owned_by", "assay"}}})}}
      .dump();
}

ScriptedAnswer ErrorAnswer(int status, const std::string& message) {
  ScriptedAnswer answer;
  answer.status = status;
  answer.content_type = "application/json";
  answer.body = json{{"error", {{"message", message}, {"type", "scripted"}, {"code", status}}}}.dump();
  return answer;
}

ScriptedAnswer DefaultAnswer(std::string_view target, const std::string& request_body,
                             const ScriptedOptions& options) {
  const bool chat = target == "/v1/chat/completions";
  const bool responses = target == "/v1/responses";
  if (!chat && !responses && target != "/v1/completions")
    return ErrorAnswer(404, "no such path: " + std::string(target));
  const json request = json::parse(request_body, nullptr, false);
  if (!request.is_object()) return ErrorAnswer(400, "the body is not a JSON object");
  const Question question = Read(chat, request, options);
  std::vector<std::string> pieces =
      Spread(options.answer, std::max<size_t>(static_cast<size_t>(options.tokens), question.tokens));
  pieces.resize(question.tokens);
  if (responses) return Responses(question, pieces, options);
  return question.stream ? Stream(question, pieces, options) : Whole(question, pieces, options);
}

}  // namespace assay::testing
