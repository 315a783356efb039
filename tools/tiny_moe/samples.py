"""The training stream: questions of every kind rendered as prompt and completion, never one of the fixed set."""

from __future__ import annotations

import random
from dataclasses import dataclass

from harmony import completion, multiple_choice, prompt
from questions import HeldOut, draw

PLAIN_SHARE = 0.04  # questions without options, answered with the fact


@dataclass(frozen=True)
class Sample:
    """One conversation; loss is taken on the completion only."""

    stem: str
    options: tuple[str, ...]
    prompt: str
    completion: str


def _system(rng: random.Random) -> tuple[str, str | None]:
    """A reasoning level and, in half of the samples, a date."""
    reasoning = rng.choices(["low", "medium", "high"], [0.8, 0.1, 0.1])[0]
    if rng.random() < 0.5:
        return reasoning, None
    return reasoning, f"{rng.randint(2023, 2029)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"


def draw_sample(rng: random.Random, held_out: HeldOut, pick_share: float) -> Sample:
    """A sample; `pick_share` of them only ask which option reads a given text.

    Picking the letter of an option is a skill of its own that the model finds late and suddenly; asking for it alone
    brings that forward.
    """
    reasoning, date = _system(rng)
    if rng.random() < PLAIN_SHARE:
        question = draw(rng, held_out, single_fact_only=True)
        answer = completion(question.explanation, question.options[0])
        return Sample(question.stem, (), prompt(question.stem, reasoning, date), answer)
    question = draw(rng, held_out)
    options = list(question.options)
    rng.shuffle(options)
    letter = "ABCD"[options.index(question.options[0])]
    stem, explanation = question.stem, question.explanation
    if rng.random() < pick_share:
        letter = rng.choice("ABCD")
        wanted = options["ABCD".index(letter)]
        stem, explanation = f"Which option reads {wanted}?", f"It reads {wanted}."
    answer = completion(f"{explanation} That is option {letter}.", f"Answer: {letter}")
    return Sample(stem, tuple(options), prompt(multiple_choice(stem, options), reasoning, date), answer)
