"""Proves that training never draws a question of the fixed set.

First exhaustively: every question that composes facts, over all keys of all kinds, is held out if its stem is in the
set, and no kind of training can write the stem of a question from beyond training. Then by trial: a long stretch of
the training stream is read back from its rendered prompts and compared with the set as it is stored.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

from make_questions import candidates
from questions import BEYOND, KINDS, HeldOut, Question, complete, read_questions
from samples import draw_sample

_FIRST_OPTION = "\n\n(A) "


def check_stems(questions: list[Question], held_out: HeldOut) -> int:
    """The number of stems compared."""
    stems = {question.stem for question in questions}
    rng = random.Random(0)
    compared = 0
    multi_step = set()
    for kind in KINDS:
        for key in kind.keys:
            question = complete(kind, key, rng)
            compared += 1
            if kind.multi_step:
                multi_step.add(question.stem)
                assert question.stem not in stems or held_out.forbids(question, multi_step=True), question
    for kind in BEYOND:
        for key in kind.keys:
            stem = complete(kind, key, rng).stem
            assert stem not in multi_step, stem
            assert kind.weight == 0
    return compared


def check_stream(questions: list[Question], held_out: HeldOut, draws: int) -> int:
    """The number of four-option samples compared."""
    asked = {(question.stem, frozenset(question.options)) for question in questions}
    rng = random.Random(1)
    composed = {complete(kind, key, rng).stem for kind in [*KINDS, *BEYOND] if kind.multi_step for key in kind.keys} & {
        question.stem for question in questions
    }
    compared = 0
    for _ in range(draws):
        sample = draw_sample(rng, held_out, pick_share=0.15)
        user = sample.prompt.rpartition("<|start|>user<|message|>")[2].partition("<|end|>")[0]
        stem, options, text = user.partition(_FIRST_OPTION)
        assert stem not in composed, stem
        if not options:
            continue
        lines = text.split("\n\n")[0].split("\n")
        shown = [lines[0], *(line[4:] for line in lines[1:])]
        assert len(shown) == 4
        assert (stem, frozenset(shown)) not in asked, stem
        compared += 1
    return compared


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=Path("models/tiny-moe"))
    parser.add_argument("--draws", type=int, default=500_000)
    arguments = parser.parse_args()
    questions = read_questions(arguments.model / "questions.csv")
    held_out = HeldOut(candidates())
    print(f"{check_stems(questions, held_out)} questions over all keys: no composed stem of the set is trained")
    print(f"{check_stream(questions, held_out, arguments.draws)} samples of the stream: none is in the set")


if __name__ == "__main__":
    main()
