"""Prints the digests in tokenizer/equality_test.cc: what Hugging Face `tokenizers` makes of 20,000 random strings.

Run with the PyPI package tokenizers 0.23:  python3 tools/tokenizer/make_digests.py
With a folder it prints the digest of the tokenizer.json there. The strings are made as in the test.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

from tokenizers import Tokenizer

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ["tokenizer/testdata/o200k_style", "tokenizer/testdata/gpt2_style", "models/tiny-moe"]
STRINGS = 20_000
BLANKS = [" ", "\n", "\r\n", "\t", "  ", "\u00a0", "\u2028", "\u3000"]
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
WORDS = ["'s", "'LL", "<|end|>", "<|start", "the", " License", "\u00e9", "o\u0308\u0332", FAMILY, "//\n"]


class StringMaker:
    """A linear congruential generator (Knuth's MMIX), its upper half."""

    def __init__(self) -> None:
        self._state = 20

    def below(self, bound: int) -> int:
        self._state = (self._state * 6364136223846793005 + 1442695040888963407) % 2**64
        return ((self._state >> 33) % 2**32) % bound

    def next(self) -> str:
        return "".join(self._piece() for _ in range(1 + self.below(24)))

    def _piece(self) -> str:
        kind = self.below(8)
        if kind == 0:
            return chr(0x20 + self.below(0x5F))
        if kind == 1:
            return _character(self.below(0x10000))
        if kind == 2:
            return _character(self.below(0x110000))
        if kind == 3:
            return "".join(chr(ord("a") + self.below(26)) for _ in range(1 + self.below(8)))
        if kind == 4:
            return "".join(chr(ord("0") + self.below(10)) for _ in range(1 + self.below(5)))
        if kind == 5:
            return BLANKS[self.below(len(BLANKS))]
        if kind == 6:
            return WORDS[self.below(len(WORDS))]
        return chr(ord("A") + self.below(26))


def _character(code: int) -> str:
    return " " if 0xD800 <= code < 0xE000 else chr(code)


def digest(folder: Path) -> str:
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    strings = StringMaker()
    total = hashlib.sha256()
    for _ in range(STRINGS):
        ids = tokenizer.encode(strings.next(), add_special_tokens=False).ids
        total.update(("".join(f"{token} " for token in ids) + "\n").encode())
    return total.hexdigest()


if __name__ == "__main__":
    for name in sys.argv[1:] or FOLDERS:
        print(name, digest(ROOT / name))
