#!/usr/bin/env python3
"""A fleet on a Slurm cluster: nine cells as one array, of which some are measured and the others killed in every way that this
cluster has, and one report with one exit code.

An argument is the folder of the programs; default: build/release/bin. Exits 77 where there can be no cluster, and says why."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/slurm"))
from cluster import Cluster, Unavailable, children_of  # noqa: E402

ASSAY = pathlib.Path(sys.argv.pop(1) if sys.argv[1:] and "/" in sys.argv[1] else ROOT / "build/release/bin").resolve() / "assay"
PATIENCE = 240  # seconds; two slow cores need about 30

CONFIG = """\
schema: assay/config/1
name: {name}
hardware: cpu
engine: {{kind: bundled, model: {models}, tensor_parallel_size: 1, ready_timeout_s: 60, binary: {binary}}}
evals: {{{evals}}}
gate: {{baseline: {{policy: none}}}}
"""
GPQA = ("gpqa: {{dataset: {models}/questions.csv, subset: 16, reasoning_effort: low, temperature: 0, max_tokens: 64, concurrency: 16, "
        "threshold: {threshold}, tolerance: {{kind: absolute, value: 0}}}}")
# One request a second, so that it is still being measured when somebody kills it, and takes no processor until then.
SLOW = "serving: [{name: slow, input_len: 8, output_len: 4, num_prompts: 600, request_rate: 1}]"

# name: what it measures, how its task ends, what Slurm calls that, what becomes of the cell
CELLS = {
    "a-passes": ("quick", None, "COMPLETED", "PASS"),
    "b-passes": ("quick", None, "COMPLETED", "PASS"),
    "c-below-its-threshold": ("unreachable", None, "FAILED", "FAIL"),
    "d-has-no-server": ("no server", None, "FAILED", "INFRASTRUCTURE"),
    "e-step-is-killed": ("slow", "kill -9 of all its processes", "FAILED", "INFRASTRUCTURE"),
    "f-assay-is-killed": ("slow", "kill -9 of assay alone", "FAILED", "INFRASTRUCTURE"),
    "g-is-cancelled": ("slow", "scancel", "CANCELLED", "INFRASTRUCTURE"),
    "h-loses-its-node": ("slow", "node down", "NODE_FAIL", "INFRASTRUCTURE"),
    "i-is-preempted": ("slow", "a job that goes first", "PREEMPTED", "INFRASTRUCTURE"),
}


def write_configs(folder: pathlib.Path) -> None:
    models = ROOT / "models/tiny-moe"
    for name, (kind, *_) in CELLS.items():
        binary = "/bin/false" if kind == "no server" else ASSAY.parent / "assay-engine"
        evals = SLOW if kind == "slow" else GPQA.format(models=models, threshold=1.0 if kind == "unreachable" else 0.5)
        (folder / f"{name}.yaml").write_text(CONFIG.format(name=name, models=models, binary=binary, evals=evals))


def wait_for(what: str, ready, seconds: float = PATIENCE):
    deadline = time.monotonic() + seconds
    while not (found := ready()):
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: not within {seconds:.0f} s")
        time.sleep(0.2)
    return found


class Fleet(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(prefix="assay-fleet-")
        cls.folder = pathlib.Path(cls.scratch.name)
        (cls.folder / "configs").mkdir()
        write_configs(cls.folder / "configs")
        cls.env = dict(cluster.env, PATH=f"{ASSAY.parent}:{cluster.env['PATH']}", HOME=str(cls.folder))
        cls.emit()
        cls.submit_and_kill()

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    @classmethod
    def emit(cls):
        command = ["assay", "ci", "emit", "configs", "--to", "slurm", "--out", "fleet", "--partition", "cells", "--no-store", "--timeout", "5",
                   "--runner", "cpu=--exclusive,--mem=0"]
        done = subprocess.run(command, cwd=cls.folder, env=cls.env, text=True, capture_output=True)
        assert done.returncode == 0, done.stdout + done.stderr
        lines = (cls.folder / "fleet/cells.tsv").read_text().splitlines()
        cls.keys = [line.split("\t")[0] for line in lines]
        cls.task = {name: next(i for i, key in enumerate(cls.keys) if name in key) for name in CELLS}

    @classmethod
    def task_state(cls, name: str) -> dict[str, str]:
        """What Slurm says of the task of a cell."""
        out = cluster.run("scontrol", "-o", "show", "job", f"{cls.array}_{cls.task[name]}")
        return dict(word.split("=", 1) for word in out.split() if "=" in word)

    @classmethod
    def processes(cls, name: str) -> list[int]:
        """The batch script of a cell's task and all below it."""
        state = cls.task_state(name)
        pids = cluster.run("ps", "-eo", "pid=,args=").splitlines()
        steps = [int(p.split()[0]) for p in pids if f"slurmstepd: [{state['JobId']}.batch]" in p]
        return children_of(steps[0]) if steps else []

    @classmethod
    def command_of(cls, pid: int) -> list[str]:
        try:
            return pathlib.Path(f"/proc/{pid}/cmdline").read_text().split("\0")
        except OSError:
            return []

    @classmethod
    def submit_and_kill(cls):
        began = time.monotonic()
        submit = subprocess.Popen(["bash", "fleet/submit.sh", "results", "--wait"], cwd=cls.folder, env=cls.env, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        try:
            said = ""
            while "arrays" not in said:
                line = submit.stdout.readline()
                if not line:
                    raise AssertionError(f"submit.sh ended: {said}")
                said += line
            cls.array = re.search(r"arrays +(\d+)", said).group(1)

            def measuring(name):  # requests are being answered
                journal = list((cls.folder / "results" / cls.keys[cls.task[name]]).glob("attempt-1/journal*"))
                return journal and cls.processes(name)

            for name, (_, death, *_) in CELLS.items():
                if not death:
                    continue
                pids = wait_for(f"{name} is being measured", lambda: measuring(name))
                node = cls.task_state(name)["NodeList"]
                if death.endswith("of all its processes"):
                    for pid in pids:
                        os.kill(pid, signal.SIGKILL)
                elif death.endswith("of assay alone"):
                    os.kill(next(p for p in pids if cls.command_of(p)[:2] == ["assay", "run"]), signal.SIGKILL)
                elif death == "scancel":
                    cluster.run("scancel", f"{cls.array}_{cls.task[name]}")
                elif death == "node down":
                    cluster.run("scontrol", "update", f"nodename={node}", "state=down", "reason=test")
                else:
                    cluster.run("sbatch", "--partition=urgent", "--exclusive", f"--nodelist={node}", "--output=/dev/null", "--wrap=true")
            cls.output, _ = submit.communicate(timeout=PATIENCE)
        except BaseException:
            submit.kill()
            print(cluster.run("squeue", check=False), cluster.log_tails(), sep="\n")
            raise
        cls.exit_code, cls.seconds = submit.returncode, time.monotonic() - began
        print(f"{len(CELLS)} cells on {cluster.nodes} nodes in {cls.seconds:.0f} s")

    def logs(self) -> str:
        return self.output + "".join(f"--- {p.name}\n{p.read_text()}" for p in sorted((self.folder / "results").glob("*.log")))

    def test_the_exit_code_is_that_of_the_verdict_and_no_cell_hides_it(self):
        self.assertEqual(self.exit_code, 1, self.logs())  # FAIL goes before INFRASTRUCTURE

    def test_slurm_saw_every_end_that_was_planned(self):
        for name, (_, _, state, _) in CELLS.items():
            self.assertEqual(self.task_state(name)["JobState"], state, name)

    def test_each_cell_has_its_own_outcome(self):
        verdict = json.loads((self.folder / "results/report/verdict.json").read_text())
        self.assertEqual((verdict["outcome"], verdict["exit_code"]), ("FAIL", 1))
        for name, (_, _, _, expected) in CELLS.items():
            key = self.keys[self.task[name]]
            outcomes = {c["outcome"] for c in verdict["checks"] if c["cell"] == key and c["primary"]}
            self.assertIn(expected, outcomes, f"{name}: {outcomes}")
            if expected != "FAIL":
                self.assertNotIn("FAIL", outcomes, name)
            if expected == "PASS":
                self.assertEqual(outcomes, {"PASS"}, name)

    def test_the_report_has_slurms_word_for_what_happened(self):
        report = (self.folder / "results/report/report.md").read_text()
        for name, word in (("e", "FAILED"), ("g", "CANCELLED"), ("h", r"NODE\\_FAIL"), ("i", "PREEMPTED")):
            self.assertRegex(report, rf"{name}-[^\n]*its job ended as {word} on n\d", name)

    def test_only_infrastructure_is_tried_a_second_time(self):
        attempts = {name: len(list((self.folder / "results" / self.keys[self.task[name]]).glob("attempt-*"))) for name in CELLS}
        self.assertEqual({name: n for name, n in attempts.items() if n != 1}, {"d-has-no-server": 2})

    def test_a_task_that_was_killed_leaves_no_exit_code(self):
        for name in ("e-step-is-killed", "h-loses-its-node", "i-is-preempted"):
            folder = self.folder / "results" / self.keys[self.task[name]] / "attempt-1"
            self.assertTrue((folder / "started").is_file(), name)
            self.assertFalse((folder / "exit_code").exists(), name)

    def test_no_server_of_a_killed_task_is_left(self):
        engines = [p for p in children_of(os.getpid()) if "assay-engine" in " ".join(self.command_of(p))]
        self.assertEqual(engines, [])


def main() -> int:
    global cluster
    if not ASSAY.is_file():
        print(f"{ASSAY} is not built", file=sys.stderr)
        return 2
    try:
        with Cluster(nodes=len(CELLS)) as cluster:
            return 0 if unittest.main(exit=False).result.wasSuccessful() else 1
    except Unavailable as why:
        print(f"SKIPPED: no Slurm cluster here: {why}", file=sys.stderr)
        return 77


if __name__ == "__main__":
    sys.exit(main())
