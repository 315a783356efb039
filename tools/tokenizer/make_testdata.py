"""Writes tokenizer/testdata: two small tokenizers and what Hugging Face `tokenizers` makes of nasty strings.

Run with the PyPI package tokenizers 0.23:  python3 tools/tokenizer/make_testdata.py
"""

from __future__ import annotations

import json
import random
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

ROOT = Path(__file__).resolve().parents[2]
TESTDATA = ROOT / "tokenizer" / "testdata"
VOCABULARY = 640
STRINGS = 500
SEED = 20

# The pre-tokenizer of o200k_base.
O200K = "|".join(
    [
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)

HARMONY = "startoftext endoftext return constrain channel start end message call".split()

CORPUS = [
    "The quick brown fox jumps over the lazy dog; it's what they've said, and I'll say it's so.",
    "Zürich, naïve café, Ærøskøbing, Œuvre, ﬁnance, straße, İstanbul, ŁÓDŹ",
    "Быстрая коричневая лиса прыгает через ленивую собаку. Γρήγορη καφέ αλεπού.",
    "敏捷的棕色狐狸跳过了懒狗。素早い茶色の狐がのろまな犬を飛び越える。빠른 갈색 여우",
    "तेज भूरी लोमड़ी आलसी कुत्ते पर कूदती है। الثعلب البني السريع يقفز فوق الكلب الكسول",
    "def f(x):\r\n\treturn x ** 2  # 3.14159, 1,000,000\n\n    // path/to/file\n",
    "👍🏽 👨‍👩‍👧‍👦 🇨🇭 ∑∫√ ½ ² Ⅷ ㊿ a̐éö̲",
]


def _train(pre_tokenizer: pre_tokenizers.PreTokenizer, ignore_merges: bool) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE(ignore_merges=ignore_merges))
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    tokenizer.train_from_iterator([(ROOT / "LICENSE").read_text(encoding="utf-8"), *(CORPUS * 5)], trainer)
    return tokenizer


def _o200k_style() -> Tokenizer:
    split = pre_tokenizers.Split(Regex(O200K), behavior="isolated")
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer = _train(pre_tokenizers.Sequence([split, byte_level]), ignore_merges=True)
    tokenizer.add_special_tokens([AddedToken(f"<|{name}|>", special=True, normalized=False) for name in HARMONY])
    return tokenizer


def _gpt2_style() -> Tokenizer:
    """With added tokens that overlap: special and not, normalized and not, one the start of another."""
    tokenizer = _train(pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True), ignore_merges=False)
    tokenizer.add_special_tokens([AddedToken("<|endoftext|>", special=True, normalized=False)])
    tokenizer.add_tokens([AddedToken(text, normalized=True) for text in ("<tool", "<tool>", "é!", "ol><")])
    tokenizer.add_tokens([AddedToken(text, normalized=False) for text in (">>", "  ")])
    return tokenizer


WHITESPACE = [chr(c) for c in (9, 10, 11, 12, 13, 0x1C, 0x85, 0xA0, 0x180E, 0x2000, 0x200B, 0x2028, 0x3000, 0xFEFF)]
SUFFIXES = ["'s", "'S", "'\u017f", "'re", "'LL", "'Ve", "'m", "'T", "'d", "’s"]
MARKS = ["\u0301", "\u0308", "\u20dd", "\u0903", "\ufe0f", "\u200d", "🏽"]
NUMBERS = ["1", "23", "4567", "²", "½", "Ⅷ", "٣", "१२३४", "〇", "\U0001d7d9"]
LETTERS = ["a", "Z", "ǅ", "ʰ", "ß", "İ", "字", "あ", "ก", "ﬁ", "ꙮ", "\U00010400", "\U0001f130"]
WORDS = ["the", " License", "you", " terms", "work.", "HTTPServer", "camelCase", "//\r\n", "...\n/", "\u0378", "\ue000"]
BROKEN = ["<|end", "|>", "<|", "<tool", "<tool>", "ol><", ">>", "é!", "<|endoftext|>", "<|end|>", "<|start|>", "\0"]


def _nasty(rng: random.Random) -> str:
    pools = [WHITESPACE, [" ", "  ", "\n", "\r\n"], SUFFIXES, MARKS, NUMBERS, LETTERS, WORDS, BROKEN, ["A" * 9, "-" * 9]]
    pieces = [rng.choice(rng.choice(pools)) for _ in range(rng.randint(1, rng.choice([3, 6, 14])))]
    if rng.random() < 0.3:
        code = rng.choice([rng.randrange(0x80, 0xD800), rng.randrange(0xE000, 0x110000)])
        pieces.insert(rng.randrange(len(pieces)), chr(code))
    return "".join(pieces)


def _golden(tokenizer: Tokenizer, strings: list[str]) -> str:
    rows = []
    for text in strings:
        tokenizer.encode_special_tokens = False
        row: dict[str, object] = {"text": text, "ids": tokenizer.encode(text).ids}
        tokenizer.encode_special_tokens = True
        as_text = tokenizer.encode(text).ids
        if as_text != row["ids"]:
            row["ids_as_text"] = as_text
        rows.append(json.dumps(row, ensure_ascii=True, separators=(",", ":")))
    return "[\n" + ",\n".join(rows) + "\n]\n"


def _compact(tokenizer: Tokenizer, merges_as_text: bool) -> str:
    content = json.loads(tokenizer.to_str())
    if merges_as_text:  # as tokenizers before 0.20 wrote them
        content["model"]["merges"] = [" ".join(pair) for pair in content["model"]["merges"]]
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n"


def main() -> None:
    rng = random.Random(SEED)
    strings = sorted({_nasty(rng) for _ in range(STRINGS)}, key=lambda text: (len(text), text))
    for name, tokenizer in (("o200k_style", _o200k_style()), ("gpt2_style", _gpt2_style())):
        folder = TESTDATA / name
        folder.mkdir(parents=True, exist_ok=True)
        text = _compact(tokenizer, merges_as_text=name == "gpt2_style")
        (folder / "tokenizer.json").write_text(text, encoding="utf-8")
        (folder / "golden.json").write_text(_golden(Tokenizer.from_str(text), strings), encoding="utf-8")


if __name__ == "__main__":
    main()
