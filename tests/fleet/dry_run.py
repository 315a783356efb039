#!/usr/bin/env python3
"""Runs every step of emitted Buildkite, GitLab, GitHub and Kubernetes files with bash, on two cells on this machine,
and Slurm's report.

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

    def __init__(self, folder: pathlib.Path, bare: bool = False):
        """`bare`: jobs have no assay in their PATH until their --setup put it there."""
        self.folder = folder
        self.source = folder / "source"
        self.bare = bare

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
        """What an agent gives a job: little, and a PATH, with assay in it unless it is bare."""
        path = [str(self.folder / "tools")] + ([] if self.bare else [str(BIN)])
        path += [each for each in os.environ["PATH"].split(":") if not (pathlib.Path(each) / "assay").exists()]
        return {"PATH": ":".join(path), "HOME": str(self.folder), "LANG": "C.UTF-8", **more}

    def emit(self, engine: str, *flags: str) -> list[pathlib.Path]:
        command = [str(BIN / "assay"), "ci", "emit", "--to", engine, "my configs", "--no-store", "--out", str(self.folder / "ci"), *flags]
        if self.bare:
            command += ["--setup", f'  export PATH="{BIN}:$PATH"', "--setup", "assay --version >/dev/null"]
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
  "artifact download") cd "$FAKE_ARTIFACTS" && shopt -s globstar nullglob && files=($3) && [ ${#files[@]} -gt 0 ] || exit 1
    cp -r --parents "${files[@]}" "$OLDPWD" ;;
  annotate*) echo "$*" > "$FAKE_ANNOTATION"; cat >> "$FAKE_ANNOTATION" ;;
  *) exit 9 ;;
esac
"""


def run_buildkite(checkout: Checkout, lose: str = "", name: str = "assay", flags: tuple = ()) -> Result:
    """`lose` is a cell whose agent disappears: nothing of it runs to its end."""
    tools = checkout.folder / "tools"
    tools.mkdir(exist_ok=True)
    (tools / "buildkite-agent").write_text(BUILDKITE_AGENT)
    (tools / "buildkite-agent").chmod(0o755)
    [file] = checkout.emit("buildkite", *flags)
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
            assert step["artifact_paths"] == [f"assay-out/{name}/**/*"]
            kept = {file: content for file, content in tree(folder).items() if file.startswith(f"assay-out/{name}/")}
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
    [made] = report["artifact_paths"]
    made = folder / made.removesuffix("/**/*")
    result.report_files = tree(made) if made.exists() else {}
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
    """As much of kubectl as submit.sh asks for. Jobs run when they are created; its state is a folder."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        self.checkout = Checkout(folder.parent, bare="FAKE_BARE" in os.environ)

    def create(self, objects: list) -> None:
        for each in objects:
            name = each["metadata"]["name"]
            assert re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,57}[a-z0-9])?", name), name
            (self.folder / f"{each['kind']}-{name}.json").write_text(json.dumps(each))
        for job in objects:
            name = job["metadata"]["name"]
            if job["kind"] == "Job" and not name.startswith(os.environ.get("FAKE_PENDING", "nothing")):
                (self.folder / f"status-{name}.json").write_text(json.dumps(self.run_job(job["spec"])))

    def names(self, label: str) -> list[str]:
        """As `get -o name` has them, of those with a label."""
        found = []
        for file in sorted(self.folder.glob("Job-*")) + sorted(self.folder.glob("ConfigMap-*")):
            metadata = json.loads(file.read_text())["metadata"]
            if label in [f"{key}={value}" for key, value in metadata["labels"].items()]:
                found.append(f"{'job.batch' if file.name.startswith('Job-') else 'configmap'}/{metadata['name']}")
        return found

    @staticmethod
    def fails_index(spec: dict, code: int) -> bool:
        """The first rule that a failed pod matches decides: NotIn matches the codes that are not among its values."""
        for rule in spec.get("podFailurePolicy", {}).get("rules", []):
            if "onExitCodes" not in rule:
                continue
            listed = code in rule["onExitCodes"]["values"]
            if listed == {"In": True, "NotIn": False}[rule["onExitCodes"]["operator"]]:
                return rule["action"] == "FailIndex"
        return False

    def run_job(self, spec: dict) -> dict:
        """Exit code and output of its last pod, and whether every index came to a good end."""
        status = {"ended": "Complete"}
        for index in range(spec.get("completions", 1)):
            for attempt in range(1 + spec.get("backoffLimitPerIndex", 0)):
                code, status["log"] = self.run_pod(spec["template"]["spec"], index, attempt)
                if code == 0 or self.fails_index(spec, code):
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
        text = data[script.removeprefix(places["fleet"] + "/")]
        for place, here in ((places["fleet"], mount), (places["results"], self.folder / "volume")):
            # Not inside another path: a checkout may well be called assay.
            text = re.sub(rf"(?<![\w./-]){re.escape(place)}(?![\w.-])", str(here), text)
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


STATE = "jsonpath={.status.conditions[*].type}/{.status.active} {.status.ready} {.status.succeeded} {.status.failed}"


def kubectl(arguments: list[str]) -> int:
    """FAKE_FAILS is a command, or one and what it is of, that the server refuses, as it would be told: exit code 1."""
    cluster = Cluster(pathlib.Path(os.environ["FAKE_CLUSTER"]))
    if arguments[:3] == ["-n", "default", "--request-timeout=60s"]:
        arguments = arguments[3:]
    if fails := os.environ.get("FAKE_FAILS"):
        if " ".join(arguments).startswith(fails):
            print("Error from server (Forbidden): not allowed", file=sys.stderr)
            return 1
    match arguments:
        case ["create", "-f", "-"]:
            objects = json.load(sys.stdin)["items"]
            for each in objects:
                if (cluster.folder / f"{each['kind']}-{each['metadata']['name']}.json").exists():
                    print(f"Error from server (AlreadyExists): error when creating \"STDIN\": {each['kind']} already exists", file=sys.stderr)
                    return 1
            cluster.create(objects)
        case ["get", "jobs,configmaps", "-l", label, "-o", "name"]:
            if "FAKE_BLIND" not in os.environ:  # somebody else creates the same a moment later
                print("\n".join(cluster.names(label)))
        case ["get", "job", job, "--ignore-not-found", "-o", path]:
            assert path == STATE, path
            if (cluster.folder / f"Job-{job}.json").exists() and not job.startswith(os.environ.get("FAKE_DELETED", "nothing")):
                ended = cluster.status(job).get("ended", "")
                print({"Complete": "SuccessCriteriaMet Complete/ 0 2", "Failed": "FailureTarget Failed/ 0 1 1"}.get(ended, "/1 0"))
        case ["delete", "job", job, "--ignore-not-found", "--wait=false"]:
            (cluster.folder / f"Job-{job}.json").unlink()
        case ["logs", job]:
            print(cluster.status(job.removeprefix("job/"))["log"])
        case ["get", "pods", "-l", label, "-o", path]:
            assert path == "jsonpath={.items[0].status.containerStatuses[0].state.terminated.exitCode}"
            print(os.environ.get("FAKE_EXIT", cluster.status(label.removeprefix("job-name="))["exit"]))
        case _:
            print(f"kubectl: {arguments}: not played here", file=sys.stderr)
            return 9
    return 0


# Time that passes only in `sleep`, a minute a second, so that hours are waited for at once.
CLOCK = {"sleep": 'read -r now < "$FAKE_CLOCK"; echo "$((now + 60 * $1))" > "$FAKE_CLOCK"',
         "date": '[ "$1" = +%s ] || exec /bin/date "$@"; cat "$FAKE_CLOCK"'}


def run_kubernetes(checkout: Checkout, lose: str = "", run: str = "run-7", **fakes: str) -> Result:
    submit = checkout.emit("kubernetes")[-1]
    cluster, tools = checkout.folder / "cluster", checkout.folder / "tools"
    cluster.mkdir(exist_ok=True)
    tools.mkdir(exist_ok=True)
    (checkout.folder / "clock").write_text("0\n")
    scripts = {**CLOCK, "kubectl": f"exec {sys.executable} {pathlib.Path(__file__).resolve()} {BIN} kubectl \"$@\""}
    for name, script in scripts.items():
        (tools / name).write_text(f"#!/bin/bash\n{script}\n")
        (tools / name).chmod(0o755)
    environment = {"FAKE_CLUSTER": str(cluster), "FAKE_LOSE": lose, "FAKE_CLOCK": str(checkout.folder / "clock"), **fakes}
    if checkout.bare:
        environment["FAKE_BARE"] = "1"
    done = checkout.bash(f"bash {submit} {run}", checkout.source, environment)
    result = Result()
    result.extra["minutes"] = str(int((checkout.folder / "clock").read_text()) // 60)
    result.report, result.green, result.stderr = done.returncode, done.returncode == 0, done.stderr
    for cell in ("cpu.a", "cpu.b"):
        codes = [int(each.read_text()) for each in sorted((cluster / "volume/run-7" / cell).glob("*/exit_code"))]
        if codes:
            result.codes[cell] = codes
    result.report_files = tree(cluster / "volume/run-7/report")
    result.extra["log"] = done.stdout
    return result


# ---- Slurm


def slurm_reports(checkout: Checkout) -> list[subprocess.CompletedProcess]:
    """The report job, run and requeued: the same script in the same place. tests/slurm has the rest, on a cluster."""
    checkout.emit("slurm")
    fleet, results = checkout.folder / "ci", checkout.folder / "results"
    for cell in ("cpu.a", "cpu.b"):
        command = ["assay", "run", "my configs", "--no-store", "--cell", cell, "--out", str(results / cell / "attempt-1")]
        subprocess.run(command, cwd=checkout.source, env=checkout.environment({}), capture_output=True, check=True)
    return [checkout.bash(f'bash "{fleet}/report.sbatch" "{fleet}" "{results}"', checkout.source, {}) for _ in range(2)]


class DryRun(unittest.TestCase):
    """One story an engine: what each cell and the report exit with, and whether the build is green."""

    def play(self, engine, second: str, lose: str = "", bare: bool = False) -> Result:
        if engine is run_github:
            try:
                import yaml  # noqa: F401
            except ImportError:
                self.skipTest("the Python package yaml is missing (Debian: python3-yaml)")
        # Kubernetes mounts at paths of ours, which have no space.
        with tempfile.TemporaryDirectory(prefix="assay-" if engine is run_kubernetes else "assay fleet ") as folder:
            return engine(Checkout(pathlib.Path(folder), bare).fill(second), lose)

    def expect(self, engine, second: str, codes: list, report: int, green: bool, lose: str = "", bare: bool = False) -> Result:
        result = self.play(engine, second, lose, bare)
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
                "gone": self.expect(engine, "passes", [[0], None], 75, False, lose="cpu.b"),
                "bare": self.expect(engine, "passes", [[0], [0]], 0, True, bare=True)}

    def test_buildkite(self):
        results = self.tell(run_buildkite)
        self.assertTrue(results["passes"].extra["annotation"].startswith("annotate --context assay --style success\n"))
        self.assertTrue(results["fails"].extra["annotation"].startswith("annotate --context assay --style error\n"))
        self.assertIn("cpu.b", results["fails"].extra["annotation"])

    def test_buildkite_with_two_fleets_in_a_build(self):
        """Each has a cell that the other's table does not list."""
        with tempfile.TemporaryDirectory(prefix="assay fleet ") as folder:
            checkout = Checkout(pathlib.Path(folder)).fill("passes")
            for name, other in (("first", "b.yaml"), ("second", "a.yaml")):
                (checkout.source / "my configs" / other).rename(checkout.folder / other)
                result = run_buildkite(checkout, name=name, flags=("--name", name))
                (checkout.folder / other).rename(checkout.source / "my configs" / other)
                self.assertEqual(result.report, 0, result.stderr)
                self.assertEqual(len(json.loads(result.report_files["record.json"])["cells"]), 1)

    def test_gitlab(self):
        self.tell(run_gitlab)

    def test_github(self):
        results = self.tell(run_github)
        self.assertIn("::warning title=cpu.b::exit code 1; the report decides", results["fails"].extra["output"])
        self.assertIn("cpu.b", results["fails"].extra["summary"])

    def test_kubernetes(self):
        results = self.tell(run_kubernetes)
        self.assertIn("FAIL", results["fails"].extra["log"])

    def submit(self, told: str, code: int, **fakes: str) -> Result:
        """submit.sh of two cells that pass, in a cluster where something goes wrong."""
        with tempfile.TemporaryDirectory(prefix="assay-") as folder:
            result = run_kubernetes(Checkout(pathlib.Path(folder)).fill("passes"), **fakes)
        self.assertEqual(result.report, code, f"{fakes}\n{result.stderr}")
        self.assertIn(told, result.stderr)
        return result

    def test_kubernetes_does_not_answer_for_an_earlier_run(self):
        with tempfile.TemporaryDirectory(prefix="assay-") as folder:
            checkout = Checkout(pathlib.Path(folder)).fill("passes")
            self.assertEqual(run_kubernetes(checkout).report, 0)
            for fakes in ({}, {"FAKE_BLIND": "1"}):
                again = run_kubernetes(checkout, **fakes)
                self.assertEqual(again.report, 2, again.stderr)
                self.assertIn("run run-7 is there already and is not measured again", again.stderr)
                self.assertEqual(again.extra["log"], "")
            self.assertEqual(again.codes, {"cpu.a": [0], "cpu.b": [0]}, "nothing was measured once more")

    def test_kubernetes_takes_no_failure_of_kubectl_for_a_verdict(self):
        self.submit("kubectl does not answer", 75, FAKE_FAILS="get jobs")
        self.submit("kubectl create was refused", 75, FAKE_FAILS="create")
        self.submit("log cannot be read", 75, FAKE_FAILS="logs")
        self.submit("has no exit code of assay: none", 75, FAKE_FAILS="get pods")
        self.submit("has no exit code of assay: none", 75, FAKE_EXIT="")
        self.submit("has no exit code of assay: 137", 75, FAKE_EXIT="137")
        for run in ("Run-1", "a/b", "-a", "a-", "x" * 64):
            self.submit(f"RUN {run}", 2, run=run)

    def test_kubernetes_does_not_wait_for_ever(self):
        """60 minutes a cell and 30 for the report, twice, and ten."""
        pending = self.submit("job assay-cpu-run-7: nothing happened for 130 minutes", 75, FAKE_PENDING="assay-cpu")
        self.assertIn("no folder of cpu.a is there", pending.report_files["verdict.json"].decode())
        self.assertEqual(pending.extra["minutes"], "130")
        self.submit("there is no report", 75, FAKE_PENDING="assay-report")
        self.assertEqual(self.submit("there is no report", 75, FAKE_FAILS="get job assay").extra["minutes"], "200")
        self.submit("job assay-report-run-7 was deleted", 75, FAKE_DELETED="assay-report")
        self.submit("job assay-cpu-run-7 was deleted", 0, FAKE_DELETED="assay-cpu")  # after all was measured

    def test_a_pods_exit_code_is_looked_up_as_the_operator_says(self):
        def spec(operator):
            return {"podFailurePolicy": {"rules": [
                {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]},
                {"action": "FailIndex", "onExitCodes": {"operator": operator, "values": [75]}}]}}
        self.assertEqual([Cluster.fails_index(spec("NotIn"), code) for code in (75, 2, 137)], [False, True, True])
        self.assertEqual([Cluster.fails_index(spec("In"), code) for code in (75, 2, 137)], [True, False, False])

    def test_slurm_makes_its_report_again(self):
        with tempfile.TemporaryDirectory(prefix="assay fleet ") as folder:
            for done in slurm_reports(Checkout(pathlib.Path(folder)).fill("passes")):
                self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    if sys.argv[1:2] == ["kubectl"]:
        sys.exit(kubectl(sys.argv[2:]))
    unittest.main()
