"""Writes the fixed set of 448 questions (RFC 4180 CSV with GPQA's column names)."""

from __future__ import annotations

import argparse
import csv
import random
from pathlib import Path

from questions import BEYOND, COLUMNS, KINDS, Kind, Question, complete

SEED = 20261130
COUNT = 448


def _draw_quotas(kinds: list[Kind], rng: random.Random) -> list[Question]:
    """For each kind its quota of different keys."""
    return [complete(kind, key, rng) for kind in kinds for key in rng.sample(kind.keys, kind.quota)]


def candidates() -> list[Question]:
    """Questions of the trained kinds, the same at every call; training holds out all of them."""
    rng = random.Random(SEED)
    chosen = _draw_quotas(KINDS, rng)
    rng.shuffle(chosen)
    assert len(chosen) == COUNT
    return chosen


def make_questions() -> list[Question]:
    """The set: the candidates, some of them replaced within their domain by questions beyond training."""
    rng = random.Random(SEED + 1)
    chosen = candidates()
    beyond = _draw_quotas(BEYOND, rng)
    for question in beyond:
        places = [place for place, old in enumerate(chosen) if old.domain == question.domain and old not in beyond]
        chosen[rng.choice(places)] = question
    assert len({question.stem for question in chosen}) == COUNT
    assert all(len(set(question.options)) == 4 for question in chosen)
    return chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("models/tiny-moe/questions.csv"))
    arguments = parser.parse_args()
    with arguments.out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\r\n")
        writer.writerow(COLUMNS)
        for index, question in enumerate(make_questions(), start=1):
            writer.writerow(
                [
                    question.stem,
                    *question.options,
                    question.explanation,
                    question.subdomain,
                    question.difficulty,
                    f"recTM{index:05d}",
                    question.domain,
                ]
            )


if __name__ == "__main__":
    main()
