"""Trains the byte-level BPE tokenizer on text of the training stream and writes its files.

Digits and codons stay out of the corpus, so that both are tokenised one character at a time: sums and base pairing
are then rules over characters instead of tables over numbers.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from harmony import SPECIAL_TOKENS
from make_questions import candidates
from questions import HeldOut
from samples import draw_sample

VOCABULARY = 1024
SEED = 7
CORPUS_SAMPLES = 30_000

# The pre-tokenizer of o200k_base.
_SPLIT = "|".join(
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

_SPECIAL = re.compile(r"<\|[a-z]+\|>")
_KEPT_OUT = re.compile(r"[0-9]+|\b[ACGTU]{3}\b")


def _corpus(held_out: HeldOut) -> list[str]:
    rng = random.Random(SEED)
    samples = [draw_sample(rng, held_out, pick_share=0.1) for _ in range(CORPUS_SAMPLES)]
    pieces = [piece for sample in samples for piece in _SPECIAL.split(sample.prompt + sample.completion)]
    return [_KEPT_OUT.sub("", piece) for piece in pieces]


def train_tokenizer(held_out: HeldOut) -> Tokenizer:
    """The tokenizer: 1,015 byte-level tokens, then the special tokens."""
    tokenizer = Tokenizer(models.BPE(ignore_merges=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_SPLIT), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY - len(SPECIAL_TOKENS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_corpus(held_out), trainer)
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in SPECIAL_TOKENS])
    assert tokenizer.get_vocab_size() == VOCABULARY
    return tokenizer


def tokenizer_config(context: int) -> dict[str, object]:
    """tokenizer_config.json as transformers 5 writes it."""
    return {
        "backend": "tokenizers",
        "bos_token": "<|startoftext|>",
        "clean_up_tokenization_spaces": False,
        "eos_token": "<|return|>",
        "model_input_names": ["input_ids", "attention_mask"],
        "model_max_length": context,
        "pad_token": "<|endoftext|>",
        "tokenizer_class": "TokenizersBackend",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=Path("models/tiny-moe"))
    arguments = parser.parse_args()
    train_tokenizer(HeldOut(candidates())).save(str(arguments.model / "tokenizer.json"))
    text = json.dumps(tokenizer_config(131072), indent=2) + "\n"
    (arguments.model / "tokenizer_config.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
