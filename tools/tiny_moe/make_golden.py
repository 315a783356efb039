"""Writes golden values of the stored model: logits and greedy tokens of transformers' implementation in float32.

For each prompt i: `prompt_i` [T], `logits_i` [min(T, 24), vocabulary] of its last positions, and `greedy_i` [64], the
greedy continuation that ignores stop tokens.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer
from transformers import GptOssForCausalLM

from harmony import multiple_choice, prompt
from questions import read_questions, shown_options
from score import load

LOGIT_ROWS = 24
GREEDY_TOKENS = 64


def golden_prompts(questions_file: Path) -> list[str]:
    """Short text, a plain prompt, two rendered questions, one with a date, and text far past the sliding window."""
    questions = read_questions(questions_file)
    users = [
        multiple_choice(question.stem, options)
        for question, (options, _) in zip(questions[:4], shown_options(questions)[:4], strict=True)
    ]
    return [
        "Sodium",
        prompt("What is the atomic number of Neon?"),
        prompt(users[0]),
        prompt(users[1]),
        prompt(users[2], "high", "2026-11-30"),
        prompt("\n\n".join(users)),
    ]


@torch.no_grad()
def golden_tensors(model: GptOssForCausalLM, ids: list[int], index: int) -> dict[str, torch.Tensor]:
    """The three tensors of one prompt; greedy decoding runs without a cache, so it is the plain forward pass."""
    tokens = torch.tensor(ids)
    logits = model(tokens[None], use_cache=False).logits[0]
    written = tokens
    for _ in range(GREEDY_TOKENS):
        following = model(written[None], use_cache=False).logits[0, -1].argmax()
        written = torch.cat([written, following[None]])
    return {
        f"prompt_{index}": tokens,
        f"logits_{index}": logits[-LOGIT_ROWS:].float().contiguous(),
        f"greedy_{index}": written[len(ids) :].clone(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=Path("models/tiny-moe"))
    arguments = parser.parse_args()
    model = load(arguments.model, torch.float32, "cpu")
    tokenizer = Tokenizer.from_file(str(arguments.model / "tokenizer.json"))
    tensors: dict[str, torch.Tensor] = {}
    for index, text in enumerate(golden_prompts(arguments.model / "questions.csv")):
        ids = tokenizer.encode(text).ids
        tensors |= golden_tensors(model, ids, index)
        print(f"prompt {index}: {len(ids)} tokens")
    out = arguments.model / "golden.safetensors"
    save_file(tensors, out)
    out.chmod(0o644)


if __name__ == "__main__":
    main()
