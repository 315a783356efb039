#!/usr/bin/env python3
"""ci/pipelines/: the files are YAML and shell, every assay command in them is one that the program takes, and their jobs, run
here one after the other against a scratch remote, measure a change beside main.

An argument is the folder of the programs; default: build/release/bin. Where check-jsonschema is installed, the
published schemas are asked too (make test-pipelines)."""

import contextlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/pipelines"))
from forge import Forge  # noqa: E402

try:
    import yaml
except ImportError:
    print("SKIPPED: python3-yaml is not installed")
    sys.exit(77)

ASSAY = pathlib.Path(sys.argv.pop(1) if sys.argv[1:] and "/" in sys.argv[1] else ROOT / "build/release/bin").resolve() / "assay"
PIPELINES = ROOT / "ci/pipelines"
FILES = sorted([*PIPELINES.glob("github/*.yml"), *PIPELINES.glob("gitlab/.*.yml"), *PIPELINES.glob("buildkite/*.yml")])


def load(path: pathlib.Path):
    return yaml.safe_load(path.read_text())


def github_steps(workflow: dict) -> list[dict]:
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def gitlab_jobs(file: dict) -> dict[str, dict]:
    """Jobs with what they extend."""
    keywords = ("stages", "variables", "workflow")
    return {name: {**file.get(job.get("extends"), {}), **job} for name, job in file.items()
            if name not in keywords and not name.startswith(".")}


def shell_scripts(path: pathlib.Path) -> list[tuple[str, str]]:
    """Every piece of shell in a file, as the shell gets to see it."""
    file = load(path)
    if path.parent.name == "github":
        return [(step.get("name", "?"), step["run"]) for step in github_steps(file) if "run" in step]
    if path.parent.name == "gitlab":
        return [(name, "\n".join(job.get("before_script", []) + job["script"])) for name, job in gitlab_jobs(file).items()]
    return [(step["key"], step["command"].replace("$$", "$")) for step in file["steps"]]


def assay_commands(script: str) -> list[list[str]]:
    """Words of the assay commands in it; variables stay as they are written."""
    commands = []
    for line in script.replace("\\\n", " ").splitlines():
        for command in re.split(r"&&|\|\||;|\||\bthen\b", line):
            words = shlex.split(command.strip(), comments=True)
            if words and words[0] == "assay":
                commands.append(words)
    return commands


class Written(unittest.TestCase):
    def test_every_file_is_there(self):
        names = [str(path.relative_to(PIPELINES)) for path in FILES]
        self.assertEqual(names, ["buildkite/pipeline.yml", "github/baseline.yml", "github/nightly.yml", "github/pr.yml",
                                 "github/publish.yml", "gitlab/.gitlab-ci.yml"])

    def test_shell_parses(self):
        for path in FILES:
            for name, script in shell_scripts(path):
                with self.subTest(file=path.name, step=name):
                    done = subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True)
                    self.assertEqual(done.returncode, 0, done.stderr)

    def test_no_expression_is_put_into_shell(self):
        """What somebody can name, a branch for instance, would become commands."""
        for path in FILES:
            for name, script in shell_scripts(path):
                self.assertNotIn("${{", script, f"{path.name}: {name}: hand it over in env")

    def test_buildkite_variables_are_left_to_the_job(self):
        for step in load(PIPELINES / "buildkite/pipeline.yml")["steps"]:
            self.assertNotIn("$", step["command"].replace("$$", ""), step["key"])

    def test_published_schemas_accept_them(self):
        program = shutil.which("check-jsonschema")
        if not program:
            self.skipTest("no check-jsonschema; make test-pipelines installs one")
        for path in FILES:
            schema = {"github": ["vendor.github-workflows"], "gitlab": ["vendor.gitlab-ci", "--data-transform", "gitlab-ci"],
                      "buildkite": ["vendor.buildkite"]}[path.parent.name]
            done = subprocess.run([program, "--builtin-schema", *schema, path], text=True, capture_output=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Privileges(unittest.TestCase):
    def test_what_runs_a_strangers_code_cannot_write(self):
        workflow = load(PIPELINES / "github/pr.yml")
        self.assertEqual(workflow["permissions"], {"contents": "read"})
        self.assertEqual(list(workflow[True]), ["pull_request"])  # `on` is a boolean to YAML 1.1
        self.assertNotIn("secrets.", (PIPELINES / "github/pr.yml").read_text())

    def test_what_can_write_runs_nothing_of_a_stranger(self):
        workflow = load(PIPELINES / "github/publish.yml")
        self.assertEqual(list(workflow[True]), ["workflow_run"])
        self.assertEqual(workflow[True]["workflow_run"]["workflows"], [load(PIPELINES / "github/pr.yml")["name"]])
        self.assertEqual(workflow["permissions"], {})
        checkout = next(s for s in github_steps(workflow) if s.get("uses", "").startswith("actions/checkout@"))
        self.assertNotIn("ref", checkout["with"])  # the default branch
        scripts = [s["run"] for s in github_steps(workflow) if "run" in s]
        self.assertEqual(len(scripts), 1)
        self.assertTrue(scripts[0].startswith("python3 ci/pipelines/comment.py github "), scripts[0])
        for flag in ("--untrusted", '--event "$GITHUB_EVENT_PATH"', "--pr-file"):
            self.assertIn(flag, scripts[0])

    def test_the_artifact_that_is_posted_is_the_one_that_is_uploaded(self):
        uploaded = [s["with"] for s in github_steps(load(PIPELINES / "github/pr.yml")) if "upload-artifact" in s.get("uses", "")]
        taken = next(s["with"] for s in github_steps(load(PIPELINES / "github/publish.yml")) if "download" in s.get("uses", ""))
        self.assertIn((taken["name"], "out/comment/"), [(u["name"], u["path"]) for u in uploaded])


@unittest.skipUnless(ASSAY.is_file(), f"{ASSAY} is not built")
class Commands(unittest.TestCase):
    def help_of(self, words: list[str]) -> str:
        done = subprocess.run([ASSAY, *words, "--help"], text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, f"assay {' '.join(words)} --help: {done.stderr}")
        return done.stdout

    def test_every_assay_command_is_one_that_the_program_takes(self):
        seen = 0
        for path in FILES:
            for name, script in shell_scripts(path):
                self.assertEqual(len(re.findall(r"(?m)(?:^ *|[;&|] *|then )assay ", script)), len(assay_commands(script)), name)
                for words in assay_commands(script):
                    with self.subTest(file=path.name, command=" ".join(words)):
                        seen += 1
                        text = self.help_of(words[1:2])
                        if words[1] == "baseline":
                            self.assertRegex(text, rf"(?m)^{words[2]} ")
                        for word in words:
                            if word.startswith("--"):
                                self.assertRegex(text, rf"(?<![\w-]){re.escape(word)}(?![\w-])")
        self.assertGreaterEqual(seen, 20)


CONFIG = """\
schema: assay/config/1
name: scratch
hardware: cpu
engine: {{kind: bundled, model: {models}, tensor_parallel_size: 1, ready_timeout_s: 60, binary: {engine}}}
evals:
  gpqa: {{dataset: {models}/questions.csv, subset: 32, reasoning_effort: low, temperature: 0, max_tokens: 64, concurrency: 32,
         threshold: {threshold}, tolerance: {{kind: absolute, value: 0}}}}
  serving: {serving}
gate:
  accuracy: {{paired: true, margin: 0.2}}
  baseline: {{policy: rolling, branch: main, runs: 10, first_run: record}}
"""


@unittest.skipUnless(ASSAY.is_file(), f"{ASSAY} is not built")
class Played(unittest.TestCase):
    """The jobs' own shell, in a checkout of a scratch remote. `make` does nothing there, and buildkite-agent takes notes."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.scratch = pathlib.Path(folder.name)
        self.remote = self.scratch / "remote.git"
        self.bin = self.scratch / "bin"
        self.bin.mkdir()
        self.program("make", "exit 0")
        self.program("assay", f'exec {ASSAY} "$@"')
        self.program("buildkite-agent", f'echo "$@" >> {self.scratch}/agent; cat > /dev/null')
        self.env = {
            "PATH": f"{self.bin}:{os.environ['PATH']}", "HOME": str(self.scratch), "TMPDIR": str(self.scratch), "LC_ALL": "C.UTF-8",
            "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@t", "GIT_COMMITTER_NAME": "t",
            "GIT_COMMITTER_EMAIL": "t@t", "CONFIG": "config.yaml", "SUITE": "smoke"
        }
        work = self.scratch / "main"
        for part in ("ci/pipelines", "configs/suites"):
            shutil.copytree(ROOT / part, work / part)
        self.config(work, threshold=0.5)
        self.git(self.scratch, "init", "--quiet", "--bare", "-b", "main", "remote.git")
        self.git(work, "init", "--quiet", "-b", "main")
        self.git(work, "remote", "add", "origin", str(self.remote))
        self.commit(work, "main")

    def program(self, name: str, text: str):
        path = self.bin / name
        path.write_text(f"#!/bin/bash\n{text}\n")
        path.chmod(0o755)

    def config(self, work: pathlib.Path, threshold: float = 0.5, serving: str = "[]", engine: pathlib.Path = ASSAY.parent / "assay-engine"):
        (work / "config.yaml").write_text(CONFIG.format(models=ROOT / "models/tiny-moe", engine=engine, threshold=threshold,
                                                        serving=serving))

    def git(self, folder: pathlib.Path, *arguments: str) -> str:
        done = subprocess.run(["git", "-C", folder, *arguments], env=self.env, text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def commit(self, work: pathlib.Path, branch: str):
        self.git(work, "add", "-A")
        self.git(work, "commit", "--quiet", "-m", "change")
        self.git(work, "push", "--quiet", "origin", f"HEAD:refs/heads/{branch}")

    def checkout(self, name: str, branch: str = "main") -> pathlib.Path:
        """As CI does: a commit, and no branch checked out."""
        work = self.scratch / name
        self.git(self.scratch, "clone", "--quiet", str(self.remote), name)
        self.git(work, "checkout", "--quiet", "--detach", f"origin/{branch}")
        return work

    def change(self, branch: str = "topic", **config) -> None:
        work = self.checkout(f"change-{branch}")
        self.config(work, **config)
        self.commit(work, branch)

    def shell(self, work: pathlib.Path, script: str, expect: int = 0, options: str = "-eo", **env: str) -> str:
        command = ["bash", options, "pipefail", "-c", script]
        done = subprocess.run(command, cwd=work, env={**self.env, **env}, text=True, capture_output=True, timeout=120)
        self.assertEqual(done.returncode, expect, f"{script}\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def stored_runs(self) -> int:
        return len(self.git(self.remote, "ls-tree", "-r", "--name-only", "assay-baselines").splitlines())

    def outcome(self, work: pathlib.Path) -> str:
        return json.loads((work / "out/run/verdict.json").read_text())["outcome"]

    # --- GitHub

    def github_measure(self, file: str) -> str:
        return next(s["run"] for s in github_steps(load(PIPELINES / "github" / file)) if s.get("name") == "Measure")

    def github(self, file: str, work: pathlib.Path, expect: int = 0) -> str:
        """The steps of a workflow; returns the step summary."""
        temp = self.scratch / f"{work.name}-temp"
        temp.mkdir()
        summary = temp / "summary"
        env = {"RUNNER_TEMP": str(temp), "GITHUB_STEP_SUMMARY": str(summary), "GITHUB_PATH": str(temp / "path"), "NUMBER": "12"}
        scripts = [s["run"] for s in github_steps(load(PIPELINES / "github" / file)) if "run" in s]
        for script in scripts[:-1]:
            self.shell(work, script, **env)
        self.shell(work, scripts[-1], expect, **env)
        return summary.read_text()

    def test_github_measures_a_change_beside_main_and_tells_its_author(self):
        first = self.github("baseline.yml", self.checkout("push"))
        self.assertIn("## ", first)
        self.assertEqual(self.stored_runs(), 1)

        self.change(threshold=1.0)  # no score that the bundled model reaches
        work = self.checkout("pull", "topic")
        self.assertIn("FAIL", self.github("pr.yml", work, expect=1).splitlines()[0])
        self.assertEqual(self.outcome(work), "FAIL")
        verdict = json.loads((work / "out/run/verdict.json").read_text())
        self.assertIn("paired", [c["rule"] for c in verdict["checks"] if c["outcome"] == "PASS"])  # main's answers were there
        self.assertEqual(self.stored_runs(), 1)  # a pull request leaves nothing
        self.assertEqual(sorted(os.listdir(work / "out/comment")), ["number", "report.md", "verdict.json"])

        # publish.yml, on the default branch, with what was uploaded
        sha = self.git(work, "rev-parse", "HEAD")
        head = {"sha": sha, "ref": "topic", "repo": {"full_name": "org/repo"}}
        event = {"workflow_run": {"event": "pull_request", "head_sha": sha, "head_branch": "topic",
                                  "head_repository": {"full_name": "org/repo"}}}
        (self.scratch / "event.json").write_text(json.dumps(event))
        publisher = self.checkout("publisher")
        script = [s["run"] for s in github_steps(load(PIPELINES / "github/publish.yml")) if "run" in s][0]
        shutil.copytree(work / "out/comment", self.scratch / "temp/comment")
        forge = Forge()
        with contextlib.closing(forge):
            forge.pulls[12] = {"head": head}
            self.shell(publisher, script, GITHUB_TOKEN="right", GITHUB_API_URL=forge.url, GITHUB_REPOSITORY="org/repo",
                       GITHUB_EVENT_PATH=str(self.scratch / "event.json"), RUNNER_TEMP=str(self.scratch / "temp"), LINK="")
        self.assertEqual(len(forge.comments), 1)
        self.assertTrue(forge.comments[0]["body"].startswith("<!-- assay:summary:assay -->\n<!-- assay:outcome:FAIL -->\n## "))

    def test_github_warns_of_what_cannot_be_decided(self):
        self.change("main", serving="[{name: s, input_len: 64, output_len: 64, num_prompts: 8, max_concurrency: 1}]")
        self.github("baseline.yml", self.checkout("push"))  # speed wants five such runs
        work = self.checkout("pull")
        self.assertIn("INCONCLUSIVE", self.github("pr.yml", work, expect=0))
        self.assertIn("::warning", (work / "out/run/annotations.txt").read_text())

    def test_github_tries_infrastructure_once_more(self):
        self.change(engine=pathlib.Path("/bin/false"))
        work = self.checkout("pull", "topic")
        self.github("pr.yml", work, expect=75)
        self.assertEqual(sorted(os.listdir(work / "out")), ["attempt-1", "comment", "run"])
        self.assertEqual(self.outcome(work), "INFRASTRUCTURE")

    def test_github_launches_nothing_where_the_config_is_wrong(self):
        self.change(serving="[{name: s, input_length: 8}]")
        work = self.checkout("pull", "topic")
        said = self.shell(work, self.github_measure("pr.yml"), 2, RUNNER_TEMP=str(self.scratch), GITHUB_STEP_SUMMARY="/dev/null", NUMBER="12")
        self.assertIn("config.yaml:8:23: evals.serving[0].input_length: unknown key", said)
        self.assertFalse((work / "out/comment").exists())

    def test_github_writes_the_history_of_the_nights(self):
        work = self.checkout("night")
        self.env["SUITE"] = "full"
        self.assertIn("```", self.github("nightly.yml", work))
        self.assertIn("<html", (work / "out/history/index.html").read_text())
        self.assertEqual(self.stored_runs(), 1)

    # --- GitLab

    def gitlab(self, job: str, work: pathlib.Path, expect: int = 0, **more: str) -> str:
        found = gitlab_jobs(load(PIPELINES / "gitlab/.gitlab-ci.yml"))[job]
        script = "\n".join([*found.get("before_script", []), *found["script"]])
        env = {"ASSAY_STORE": str(work / ".assay/store.db"), "BASELINES": str(self.remote), "ASSAY_GITLAB_TOKEN": "right", **more}
        return self.shell(work, script, expect, **env)

    def test_gitlab_measures_a_change_beside_main_and_tells_its_author(self):
        self.gitlab("baseline", self.checkout("push"))
        self.assertEqual(self.stored_runs(), 1)
        self.change(threshold=1.0)
        work = self.checkout("merge", "topic")
        self.gitlab("merge request", work, expect=1, CI_MERGE_REQUEST_IID="12")
        self.assertEqual(self.outcome(work), "FAIL")
        self.assertEqual(self.stored_runs(), 1)
        forge = Forge()
        with contextlib.closing(forge):
            self.gitlab("comment", work, CI_API_V4_URL=forge.url, CI_PROJECT_ID="group/repo", CI_MERGE_REQUEST_IID="12",
                        CI_PIPELINE_URL="")
        self.assertIn("<!-- assay:outcome:FAIL -->", forge.comments[0]["body"])

        night = self.checkout("night")
        self.gitlab("nightly", night)
        self.assertIn("<html", (night / "out/history/index.html").read_text())
        self.assertEqual(self.stored_runs(), 2)

    # --- Buildkite

    def buildkite(self, key: str, work: pathlib.Path, expect: int = 0, **more: str) -> str:
        step = next(s for s in load(PIPELINES / "buildkite/pipeline.yml")["steps"] if s["key"] == key)
        return self.shell(work, step["command"].replace("$$", "$"), expect, **more)

    def test_buildkite_measures_a_change_beside_main(self):
        self.buildkite("baseline", self.checkout("push"))
        self.assertEqual(self.stored_runs(), 1)
        self.change(threshold=1.0)
        work = self.checkout("pull", "topic")
        self.buildkite("pull-request", work, expect=1, BUILDKITE_PULL_REQUEST="12")
        self.assertEqual(self.outcome(work), "FAIL")
        notes = (self.scratch / "agent").read_text().splitlines()
        self.assertEqual(notes[-1], "annotate --context assay --style error")
        self.assertEqual(self.stored_runs(), 1)

        result = self.scratch / "result"
        shutil.copytree(work / "out", result)
        self.program("buildkite-agent", f'[ "$1 $2" = "artifact download" ] && cp -r {result} out')
        forge = Forge(author="ci-bot")
        with contextlib.closing(forge):
            self.buildkite("comment", work, BUILDKITE_PULL_REQUEST="12", BUILDKITE_REPO="git@github.com:org/repo.git", GITHUB_TOKEN="right",
                           GITHUB_API_URL=forge.url, ASSAY_COMMENT_AUTHOR="ci-bot", BUILDKITE_BUILD_URL="")
        self.assertIn("<!-- assay:outcome:FAIL -->", forge.comments[0]["body"])


if __name__ == "__main__":
    unittest.main()
