"""The CSV named by $ASSAY_QUESTIONS as lm-evaluation-harness wants it."""

import csv
import os
import random

import datasets

PROMPT = """{question}

(A) {a}
(B) {b}
(C) {c}
(D) {d}

Express your final answer as the corresponding option 'A', 'B', 'C', or 'D'."""
COLUMNS = ["Correct Answer", "Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3"]


def load(**_):
    draw = random.Random(0)
    documents = []
    with open(os.environ["ASSAY_QUESTIONS"], newline="", encoding="utf-8-sig") as file:
        for row in csv.DictReader(file):
            order = draw.sample(range(4), 4)
            shown = [row[COLUMNS[i]] for i in order]
            prompt = PROMPT.format(question=row["Question"], a=shown[0], b=shown[1], c=shown[2], d=shown[3])
            documents.append({"id": row["Record ID"], "prompt": prompt, "letter": "ABCD"[order.index(0)]})
    return {"test": datasets.Dataset.from_list(documents)}
