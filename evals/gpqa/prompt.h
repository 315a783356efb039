#pragma once

#include <array>
#include <string>
#include <vector>

#include "base/result.h"
#include "evals/gpqa/gpqa.h"

namespace assay::evals {

// The user message with {question}, {A}, {B}, {C} and {D} in it; {{ and }} stand for braces.
struct PromptTemplate {
  std::string name;  // as records have it: "gpt-oss", or "mine.txt sha256:0123456789ab"
  std::string text;
};

// gpt-oss, simple-evals, lm-eval-cot
const std::vector<PromptTemplate>& KnownPrompts();
bool IsKnownPrompt(const std::string& name);

// One of the known, or a file: blanks at its ends are dropped, every placeholder must be there, and others
// are errors with their line.
Result<PromptTemplate> LoadPrompt(const std::string& name_or_file);

// Values go in as they are, byte for byte: braces, brackets and blanks in them are nothing special.
std::string Render(const PromptTemplate& prompt, const Question& question,
                   const std::array<int, 4>& permutation);

}  // namespace assay::evals
