"""The harmony format: how a conversation becomes text with special tokens, for training, scoring and serving alike."""

from __future__ import annotations

from collections.abc import Sequence

# In the order of their ids, which follow the ids of the byte-level vocabulary.
SPECIAL_TOKENS = [
    "<|startoftext|>",
    "<|endoftext|>",
    "<|return|>",
    "<|constrain|>",
    "<|channel|>",
    "<|start|>",
    "<|end|>",
    "<|message|>",
    "<|call|>",
]


def system_message(reasoning: str = "low", date: str | None = None) -> str:
    """The system message; `date` is YYYY-MM-DD, and its line is left out without one."""
    current = f"\nCurrent date: {date}" if date else ""
    return (
        "<|start|>system<|message|>You are ChatGPT, a large language model trained by OpenAI.\n"
        f"Knowledge cutoff: 2024-06{current}\n\n"
        f"Reasoning: {reasoning}\n\n"
        "# Valid channels: analysis, commentary, final. Channel must be included for every message.<|end|>"
    )


def prompt(user: str, reasoning: str = "low", date: str | None = None) -> str:
    """Everything the model is given for one user message."""
    return f"{system_message(reasoning, date)}<|start|>user<|message|>{user}<|end|><|start|>assistant"


def completion(analysis: str, final: str) -> str:
    """What the model writes after `prompt`."""
    return (
        f"<|channel|>analysis<|message|>{analysis}<|end|><|start|>assistant<|channel|>final<|message|>{final}<|return|>"
    )


def multiple_choice(stem: str, options: Sequence[str]) -> str:
    """The user text of a four-option question, as gpt-oss's GPQA evaluation writes it (stripped at both ends)."""
    a, b, c, d = options
    return (
        f"{stem}\n\n(A) {a}\n(B) {b}\n(C) {c}\n(D) {d}\n\n"
        "Express your final answer as the corresponding option 'A', 'B', 'C', or 'D'."
    )
