#include "tokenizer/tokenizer.h"

#include <map>

#include "base/hash.h"
#include "base/text.h"
#include "tokenizer/added_tokens.h"
#include "tokenizer/bpe.h"
#include "tokenizer/consistency.h"
#include "tokenizer/definition.h"
#include "tokenizer/splitter.h"
#include "tokenizer/tokenizer_file.h"
#include "tokenizer/utf8.h"

namespace assay::tokenizer {

struct Tokenizer::Impl {
  explicit Impl(Bpe built) : bpe(std::move(built)) {}

  std::string hash;
  std::string class_name;
  Bpe bpe;
  std::vector<Splitter> splitters;
  AddedTokenFinder finder;
  std::map<int32_t, std::string> added;  // id -> text
  std::vector<bool> special;             // by id
  std::map<std::string, int32_t, std::less<>> special_ids;

  // Splits by the pre-tokenizers from `stage` on and encodes what is left whole.
  void EncodePlain(std::string_view text, size_t stage, BpeWorkspace* workspace,
                   std::vector<int32_t>* ids) const {
    if (stage == splitters.size()) return bpe.Encode(text, workspace, ids);
    std::vector<std::string_view> pieces;
    splitters[stage].Split(text, &pieces);
    for (const std::string_view piece : pieces) EncodePlain(piece, stage + 1, workspace, ids);
  }
};

namespace {

constexpr const char* kRemedy =
    "pass a folder with a usable byte-level BPE tokenizer.json with --tokenizer FOLDER";

// tokenizer_class, or "" when there is no tokenizer_config.json or it names none.
Result<std::string> ReadClassName(const Path& path) {
  if (!std::filesystem::exists(path)) return std::string();
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  const nlohmann::json config = nlohmann::json::parse(text, nullptr, false);
  if (!config.is_object())
    return Fail(ErrorKind::kUsage, "{}: not a JSON object, perhaps cut off", path.string());
  const auto name = config.find("tokenizer_class");
  return name != config.end() && name->is_string() ? name->get<std::string>() : std::string();
}

}  // namespace

Tokenizer::Tokenizer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Result<std::unique_ptr<Tokenizer::Impl>> Tokenizer::Parse(std::string_view text) {
  ASSIGN_OR_RETURN(const TokenizerFile file, ParseTokenizerFile(text));
  ASSIGN_OR_RETURN(Definition definition, ReadDefinition(file.rest));
  ASSIGN_OR_RETURN(Bpe bpe, Bpe::Build(file, definition.ignore_merges));
  RETURN_IF_ERROR(CheckConsistency(file, definition));
  auto impl = std::make_unique<Impl>(std::move(bpe));
  for (const std::string& pattern : definition.patterns) {
    Result<Splitter> splitter = Splitter::Compile(pattern);
    if (!splitter) return FailWithin("pre_tokenizer", std::move(splitter).error());
    impl->splitters.push_back(std::move(*splitter));
  }
  impl->special.resize(impl->bpe.token_bytes().size());
  for (const AddedToken& token : definition.added_tokens) {
    impl->added.emplace(token.id, token.content);
    if (token.id >= static_cast<int32_t>(impl->special.size())) impl->special.resize(token.id + 1);
    if (!token.special) continue;
    impl->special[token.id] = true;
    impl->special_ids.emplace(token.content, token.id);
    impl->bpe.Withhold(token.id);
  }
  impl->finder = AddedTokenFinder(std::move(definition.added_tokens));
  return impl;
}

Result<Tokenizer> Tokenizer::Load(const Path& folder) {
  const Path file = folder / "tokenizer.json";
  if (!std::filesystem::is_directory(folder)) {
    return Fail(ErrorKind::kUsage, "{}: no such folder; {}", folder.string(), kRemedy);
  }
  ASSIGN_OR_RETURN(std::string class_name, ReadClassName(folder / "tokenizer_config.json"));
  const std::string named = class_name.empty()
                                ? ""
                                : fmt::format(
                                      " (tokenizer_config.json names the class {}, which is no help: only "
                                      "tokenizer.json is read)",
                                      class_name);
  if (!std::filesystem::exists(file)) {
    return Fail(ErrorKind::kUsage, "{}: there is no such file{}; {}", file.string(), named, kRemedy);
  }
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  Result<std::unique_ptr<Impl>> impl = Parse(text);
  if (!impl) {
    return Fail(ErrorKind::kUsage, "{}: {}{}; {}", file.string(), impl.error().message, named, kRemedy);
  }
  (*impl)->hash = Sha256(text);
  (*impl)->class_name = std::move(class_name);
  return Tokenizer(std::move(*impl));
}

std::vector<int32_t> Tokenizer::Encode(std::string_view text, Specials specials) const {
  std::string repaired;
  if (!IsValidUtf8(text)) {
    repaired = RepairUtf8(text);
    text = repaired;
  }
  std::vector<int32_t> ids;
  BpeWorkspace workspace;
  for (const Span& span : impl_->finder.Split(text, specials == Specials::kAsText)) {
    if (span.id >= 0) {
      ids.push_back(span.id);
    } else {
      impl_->EncodePlain(span.text, 0, &workspace, &ids);
    }
  }
  return ids;
}

std::string Tokenizer::Decode(std::span<const int32_t> ids, bool skip_specials) const {
  std::string bytes;
  const std::vector<std::string>& words = impl_->bpe.token_bytes();
  for (const int32_t id : ids) {
    if (id < 0 || (skip_specials && IsSpecial(id))) continue;
    if (const auto added = impl_->added.find(id); added != impl_->added.end()) {
      bytes += added->second;
    } else if (id < static_cast<int32_t>(words.size())) {
      bytes += words[id];
    }
  }
  return bytes;
}

std::optional<int32_t> Tokenizer::SpecialId(std::string_view text) const {
  const auto special = impl_->special_ids.find(text);
  return special == impl_->special_ids.end() ? std::nullopt : std::optional(special->second);
}

bool Tokenizer::IsSpecial(int32_t id) const {
  return id >= 0 && id < Size() && impl_->special[static_cast<size_t>(id)];
}

int32_t Tokenizer::Size() const {
  return static_cast<int32_t>(impl_->special.size());
}

const std::string& Tokenizer::Hash() const {
  return impl_->hash;
}

const std::string& Tokenizer::ClassName() const {
  return impl_->class_name;
}

}  // namespace assay::tokenizer
