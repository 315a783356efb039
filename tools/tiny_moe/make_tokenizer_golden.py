"""Writes strings and the ids the `tokenizers` package gives them, for tests of other tokenizers."""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path

from tokenizers import Tokenizer

from harmony import SPECIAL_TOKENS, completion, multiple_choice, prompt
from questions import read_questions, shown_options

SEED = 11

_TEXTS = [
    "",
    "a",
    " ",
    "Hello",
    "hello world",
    " leading space",
    "trailing space ",
    "two  spaces",
    "three   spaces   between   words",
    "tabs\tand\t\ttabs",
    "line\nbreak",
    "two\n\nbreaks",
    "windows\r\nbreak\r\n",
    "space before break \n next",
    "   \n   indented",
    "\n",
    "\n\n\n",
    " \n \n ",
    "\r\r\n\n",
    "  \t \n\t x",
    "x \t\n",
    "ends in many spaces      ",
    "\u00a0no-break\u00a0space",
    "em\u2003space and thin\u2009space",
    "line\u2028separator and\u2029paragraph",
    "next\u0085line",
    "ideographic\u3000space",
    "zero\u200bwidth and\ufeffbom",
    "vertical\x0btab and form\x0cfeed",
    "null\x00byte and \x1b[0m escape",
    "I'm you're he'll we've they'd it's don't",
    "I'M YOU'RE HE'LL WE'VE THEY'D IT'S DON'T",
    "I\u2019m curly\u2019s apostrophe",
    "'s alone 's and 'quoted' words",
    "x's1 'll 're'm",
    "rock'n'roll o'clock 'tis",
    "it'S We'Ll THEY'rE",
    "'\u017f long s after an apostrophe: it'\u017f",
    "1",
    "12",
    "123",
    "1234",
    "1234567890",
    "3.14159 and 6.022e23",
    "1,000,000.00",
    "2024-06-30",
    "x1y22z333w4444",
    "\u0663\u0664\u0665\u0666 Arabic-Indic digits",
    "\u2167 Roman numeral, \u00bd half, \u00b2 squared, \u2460 circled",
    "10^-34 J s",
    "-5 + -7 = -12",
    "CamelCaseWords and snake_case_words and kebab-case",
    "HTTPServer XMLHttpRequest iPhone McDonald",
    "ALLCAPS lowercase MiXeD",
    "ABCdef ABC Def aBc",
    "...!!! ??? -- --- ***",
    "a.b.c. (x) [y] {z} <w>",
    "path/to/file.txt //comment\n/next",
    "end!\n\n/slash after break",
    "http://example.org/a?b=c&d=e#f",
    "user@example.org",
    "$100 50% #tag @name ~tilde `tick` ^caret |pipe| \\back",
    "\"double\" 'single' \u201ccurly\u201d \u00abguillemets\u00bb",
    "for (int i = 0; i < n; ++i) { sum += a[i]; }",
    "def f(x):\n    return x ** 2\n\n\tprint(f(3))\n",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "# Heading\n\n* item\n* **bold** item\n",
    "caf\u00e9 na\u00efve \u00fcber Stra\u00dfe",
    "cafe\u0301 with a combining accent",
    "\u0301starts with a combining accent",
    "\u0130stanbul \u0131 dotless",
    "\u01c5 titlecase letter, \u02b0 modifier letter",
    "\u00aa feminine \u00ba masculine",
    "\u03a9 ohm \u2126 ohm sign \u00b5 micro \u03bc mu",
    "\u0395\u03bb\u03bb\u03b7\u03bd\u03b9\u03ba\u03ac \u03ba\u03b5\u03af\u03bc\u03b5\u03bd\u03bf",
    "\u041f\u0440\u0438\u0432\u0435\u0442, \u043c\u0438\u0440! \u041f\u0420\u0418\u0412\u0415\u0422",
    "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd",
    "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645",
    "\u0928\u092e\u0938\u094d\u0924\u0947 \u0926\u0941\u0928\u093f\u092f\u093e",
    "\u4f60\u597d\uff0c\u4e16\u754c\u3002",
    "\u3053\u3093\u306b\u3061\u306f\u30c6\u30b9\u30c8",
    "\uc548\ub155\ud558\uc138\uc694 \uc138\uacc4",
    "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35\u0e0a\u0e32\u0e27\u0e42\u0e25\u0e01",
    "mixed\u4e2d\u6587and English123\u6570\u5b57",
    "emoji \U0001f600\U0001f680 and \u2764\ufe0f",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466 family",
    "\U0001f44d\U0001f3fd skin tone, \U0001f1ee\U0001f1f8 flag",
    "\U0001d4d7\U0001d4ee\U0001d4f5\U0001d4f5\U0001d4f8 mathematical letters \U0001d7d8",
    "\U00010400\U00010428 Deseret, \U0001f170 squared letter",
    "\ufffd replacement, \ufffe noncharacter, \ue000 private use",
    "\u0378 unassigned, \u00ad soft hyphen",
    "\u2603\u2604\u2605 \u266b \u2211 \u222b \u221e \u2192 \u21d2",
    "H\u2082O and CO\u2082 and x\u207b\u00b9",
    "\u00b0C \u00b1 5 \u00d7 10 \u00f7 2",
    "a\u0300\u0301\u0302b stacked marks",
    "\u20ac5 \u00a36 \u00a57 \u20b98",
    "word\u2014dash\u2013dash\u2026ellipsis",
    "<|end|>",
    "<|start|>assistant<|channel|>analysis<|message|>",
    "<|channel|>analysis<|message|>The codon AUG encodes Methionine.<|end|>",
    "text<|return|>text <|call|> <|constrain|>json",
    "<|startoftext|><|endoftext|>",
    " <|end|> ",
    "\n<|start|>\n",
    "<|end|><|end|>",
    "<|end|",
    "<|end |>",
    "<| end|>",
    "<|END|>",
    "<|unknown|>",
    "<<|end|>>",
    "<|<|end|>|>",
    "word<|end|>'s",
    "  <|message|>  two spaces",
    "Na<|end|>trium",
    "Sodium",
    " Sodium",
    "sodium",
    "Methionine AUG GCU UAA",
    "The element Sodium has atomic number 11.",
    "kg m^2 s^-3 A^-2",
    "3'-TAC-5'",
    "Answer: B",
    "Answer:B",
    "(A) Helium\n(B) Neon",
]


def golden_texts(questions_file: Path) -> list[str]:
    """Edge cases, rendered questions, and random strings over code points that are hard on a tokenizer."""
    questions = read_questions(questions_file)
    texts = list(_TEXTS) + SPECIAL_TOKENS
    for question, (options, letter) in list(zip(questions, shown_options(questions), strict=True))[:20]:
        texts.append(prompt(multiple_choice(question.stem, options)))
        texts.append(completion(f"{question.explanation} That is option {letter}.", f"Answer: {letter}"))
    texts.append(prompt("What is the atomic number of Neon?", "high", "2026-11-30"))
    rng = random.Random(SEED)
    alphabet = "aAbBzZ019 \t\n\r'sStTdDlLmM./-!_\u00e9\u00df\u03a9\u0416\u4e2d\u3042\u0301\u00a0\u2028\u00b2\U0001f600"
    for length in range(1, 31):
        texts.append("".join(rng.choices(alphabet, k=2 * length)))
    return texts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=Path("models/tiny-moe"))
    arguments = parser.parse_args()
    tokenizer = Tokenizer.from_file(str(arguments.model / "tokenizer.json"))
    cases = []
    for text in golden_texts(arguments.model / "questions.csv"):
        ids = tokenizer.encode(text).ids
        assert tokenizer.decode(ids, skip_special_tokens=False) == text, text
        cases.append({"text": text, "ids": ids})
    lines = ",\n".join(json.dumps(case) for case in cases)
    (arguments.model / "tokenizer_golden.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
