"""Scores the stored model on the fixed set with the implementation in transformers, greedily.

The experts are read from their stored MXFP4 form by transformers' own loader.
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter
from pathlib import Path

import torch
from tokenizers import Tokenizer
from transformers import GptOssForCausalLM, Mxfp4Config

from harmony import multiple_choice, prompt
from model import special_id
from questions import read_questions, shown_options

NEW_TOKENS = 96
BATCH = 224


def load(folder: Path, dtype: torch.dtype, device: str) -> GptOssForCausalLM:
    """The stored model with every weight in `dtype`, which both types hold exactly."""
    model = GptOssForCausalLM.from_pretrained(
        folder,
        quantization_config=Mxfp4Config(dequantize=True),
        attn_implementation="eager",
        experts_implementation="eager",
        dtype=dtype,
    )
    return model.to(device=device, dtype=dtype).eval()


@torch.no_grad()
def answer(model: GptOssForCausalLM, tokenizer: Tokenizer, prompts: list[str]) -> list[str]:
    """Greedy answers with their special tokens; prompts are padded on the left."""
    padding = special_id("<|endoftext|>")
    rows = [tokenizer.encode(text).ids for text in prompts]
    width = max(map(len, rows))
    inputs = torch.tensor([[padding] * (width - len(row)) + row for row in rows], device=model.device)
    mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in rows], device=model.device)
    written = model.generate(
        inputs,
        attention_mask=mask,
        max_new_tokens=NEW_TOKENS,
        do_sample=False,
        eos_token_id=special_id("<|return|>"),
        pad_token_id=padding,
    )
    texts = [tokenizer.decode(row[width:].tolist(), skip_special_tokens=False) for row in written]
    return [text.replace("<|endoftext|>", "") for text in texts]


def final_letter(text: str) -> str:
    """The letter after the last "Answer:" of the final message, or nothing."""
    final = text.rpartition("<|channel|>final<|message|>")[2].removesuffix("<|return|>")
    letter = final.rpartition("Answer:")[2].strip()
    return letter if letter in {"A", "B", "C", "D"} else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=Path("models/tiny-moe"))
    parser.add_argument("--dtype", choices=["float32", "bfloat16"], default="float32")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--answers", type=Path, help="CSV of the answers to write")
    arguments = parser.parse_args()
    model = load(arguments.model, getattr(torch, arguments.dtype), arguments.device)
    tokenizer = Tokenizer.from_file(str(arguments.model / "tokenizer.json"))
    questions = read_questions(arguments.model / "questions.csv")
    shown = shown_options(questions)
    prompts = [prompt(multiple_choice(q.stem, options)) for q, (options, _) in zip(questions, shown, strict=True)]
    texts = [
        text
        for start in range(0, len(prompts), BATCH)
        for text in answer(model, tokenizer, prompts[start : start + BATCH])
    ]
    right: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    rows = []
    unfinished = sum("<|return|>" not in text for text in texts)
    for index, (question, (_, letter), text) in enumerate(zip(questions, shown, texts, strict=True), start=1):
        good = final_letter(text) == letter
        for bucket in ("all", question.domain, question.difficulty):
            asked[bucket] += 1
            right[bucket] += good
        rows.append([f"recTM{index:05d}", letter, final_letter(text), int(good), text])
    for bucket in sorted(asked):
        share = 100 * right[bucket] / asked[bucket]
        print(f"{arguments.dtype} {bucket}: {right[bucket]} of {asked[bucket]} = {share:.1f} %")
    print(f"{arguments.dtype} answers without an end: {unfinished}")
    if arguments.answers:
        with arguments.answers.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["Record ID", "right", "answered", "score", "text"])
            writer.writerows(rows)


if __name__ == "__main__":
    main()
