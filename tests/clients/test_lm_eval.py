"""EleutherAI's lm-evaluation-harness and assay ask one engine the same questions."""

import csv
import json
import os
import pathlib
import subprocess
import sys

import pytest
from conftest import MODEL, PROGRAMS

TASK = pathlib.Path(__file__).parent / "lm_eval_task"
QUESTIONS = 96


@pytest.fixture(scope="module")
def questions(tmp_path_factory):
    """The first questions of the bundled set, as a CSV of their own."""
    path = tmp_path_factory.mktemp("questions") / "questions.csv"
    with open(MODEL / "questions.csv", newline="", encoding="utf-8") as whole, open(path, "w", newline="", encoding="utf-8") as part:
        rows = csv.writer(part)
        for _, row in zip(range(QUESTIONS + 1), csv.reader(whole)):
            rows.writerow(row)
    return path


@pytest.fixture(scope="module")
def of_lm_eval(engine, questions, tmp_path_factory):
    """Its aggregated result and its samples by Record ID."""
    out = tmp_path_factory.mktemp("lm_eval")
    command = [
        sys.executable, "-m", "lm_eval", "run", "--model", "local-chat-completions",
        "--model_args", f"model=tiny-moe,base_url={engine}/v1/chat/completions,num_concurrent=16,max_retries=1",
        "--tasks", "tiny_gpqa", "--include_path", str(TASK), "--apply_chat_template",
        "--log_samples", "--output_path", str(out),
    ]
    environment = {**os.environ, "ASSAY_QUESTIONS": str(questions), "OPENAI_API_KEY": "none"}
    subprocess.run(command, env=environment, check=True, timeout=300)
    result = json.loads(next(out.rglob("results_*.json")).read_text())["results"]["tiny_gpqa"]
    lines = next(out.rglob("samples_tiny_gpqa_*.jsonl")).read_text().splitlines()
    return result, {sample["doc"]["id"]: sample for sample in map(json.loads, lines)}


@pytest.fixture(scope="module")
def of_assay(questions, tmp_path_factory):
    """assay's samples by Record ID, from an engine that it starts itself."""
    out = tmp_path_factory.mktemp("assay")
    (out / "config.yaml").write_text(f"""
schema: assay/config/1
name: clients
hardware: cpu
engine: {{kind: bundled, model: {MODEL}}}
evals:
  gpqa: {{dataset: {questions}, temperature: 0, max_tokens: 256, concurrency: 16}}
gate: {{baseline: {{policy: none}}}}
""")
    command = [PROGRAMS / "assay", "run", out / "config.yaml", "--no-store", "--out", out / "run"]
    subprocess.run(command, check=True, timeout=300)
    record = json.loads((out / "run/record.json").read_text())
    return {sample["id"]: sample for sample in record["cells"][0]["accuracy"]["samples"]}


def test_both_asked_every_question_with_the_same_right_letters(of_lm_eval, of_assay):
    _, theirs = of_lm_eval
    assert len(theirs) == len(of_assay) == QUESTIONS
    assert {id: sample["target"] for id, sample in theirs.items()} == {id: sample["expected"] for id, sample in of_assay.items()}


def test_every_letter_read_by_both_is_the_same(of_lm_eval, of_assay):
    _, theirs = of_lm_eval
    letters = {id: sample["filtered_resps"][0].replace("[invalid]", "") for id, sample in theirs.items()}
    assert letters == {id: sample["strict"] for id, sample in of_assay.items()}


def test_the_score_is_the_same_count(of_lm_eval, of_assay):
    result, _ = of_lm_eval
    correct = sum(sample["correct"] for sample in of_assay.values())
    assert round(result["exact_match,last-answer"] * QUESTIONS) == correct
    assert QUESTIONS / 2 < correct < QUESTIONS
