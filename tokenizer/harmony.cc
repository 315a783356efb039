#include "tokenizer/harmony.h"

#include <array>

#include "base/text.h"

namespace assay::tokenizer {
namespace {

std::string SystemText(const HarmonyOptions& options) {
  std::string text =
      "You are ChatGPT, a large language model trained by OpenAI.\n"
      "Knowledge cutoff: 2024-06";
  if (!options.current_date.empty()) text += "\nCurrent date: " + options.current_date;
  text += "\n\nReasoning: " + options.reasoning_effort;
  text += "\n\n# Valid channels: analysis, commentary, final. Channel must be included for every message.";
  if (!options.tools.empty()) {
    text += "\nCalls to these tools must go to the commentary channel: 'functions'.";
  }
  return text;
}

class Writer {
 public:
  Writer(const Tokenizer& tokenizer, const HarmonyTokens& tokens) : tokenizer_(tokenizer), tokens_(tokens) {}

  // Whatever a user wrote is text, even where it spells a control token.
  void Text(std::string_view text) {
    const std::vector<int32_t> ids = tokenizer_.Encode(text, Tokenizer::Specials::kAsText);
    ids_.insert(ids_.end(), ids.begin(), ids.end());
  }

  // <|start|>author[<|channel|>channel]<|message|>content<|end|>
  void Message(std::string_view author, std::string_view channel, std::string_view content) {
    Write(author, channel, content, tokens_.end);
  }
  // <|start|>author to=functions.x<|channel|>commentary json<|message|>arguments<|call|>
  void Call(const std::string& author, const std::string& function, std::string_view arguments) {
    Write(author + " to=functions." + function, "commentary json", arguments, tokens_.call);
  }

  std::vector<int32_t> Finish() && {
    ids_.push_back(tokens_.start);
    Text("assistant");
    return std::move(ids_);
  }

 private:
  void Write(std::string_view author, std::string_view channel, std::string_view content, int32_t end) {
    ids_.push_back(tokens_.start);
    Text(author);
    if (!channel.empty()) {
      ids_.push_back(tokens_.channel);
      Text(channel);
    }
    ids_.push_back(tokens_.message);
    Text(content);
    ids_.push_back(end);
  }

  const Tokenizer& tokenizer_;
  const HarmonyTokens& tokens_;
  std::vector<int32_t> ids_;
};

std::string AuthorOf(const HarmonyMessage& message) {
  return message.name.empty() ? message.role : message.role + ":" + message.name;
}

// A tool speaks under its own name, to the assistant: "functions.weather to=assistant".
std::string ToolAuthor(const std::string& name) {
  const bool qualified = name.find('.') != std::string::npos;
  return (name.empty() ? "tool" : qualified ? name : "functions." + name) + " to=assistant";
}

bool IsFinal(const HarmonyMessage& message) {
  return message.role == "assistant" && message.function.empty() &&
         (message.channel.empty() || message.channel == "final");
}

// Index of the last final answer, or 0: reasoning before it is dropped.
size_t LastFinal(std::span<const HarmonyMessage> messages) {
  for (size_t i = messages.size(); i > 0; --i) {
    if (IsFinal(messages[i - 1])) return i - 1;
  }
  return 0;
}

bool IsInstruction(const HarmonyMessage& message) {
  return message.role == "system" || message.role == "developer";
}

std::string InstructionText(const HarmonyMessage& message) {
  return "# Instructions\n\n" + message.content;
}

void Render(const HarmonyMessage& message, Writer* writer) {
  if (IsInstruction(message)) {
    writer->Message("developer", "", InstructionText(message));
  } else if (!message.function.empty()) {
    writer->Call(AuthorOf(message), message.function, message.content);
  } else if (message.role == "assistant") {
    writer->Message(AuthorOf(message), message.channel.empty() ? "final" : message.channel, message.content);
  } else if (message.role == "tool") {
    writer->Message(ToolAuthor(message.name), "commentary", message.content);
  } else {
    writer->Message(AuthorOf(message), "", message.content);
  }
}

}  // namespace

Result<HarmonyTokens> FindHarmonyTokens(const Tokenizer& tokenizer) {
  HarmonyTokens tokens{};
  const std::array<std::pair<const char*, int32_t*>, 8> wanted = {{{"<|start|>", &tokens.start},
                                                                   {"<|end|>", &tokens.end},
                                                                   {"<|message|>", &tokens.message},
                                                                   {"<|channel|>", &tokens.channel},
                                                                   {"<|constrain|>", &tokens.constrain},
                                                                   {"<|call|>", &tokens.call},
                                                                   {"<|return|>", &tokens.return_},
                                                                   {"<|endoftext|>", &tokens.end_of_text}}};
  std::vector<std::string> missing;
  for (const auto& [text, id] : wanted) {
    const std::optional<int32_t> found = tokenizer.SpecialId(text);
    if (found) {
      *id = *found;
    } else {
      missing.emplace_back(text);
    }
  }
  if (missing.empty()) return tokens;
  return Fail(
      ErrorKind::kUsage,
      "the tokenizer has no special token {}: the harmony chat format needs it; pass a tokenizer made for "
      "gpt-oss with --tokenizer FOLDER",
      Join(missing, ", "));
}

std::vector<int32_t> RenderHarmony(const Tokenizer& tokenizer, const HarmonyTokens& tokens,
                                   std::span<const HarmonyMessage> messages, const HarmonyOptions& options) {
  Writer writer(tokenizer, tokens);
  writer.Message("system", "", SystemText(options));
  if (!options.tools.empty()) {
    std::string text = HarmonyToolSection(options.tools);
    if (!messages.empty() && IsInstruction(messages.front())) {
      text = InstructionText(messages.front()) + "\n\n" + text;
      messages = messages.subspan(1);
    }
    writer.Message("developer", "", text);
  }
  const size_t last_final = LastFinal(messages);
  for (size_t i = 0; i < messages.size(); ++i) {
    const bool stale = i < last_final && messages[i].role == "assistant" && messages[i].channel == "analysis";
    if (!stale) Render(messages[i], &writer);
  }
  return std::move(writer).Finish();
}

}  // namespace assay::tokenizer
