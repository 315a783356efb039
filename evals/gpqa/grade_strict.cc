#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/text.h"
#include "evals/gpqa/gpqa.h"
#include "evals/gpqa/pattern.h"

// A declaration is a sentence whose purpose is to name the letter. Every rule below finds such sentences; of
// all hits in the response the one that stands last decides. What could also be a word, a formula or a list
// of letters ("Answer: Carbon dioxide", "Answer: D2O", "Answer: A or B", "the answer is a wave") is no
// declaration.
namespace assay::evals {
namespace {

// Parts that the rules call by name, in PCRE2's extended syntax (blanks in the pattern mean nothing).
constexpr char kParts[] = R"((?x)(?(DEFINE)
  (?<mark> [\s*_`] )

  # What may stand between the words and the letter: emphasis, quotes, mathematics, boxes.
  (?<opening> (?: [\s*_`$"'“‘「『{]
                | \\[(\[,;:!]
                | \\ (?: f?boxed | fbox | text(?:bf|rm|it|sf|tt)? | math(?:rm|bf|it|sf|tt|bb)? | bold(?:symbol)?
                       | bf | rm | displaystyle | quad ) (?![A-Za-z])
                )*+ )

  (?<filler> (?: (?&mark)*
                 (?i: the | is | most | likely | therefore | thus | hence | clearly | indeed | simply | correct
                    | best | right | final | closest | answer | option | choice | letter ) \b
                 (?: (?&mark)* : )? ){0,6} )

  (?<is> (?&mark)* (?: [:=–—→] | -+>? | (?i: is|was|(?:would|should|must|will|has\ to)\ be ) \b ) (?&mark)* :? )

  # "A or B", "A, B", "A/B": more than one letter declares nothing.
  (?<several> [\s*_`$"'”’)\]}]*
              (?: (?: / | & | 、 | 和 | 或 | (?i:and|or) \b ) [\s*_`$"'“‘(\[{]* [A-D] (?![\p{L}\p{N}])
                | , [\s*_`$"'“‘(\[{]* [A-D] (?= [\s*_`$"'”’)\]}]* (?: $ | [.,;] | (?i:and|or) \b ) ) ) )

  # After a bare capital: no word, formula, unit or compound goes on from it, and no common noun follows it.
  (?<standing> (?! (?! [\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}] ) [\p{L}\p{N}\p{M}]
                 | _ [\p{L}\p{N}{] | [\^'’′+−⁺⁻(\[]
                 | [-–] (?![-–\s]) | \. \w
                 | \s* [=≈≃∼∝×→⇌⟶−] | \s* -+> | \s* [<>] [\s\d=] | \s [+·*] \s
                 | \s* \\ (?!quad) [A-Za-z]
                 | \h+ (?! (?: because|since|as|is|which|given|due|based|according|for|from|by|with|the ) \b )
                   \p{Ll}
                 | (?&several) ) )

  # After a bare small letter: the statement ends here.
  (?<ending> (?! \. \w ) (?= [*_`$"'”’}]* (?: \s*$ | \s*\z | [.;,:)\]] | \\[)\]] | </ ) ) (?! (?&several) ) )
)
)";

// LETTER is the letter where any form will do; CAPITAL leaves small bare letters out.
constexpr char kLetter[] = R"((?&opening) (?:
    [(\[] \s* [*_$]* (?<letter>[A-Da-d]) [*_$]* \s* [)\]] (?! (?&several) )
  | (?<letter>[A-D]) (?&standing)
  | (?<letter>[a-d]) (?&ending) ))";
constexpr char kCapital[] = R"((?&opening) (?:
    [(\[] \s* [*_$]* (?<letter>[A-Da-d]) [*_$]* \s* [)\]] (?! (?&several) )
  | (?<letter>[A-D]) (?&standing) ))";

struct Rule {
  std::string_view name;
  std::string_view regex;
};

constexpr std::array kRules = {
    // Answer: B · **Answer:** B · The answer is (b). · the final answer should be option B
    Rule{"answer is", R"((?m) (?<![\p{L}\p{N}]) (?i:answers?) (?![\p{L}\p{N}])
       (?: \s+ (?i: choice | option | letter | here | to\ (?:this|the)\ question ) \b )?
       (?&is) (?&filler) LETTER)"},
    // A line of its own: Answer B · **Answer** (B)
    Rule{
        "answer line",
        R"((?m) ^ [\s*_`\#>]* (?: (?i: so | thus | hence | therefore | the | my | final | correct ) \b ,? \s* )*
       (?i:answers?) (?&mark)+ LETTER [\s*_`$.)\]}]* $)"},
    // The correct choice is B. · Best option: (C)
    Rule{"correct choice is",
         R"((?m) \b (?i: correct | right | best | final | chosen | appropriate | my | the ) \s+
       (?i: choice | option | letter ) \b (?&is) (?&filler) LETTER)"},
    // Choice: C · Option: B
    Rule{"choice", R"((?m) \b (?i: choice | option ) (?&mark)* : (?&filler) LETTER)"},
    // Option B is correct. · (B) is the best answer.
    Rule{"option is correct", R"((?: \b (?i: option | choice | answer ) \s+ [*_(\[]* (?<letter>[A-D]) [)\]*_]*
         | [(\[] (?<letter>[A-D]) [)\]] [*_]*
         | [*_]{1,2} (?<letter>[A-D]) [*_]{1,2} )
       \s+ is \s+ (?: (?: therefore | thus | clearly | indeed ) ,? \s+ )? (?: the \s+ )? (?: most \s+ )?
       (?: correct | right | best | appropriate ) \b)"},
    // B is the correct answer.
    Rule{"letter is the answer",
         R"((?<![\p{L}\p{N}]) (?<letter>[A-D]) \s+ is \s+ the \s+ (?: correct | right | best ) \s+
       (?: answer | option | choice ) \b)"},
    // \boxed{B} · \boxed{\text{(B)}} · \boxed{B: some text}
    Rule{"boxed",
         R"(\\ f?box(?:ed)? \s* \{ (?&opening) (*SKIP) (?: (?i: option | choice ) \b )? (?&opening) (?:
         [(\[] \s* (?<letter>[A-Da-d]) \s* [)\]]
       | (?<letter>[A-D]) (?= \s* [*_$]* [}:.)\]] ) (?! \. \w ) ))"},
    // <answer>B</answer>
    Rule{"answer tag", R"((?m) < (?i: (?:final_?)? answer ) > (?&filler) LETTER)"},
    // Other languages: 答案：C · 正确答案是 C · Réponse : B
    Rule{"other language", R"((?m) (?: 答案 | 正确选项 | 正確選項 | 答え | 回答 | 解答 | 정답 | 답변 )
       (?&mark)* (?: (?: [:=] | 是 | 为 | 為 | 应为 | 應為 | は | 은 | 는 ) (?&mark)* :?
                     (?: (?&mark)* (?: 选项 | 選項 | 选 | 選 ) )?
                   | (?: 选择 | 選擇 | 选 | 選 ) ) LETTER)"},
    Rule{"chosen, in Chinese",
         R"((?m) (?: 故 | 应 | 應 | 因此 | 所以 ) (?: 选择 | 選擇 | 选 | 選 ) (?: 项 | 項 )? :? CAPITAL)"},
    Rule{"other language, colon", R"((?m) (?<![\p{L}\p{N}])
       (?i: réponse | respuesta | antwort | resposta | risposta | ответ | odpowiedź | svar | jawaban | cevap )
       (?&mark)* : LETTER)"},
    // Nothing but the letter, as the whole response or as its last line.
    Rule{"only a letter",
         R"(\A (?&opening) (?: [(\[] \s* [*_$]* (?<letter>[A-Da-d]) [*_$]* \s* [)\]] | (?<letter>[A-Da-d]) )
       [\s*_`$"'”’.)\]}]* (?: \\[)\]] )? \s* \z)"},
    Rule{"last line",
         R"(\n (?&opening) (?: [(\[] \s* [*_$]* (?<letter>[A-D]) [*_$]* \s* [)\]] | (?<letter>[A-D]) )
       [\s*_`$"'”’.)\]}]* (?: \\[)\]] )? \s* \z)"},
};

constexpr std::array kWidths = {
    std::pair{"Ａ", "A"}, std::pair{"Ｂ", "B"}, std::pair{"Ｃ", "C"},     std::pair{"Ｄ", "D"},
    std::pair{"ａ", "a"}, std::pair{"ｂ", "b"}, std::pair{"ｃ", "c"},     std::pair{"ｄ", "d"},
    std::pair{"：", ":"}, std::pair{"（", "("}, std::pair{"）", ")"},     std::pair{"【", "["},
    std::pair{"】", "]"}, std::pair{"＝", "="}, std::pair{"．", "."},     std::pair{"。", "."},
    std::pair{"，", ","}, std::pair{"；", ";"}, std::pair{"\u00a0", " "},
};

std::vector<Pattern> CompileRules() {
  std::vector<Pattern> rules;
  for (const Rule& rule : kRules) {
    std::string regex = ReplaceAll(std::string(rule.regex), "LETTER", kLetter);
    rules.emplace_back(kParts + ReplaceAll(std::move(regex), "CAPITAL", kCapital));
  }
  return rules;
}

// What `opening` and \s take without end. Rules begin anew at every place of such a run and read to its end,
// so an answer that ran away into a million blank lines would cost the square of it. No rule counts: the two
// ends of a run say what all of it says.
std::string WithoutLongRuns(std::string_view text) {
  constexpr std::string_view kRunOf = " \t\r\n\v\f*_`$\"'{";
  constexpr size_t kEnd = 128;
  std::string kept;
  while (!text.empty()) {
    const size_t begin = std::min(text.find_first_of(kRunOf), text.size());
    const size_t end = std::min(text.find_first_not_of(kRunOf, begin), text.size());
    kept.append(text.substr(0, begin));
    const std::string_view run = text.substr(begin, end - begin);
    if (run.size() <= 2 * kEnd) {
      kept.append(run);
    } else {
      const std::string_view left_out = run.substr(kEnd, run.size() - 2 * kEnd);
      kept.append(run.substr(0, kEnd));
      if (left_out.find('\n') != std::string_view::npos) kept += '\n';  // lines end there
      kept.append(run.substr(run.size() - kEnd));
    }
    text.remove_prefix(end);
  }
  return kept;
}

}  // namespace

Grade GradeStrict(std::string_view response) {
  static const std::vector<Pattern> rules = CompileRules();
  std::string text = WithoutLongRuns(response);
  for (const auto& [wide, narrow] : kWidths) text = ReplaceAll(std::move(text), wide, narrow);

  Grade grade;
  size_t last = 0;
  for (size_t i = 0; i < rules.size(); ++i) {
    rules[i].ForEach(text, [&](const PatternHit& hit) {
      if (!grade.letter.empty() && hit.letter_at < last) return;
      last = hit.letter_at;
      grade = {std::string(1, static_cast<char>(hit.letter[0] & ~0x20)), kRules[i].name};
    });
  }
  return grade;
}

}  // namespace assay::evals
