#!/usr/bin/env python3
"""Runs every step of emitted Buildkite, GitLab, GitHub and Kubernetes files with bash, on two cells on this machine.

Argument: the folder of the built programs. What an engine does around a step is played as its documentation says:
variables, artifacts, retries, exit codes that do not fail, the last step that always runs. GitHub's needs PyYAML."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BIN = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else "build/release/bin").resolve()

CONFIG = """schema: assay/config/1
name: {name}
hardware: cpu
engine:
  kind: command
  model: scripted-{name}
  argv: [{server}, --model, "{{model}}", --port, "{{port}}", --token-interval-ms, "1"]
  ready_timeout_s: 20
  stop_timeout_s: 2
evals:
  gpqa: {{dataset: questions.csv, concurrency: 4, max_tokens: 16, threshold: {threshold}, broken_below: 0,
         tolerance: {{kind: absolute, value: 0}}}}
gate: {{baseline: {{policy: none}}}}
"""
QUESTIONS = "Record ID,Question,Correct Answer,Incorrect Answer 1,Incorrect Answer 2,Incorrect Answer 3," + \
    "High-level domain,Writer's Difficulty Estimate\n" + \
    "".join(f"rec{i},What is {i} + 1?,{i + 1},{i + 2},{i + 3},{i + 4},Physics,Easy\n" for i in range(12))


class Checkout:
    """A repository with two configs in a folder whose name has a space; every job works in a fresh copy."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        self.source = folder / "source"

    def fill(self, second: str) -> "Checkout":
        """The first config's cell passes; the second's passes, fails, or its server is not there (lost)."""
        configs = self.source / "my configs"
        configs.mkdir(parents=True)
        (configs / "questions.csv").write_text(QUESTIONS)
        server = BIN / ("no-such-engine" if second == "lost" else "assay-scripted-server")
        threshold = 0.9 if second == "fails" else 0.16  # always answering A is right for 2 of 12 questions
        (configs / "a.yaml").write_text(CONFIG.format(name="a", server=BIN / "assay-scripted-server", threshold=0.16))
        (configs / "b.yaml").write_text(CONFIG.format(name="b", server=server, threshold=threshold))
        return self

    def environment(self, more: dict) -> dict:
        """What an agent gives a job: little, and a PATH with assay in it."""
        return {"PATH": f"{self.folder / 'tools'}:{BIN}:{os.environ['PATH']}", "HOME": str(self.folder),
                "LANG": "C.UTF-8", **more}

    def emit(self, engine: str, *flags: str) -> list[pathlib.Path]:
        command = ["assay", "ci", "emit", "--to", engine, "my configs", "--no-store", "--out", str(self.folder / "ci"), *flags]
        done = subprocess.run(command, cwd=self.source, env=self.environment({}), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return [pathlib.Path(line) for line in done.stdout.splitlines()]

    def workspace(self) -> pathlib.Path:
        folder = pathlib.Path(tempfile.mkdtemp(prefix="job-", dir=self.folder))
        return pathlib.Path(shutil.copytree(self.source, folder, dirs_exist_ok=True))

    def bash(self, script: str, folder: pathlib.Path, environment: dict, *options: str) -> subprocess.CompletedProcess:
        return subprocess.run(["bash", *options, "-c", script], cwd=folder, env=self.environment(environment),
                              capture_output=True, text=True, timeout=120)


def tree(folder: pathlib.Path) -> dict[str, bytes]:
    return {str(f.relative_to(folder)): f.read_bytes() for f in folder.rglob("*") if f.is_file()}


def unpack(files: dict[str, bytes], folder: pathlib.Path) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


class Result:
    """How a fleet ended: exit codes of every cell's attempts, the report's, and what the engine makes of the whole."""

    def __init__(self):
        self.codes: dict[str, list[int]] = {}
        self.report = None
        self.green = True
        self.stderr = ""
        self.report_files: dict[str, bytes] = {}
        self.extra: dict[str, str] = {}


# ---- Buildkite


def upload(text: str) -> str:
    """What `pipeline upload` does to dollars: $$ is one, $NAME is filled in while nothing is known of it yet."""
    return re.sub(r"\$\$|\$\{?\w+\}?", lambda m: "$" if m.group() == "$$" else "", text)


BUILDKITE_AGENT = """#!/bin/bash
case "$1 $2" in
  "artifact download") shopt -s globstar; [ -d "$FAKE_ARTIFACTS/assay-out" ] || exit 1; cp -r "$FAKE_ARTIFACTS/assay-out" . ;;
  annotate*) echo "$*" > "$FAKE_ANNOTATION"; cat >> "$FAKE_ANNOTATION" ;;
  *) exit 9 ;;
esac
"""


def run_buildkite(checkout: Checkout, lose: str = "") -> Result:
    """`lose` is a cell whose agent disappears: nothing of it runs to its end."""
    tools = checkout.folder / "tools"
    tools.mkdir()
    (tools / "buildkite-agent").write_text(BUILDKITE_AGENT)
    (tools / "buildkite-agent").chmod(0o755)
    [file] = checkout.emit("buildkite")
    steps = json.loads(upload(file.read_text()))["steps"]
    result, artifacts = Result(), checkout.folder / "artifacts"
    environment = {"FAKE_ARTIFACTS": str(artifacts), "FAKE_ANNOTATION": str(checkout.folder / "annotation")}
    for step in [step for group in steps for step in group.get("steps", [])]:
        if step["label"] == lose:
            result.green = False
            continue
        limits = {rule["exit_status"]: rule["limit"] for rule in step["retry"]["automatic"]}
        for attempt in range(9):
            folder = checkout.workspace()
            done = checkout.bash(step["command"], folder, {**environment, "BUILDKITE_RETRY_COUNT": str(attempt)}, "-e")
            result.stderr += done.stderr
            result.codes.setdefault(step["label"], []).append(done.returncode)
            assert step["artifact_paths"] == ["assay-out/**/*"]
            kept = {name: content for name, content in tree(folder).items() if name.startswith("assay-out/")}
            if attempt >= limits.get(done.returncode, 0):
                break
        unpack(kept, artifacts)  # those of a job that was tried again are not downloaded
        result.green &= done.returncode == 0 or {"exit_status": done.returncode} in step["soft_fail"]
    report = steps[-1]
    assert all(after["allow_failure"] for after in report["depends_on"])
    folder = checkout.workspace()
    done = checkout.bash(report["command"], folder, environment, "-e")
    result.report, result.stderr = done.returncode, result.stderr + done.stderr
    result.green &= done.returncode == 0
    result.report_files = tree(folder / "assay-out/report") if (folder / "assay-out/report").exists() else {}
    annotation = checkout.folder / "annotation"
    result.extra["annotation"] = annotation.read_text() if annotation.exists() else ""
    return result


# ---- GitLab


def run_gitlab(checkout: Checkout, lose: str = "") -> Result:
    [file] = checkout.emit("gitlab")
    pipeline = json.loads(file.read_text())
    assert pipeline.pop("stages") == ["measure", "report"]
    jobs = {name: {**pipeline.get(job.get("extends", ""), {}), **job} for name, job in pipeline.items()
            if not name.startswith(".")}
    result, number = Result(), 1000
    artifacts: dict[str, bytes] = {}
    for name, job in jobs.items():
        if job["stage"] != "measure":
            continue
        if name == lose:
            result.green = False
            continue
        for attempt in range(1 + job["retry"]["max"]):
            number += 1
            folder = checkout.workspace()
            done = checkout.bash("\n".join(job["script"]), folder, {**job["variables"], "CI_JOB_ID": str(number)},
                                 "-eo", "pipefail")
            result.stderr += done.stderr
            result.codes.setdefault(name, []).append(done.returncode)
            if done.returncode not in job["retry"]["exit_codes"]:
                break
        assert job["artifacts"] == {"when": "always", "paths": ["assay-out/"], "expire_in": "30 days"}
        artifacts.update({n: c for n, c in tree(folder).items() if n.startswith("assay-out/")})
        result.green &= done.returncode == 0 or done.returncode in job["allow_failure"]["exit_codes"]
    report = jobs["assay-report"]
    assert report["when"] == "always" and "needs" not in report
    folder = checkout.workspace()
    unpack(artifacts, folder)
    done = checkout.bash("\n".join(report["script"]), folder, {}, "-eo", "pipefail")
    result.report, result.stderr = done.returncode, result.stderr + done.stderr
    result.green &= done.returncode == 0
    assert (folder / report["artifacts"]["reports"]["junit"]).exists(), result.stderr
    result.report_files = tree(folder / "assay-out/report")
    return result


# ---- GitHub


def fill_in(text: str, values: dict) -> str:
    """${{ a.b }} as the value that it names."""
    return re.sub(r"\$\{\{ ([\w.]+) \}\}", lambda m: str(values[m.group(1)]), text)


def run_github(checkout: Checkout, lose: str = "") -> Result:
    import yaml
    files = checkout.emit("github")
    workflow = yaml.safe_load(files[0].read_text())
    result, artifacts = Result(), {}
    runner = {"RUNNER_TEMP": str(checkout.folder / "temp"), "GITHUB_RUN_ATTEMPT": "1"}
    for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"):
        runner[name] = str(checkout.folder / name)

    def run_steps(job: dict, folder: pathlib.Path, environment: dict) -> int:
        for step in job["steps"]:
            if "run" not in step:
                continue
            done = checkout.bash(step["run"], folder, {**runner, **environment}, "-e")
            result.stderr += done.stderr
            result.extra["output"] = result.extra.get("output", "") + done.stdout
            if done.returncode != 0:
                return done.returncode
        return 0

    jobs = workflow["jobs"]
    assert run_steps(jobs["plan"], checkout.workspace(), {}) == 0, result.stderr
    outputs = dict(line.split("=", 1) for line in pathlib.Path(runner["GITHUB_OUTPUT"]).read_text().splitlines())
    for cell in json.loads(outputs["cells_1"]):
        if cell["cell"] == lose:
            result.green = False
            continue
        environment = {k: fill_in(v, {"matrix.cell": cell["cell"]}) for k, v in jobs["cells-1"]["env"].items()}
        folder = checkout.workspace()
        code = run_steps(jobs["cells-1"], folder, environment)
        attempts = sorted(folder.glob("assay-out/*/*/exit_code"))
        result.codes[cell["cell"]] = [int(each.read_text()) for each in attempts]
        artifacts.update(tree(folder / "assay-out"))
        result.green &= code == 0
    folder = checkout.workspace()
    report = dict(jobs["report"])
    before = [step for step in report["steps"] if step.get("run", "").startswith("rm")]
    after = [step for step in report["steps"] if step not in before]
    run_steps({"steps": before}, folder, {})
    unpack(artifacts, folder / "assay-out")
    result.report = run_steps({"steps": after}, folder, {})
    result.green &= result.report == 0
    result.report_files = tree(folder / "assay-out/report")
    result.extra["summary"] = pathlib.Path(runner["GITHUB_STEP_SUMMARY"]).read_text()
    return result


# ---- Kubernetes


class Cluster:
    """As much of kubectl as submit.sh asks for. Jobs run when they are applied; its state is a folder."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        self.checkout = Checkout(folder.parent)

    def apply(self, objects: list) -> None:
        for each in objects:
            name = each["metadata"]["name"]
            assert re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,57}[a-z0-9])?", name), name
            (self.folder / f"{each['kind']}-{name}.json").write_text(json.dumps(each))
        for job in objects:
            if job["kind"] == "Job":
                (self.folder / f"status-{job['metadata']['name']}.json").write_text(json.dumps(self.run_job(job["spec"])))

    def run_job(self, spec: dict) -> dict:
        """Exit code and output of its last pod, and whether every index came to a good end."""
        rules = spec.get("podFailurePolicy", {}).get("rules", [])
        final = [code for rule in rules if rule["action"] == "FailIndex" for code in rule["onExitCodes"]["values"]]
        status = {"ended": "Complete"}
        for index in range(spec.get("completions", 1)):
            for attempt in range(1 + spec.get("backoffLimitPerIndex", 0)):
                code, status["log"] = self.run_pod(spec["template"]["spec"], index, attempt)
                if code not in final:
                    break
            status["exit"] = code
            if code != 0:
                status["ended"] = "Failed"
        return status

    def run_pod(self, pod: dict, index: int, attempt: int) -> tuple[int, str]:
        [container] = pod["containers"]
        places = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
        volumes = {volume["name"]: volume for volume in pod["volumes"]}
        data = json.loads((self.folder / f"ConfigMap-{volumes['fleet']['configMap']['name']}.json").read_text())["data"]
        mount = self.folder / "mount"
        unpack({name: text.encode() for name, text in data.items()}, mount)
        interpreter, script = container["command"]
        assert interpreter == "/bin/bash" and "claimName" in volumes["results"]["persistentVolumeClaim"]
        text = data[script.removeprefix(places["fleet"] + "/")].replace(places["fleet"] + "/", f"{mount}/")
        text = text.replace(places["results"], str(self.folder / "volume"))
        environment = {entry["name"]: entry.get("value", f"pod-{index}-{attempt}") for entry in container["env"]}
        key = data.get("cells.tsv", "").split("\n")[index].split("\t")[0]
        if key and key == os.environ["FAKE_LOSE"]:
            return 137, ""
        done = self.checkout.bash(text, self.checkout.workspace(), {**environment, "JOB_COMPLETION_INDEX": str(index)})
        sys.stderr.write(done.stderr)
        return done.returncode, done.stdout

    def status(self, job: str) -> dict:
        file = self.folder / f"status-{job}.json"
        return json.loads(file.read_text()) if file.exists() else {}


def kubectl(arguments: list[str]) -> int:
    cluster = Cluster(pathlib.Path(os.environ["FAKE_CLUSTER"]))
    if arguments[:2] == ["-n", "default"]:
        arguments = arguments[2:]
    match arguments:
        case ["apply", "-f", "-"]:
            cluster.apply(json.load(sys.stdin)["items"])
        case ["get", "job", job, "-o", "jsonpath={.status.conditions[*].type}"]:
            ended = cluster.status(job).get("ended", "")
            print({"Complete": "SuccessCriteriaMet Complete", "Failed": "FailureTarget Failed"}.get(ended, ""))
        case ["logs", job]:
            print(cluster.status(job.removeprefix("job/"))["log"])
        case ["get", "pods", "-l", label, "-o", path]:
            assert path == "jsonpath={.items[0].status.containerStatuses[0].state.terminated.exitCode}"
            print(cluster.status(label.removeprefix("job-name="))["exit"])
        case _:
            print(f"kubectl: {arguments}: not played here", file=sys.stderr)
            return 9
    return 0


def run_kubernetes(checkout: Checkout, lose: str = "") -> Result:
    submit = checkout.emit("kubernetes")[-1]
    cluster, tools = checkout.folder / "cluster", checkout.folder / "tools"
    cluster.mkdir()
    tools.mkdir()
    (tools / "kubectl").write_text(f"#!/bin/bash\nexec {sys.executable} {pathlib.Path(__file__).resolve()} {BIN} kubectl \"$@\"\n")
    (tools / "kubectl").chmod(0o755)
    done = checkout.bash(f"bash {submit} run-7", checkout.source,
                         {"FAKE_CLUSTER": str(cluster), "FAKE_LOSE": lose})
    result = Result()
    result.report, result.green, result.stderr = done.returncode, done.returncode == 0, done.stderr
    for cell in ("cpu.a", "cpu.b"):
        codes = [int(each.read_text()) for each in sorted((cluster / "volume/run-7" / cell).glob("*/exit_code"))]
        if codes:
            result.codes[cell] = codes
    result.report_files = tree(cluster / "volume/run-7/report")
    result.extra["log"] = done.stdout
    return result


class DryRun(unittest.TestCase):
    """One story an engine: what each cell and the report exit with, and whether the build is green."""

    def play(self, engine, second: str, lose: str = "") -> Result:
        if engine is run_github:
            try:
                import yaml  # noqa: F401
            except ImportError:
                self.skipTest("the Python package yaml is missing (Debian: python3-yaml)")
        # Kubernetes mounts at paths of ours, which have no space.
        with tempfile.TemporaryDirectory(prefix="assay-" if engine is run_kubernetes else "assay fleet ") as folder:
            return engine(Checkout(pathlib.Path(folder)).fill(second), lose)

    def expect(self, engine, second: str, codes: list, report: int, green: bool, lose: str = "") -> Result:
        result = self.play(engine, second, lose)
        told = f"{engine.__name__} {second}\n{result.stderr}"
        self.assertEqual([result.codes.get("cpu.a"), result.codes.get("cpu.b")], codes, told)
        self.assertEqual(result.report, report, told)
        self.assertEqual(result.green, green, told)
        for name in ("record.json", "verdict.json", "report.md", "report.html", "junit.xml"):
            self.assertIn(name, result.report_files, told)
        cells = [cell["key"] for cell in json.loads(result.report_files["record.json"])["cells"]]
        self.assertEqual(cells, ["cpu.a", "cpu.b"], told)
        self.assertEqual(json.loads(result.report_files["verdict.json"])["exit_code"], report, told)
        return result

    def tell(self, engine) -> dict[str, Result]:
        return {"passes": self.expect(engine, "passes", [[0], [0]], 0, True),
                "fails": self.expect(engine, "fails", [[0], [1]], 1, False),
                "lost": self.expect(engine, "lost", [[0], [75, 75]], 75, False),
                "gone": self.expect(engine, "passes", [[0], None], 75, False, lose="cpu.b")}

    def test_buildkite(self):
        results = self.tell(run_buildkite)
        self.assertTrue(results["passes"].extra["annotation"].startswith("annotate --context assay --style success\n"))
        self.assertTrue(results["fails"].extra["annotation"].startswith("annotate --context assay --style error\n"))
        self.assertIn("cpu.b", results["fails"].extra["annotation"])

    def test_gitlab(self):
        self.tell(run_gitlab)

    def test_github(self):
        results = self.tell(run_github)
        self.assertIn("::warning title=cpu.b::exit code 1; the report decides", results["fails"].extra["output"])
        self.assertIn("cpu.b", results["fails"].extra["summary"])

    def test_kubernetes(self):
        results = self.tell(run_kubernetes)
        self.assertIn("FAIL", results["fails"].extra["log"])


if __name__ == "__main__":
    if sys.argv[1:2] == ["kubectl"]:
        sys.exit(kubectl(sys.argv[2:]))
    unittest.main()
