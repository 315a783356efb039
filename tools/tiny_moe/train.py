"""Trains the model on one GPU and writes a checkpoint of float32 weights.

Three things make a model this small find the skill within minutes: the model is compiled as a whole at one fixed
shape; in the first part most samples only ask which option reads a given text; and the one token that names the option
weighs more in the loss than the rest of the answer. The last part runs with the experts rounded to MXFP4, so that the
stored model is the one that was trained.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import time
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, Dataset

from harmony import completion
from make_questions import candidates
from model import build, plain_state, special_id
from questions import HeldOut
from samples import draw_sample

SEED = 20261130
BATCH = 128
LENGTH = 216  # tokens; the few longer samples are drawn again
PEAK_RATE = 3e-3
WARMUP_STEPS = 300
BETAS = (0.9, 0.98)
FINAL_RATE_SHARE = 0.02
PICK_FIRST, PICK_FIRST_SHARE, PICK_LATER_SHARE = 0.35, 0.7, 0.15
ROUNDING_FROM = 0.65
LETTER_WEIGHT = 5.0
IGNORED = -100


class Batches(Dataset[tuple[torch.Tensor, torch.Tensor]]):
    """Batch number `step` of the stream, the same whichever worker makes it."""

    def __init__(self, model: Path, steps: int) -> None:
        self.steps = steps
        self.tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
        self.held_out = HeldOut(candidates())
        self.padding = special_id("<|endoftext|>")
        self.channel = special_id("<|channel|>")

    def __len__(self) -> int:
        return self.steps

    def __getitem__(self, step: int) -> tuple[torch.Tensor, torch.Tensor]:
        rng = random.Random(SEED * 1_000_003 + step)
        pick_share = PICK_FIRST_SHARE if step < PICK_FIRST * self.steps else PICK_LATER_SHARE
        inputs = torch.full((BATCH, LENGTH), self.padding)
        targets = torch.full((BATCH, LENGTH), IGNORED)
        row = 0
        while row < BATCH:
            sample = draw_sample(rng, self.held_out, pick_share)
            ids = self.tokenizer.encode(sample.prompt + sample.completion).ids
            if len(ids) > LENGTH:
                continue
            start = ids.index(self.channel)  # the first token of the completion
            inputs[row, : len(ids)] = torch.tensor(ids)
            targets[row, start : len(ids)] = inputs[row, start : len(ids)]
            row += 1
        return inputs, targets


def rate(step: int, steps: int) -> float:
    """Linear warm-up, then a cosine to a small share of the peak."""
    cosine = 0.5 * (1 + math.cos(math.pi * step / steps))
    return PEAK_RATE * min(1.0, (step + 1) / WARMUP_STEPS) * (FINAL_RATE_SHARE + (1 - FINAL_RATE_SHARE) * cosine)


def train(model_folder: Path, steps: int, workers: int, experts: str, weight_decay: float) -> dict[str, torch.Tensor]:
    """The float32 state after `steps` steps."""
    torch.manual_seed(SEED)
    data = Batches(model_folder, steps)
    option = data.tokenizer.encode(completion("That is option A.", "")).tokens.index("Ġoption")
    option_id = data.tokenizer.encode(completion("That is option A.", "")).ids[option]
    with torch.device("cuda"):
        model, switches = build(experts)
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=PEAK_RATE, betas=BETAS, weight_decay=weight_decay, fused=True)

    @torch.compile(dynamic=False)
    def losses(inputs: torch.Tensor, targets: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Weighted loss of the answers, and the share of right letters."""
        with torch.autocast("cuda", dtype=torch.bfloat16):
            logits = model(input_ids=inputs, use_cache=False).logits[:, :-1].float()
        target = targets[:, 1:]
        loss = cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=IGNORED, reduction="none")
        asked = target != IGNORED
        letter = asked & (inputs[:, :-1] == option_id) & (targets[:, :-1] != IGNORED)
        weight = asked.float() + (LETTER_WEIGHT - 1) * letter.float()
        right = ((logits.argmax(-1) == target) & letter).sum() / letter.sum()
        return (loss * weight.flatten()).sum() / weight.sum(), right

    loader = DataLoader(
        data, batch_size=None, sampler=range(steps), num_workers=workers, prefetch_factor=8, pin_memory=True
    )
    started = time.monotonic()
    for step, (inputs, targets) in enumerate(loader):
        if step == int(ROUNDING_FROM * steps):
            for switch in switches:
                switch.on.fill_(1.0)
        for group in optimizer.param_groups:
            group["lr"] = rate(step, steps)
        loss, right = losses(inputs.cuda(non_blocking=True), targets.cuda(non_blocking=True))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if step % 200 == 0 or step == steps - 1:
            report = f"loss {loss.item():.4f}, letters right {right.item():.3f}"
            print(f"step {step} at {time.monotonic() - started:.0f} s: {report}", flush=True)
    return plain_state(model)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=Path("models/tiny-moe"), help="folder of the tokenizer")
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--workers", type=int, default=14)
    parser.add_argument("--experts", default="grouped_mm", help="transformers' experts implementation")
    parser.add_argument("--weight-decay", type=float, default=0.1)
    parser.add_argument("--checkpoint", type=Path, required=True)
    arguments = parser.parse_args()
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    torch.set_float32_matmul_precision("high")
    state = train(arguments.model, arguments.steps, arguments.workers, arguments.experts, arguments.weight_decay)
    arguments.checkpoint.parent.mkdir(parents=True, exist_ok=True)
    torch.save(state, arguments.checkpoint)


if __name__ == "__main__":
    main()
