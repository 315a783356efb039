#!/usr/bin/env python3
"""Keeps one comment of a run's report on a pull request (GitHub) or merge request (GitLab). Python's standard library only.

  comment.py github --run out/pr --pr 12          comment.py gitlab --run out/pr --mr 12

The comment is edited in place, which notifies nobody. When the verdict turns to FAIL a new one is written, which does.
It is found again by its first line, <!-- assay:summary:NAME -->, among the comments of the same author.

  --run DIR          a run's folder: report.md and verdict.json are read from it, nothing else
  --name NAME        one comment for each name, so that several pipelines do not overwrite each other (default: assay)
  --pr N, --mr N     number; or --pr-file FILE with the number in it
  --link URL         where the whole report is; shown when it was too long (default: the CI job)
  --untrusted        the folder comes from somebody's fork: mentions, images, comments and other markup are defused
  --event FILE       GitHub's workflow_run event: the pull request must be the one that the event's run measured
  --author LOGIN     GitHub: who the comment belongs to (default: github-actions[bot])
  --dry-run          print the comment, send nothing

GitHub reads GITHUB_TOKEN, GITHUB_REPOSITORY and GITHUB_API_URL; GitLab ASSAY_GITLAB_TOKEN (scope api), CI_PROJECT_ID and CI_API_V4_URL.
Exit code: 0 done, 1 refused by the service, 2 wrong input, 75 the service cannot be reached."""

import argparse
import dataclasses
import json
import os
import pathlib
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

LIMIT = 60_000  # GitHub refuses comments of more than 65,536 characters
LARGEST_FILE = 8 << 20
OUTCOMES = ("PASS", "INCONCLUSIVE", "FAIL", "INVALID", "INFRASTRUCTURE")
INVISIBLE = "\u200b"


class Wrong(Exception):
    """A message for the user, and the exit code that goes with it."""

    def __init__(self, code: int, message: str):
        super().__init__(message)
        self.code = code


# --- what is said ---

def read_small(path: pathlib.Path) -> str:
    if path.is_symlink() or not path.is_file():
        raise Wrong(2, f"{path}: no such file; --run wants the folder that assay run --out wrote")
    if path.stat().st_size > LARGEST_FILE:
        raise Wrong(2, f"{path}: larger than {LARGEST_FILE} bytes")
    return path.read_text(encoding="utf-8", errors="replace")


def outcome_of(run: pathlib.Path) -> str:
    path = run / "verdict.json"
    try:
        outcome = json.loads(read_small(path))["outcome"]
    except (ValueError, KeyError, TypeError) as error:
        raise Wrong(2, f"{path}: not a verdict: {error!r}") from error
    if outcome not in OUTCOMES:
        raise Wrong(2, f"{path}: outcome must be one of {', '.join(OUTCOMES)}")
    return outcome


def defuse(text: str) -> str:
    """Text of a stranger: it may format, and neither call people, refer to issues, load, link, nor hide anything."""
    text = "".join(c for c in text if c in "\n\t" or c.isprintable())
    text = re.sub(r"<(?!/?(?:details|summary)>)", "&lt;", text)  # the two tags that reports fold with
    text = re.sub(r"!?\[([^\]\n]*)\]\([^)\n]*\)", r"\1", text)  # a link is its text
    # GitHub looks for mentions and references in the rendered text, where &#64; is an @ again.
    text = re.sub(r"&(?=#|commat|num)", "&" + INVISIBLE, text)
    text = re.sub(r"(?i)(@|#(?=\d)|\bgh-(?=\d))", r"\1" + INVISIBLE, text)
    text = re.sub(r"\]\s*(?=[(\[:])", "]" + INVISIBLE, text)  # no links, images or their definitions
    return re.sub(r"(?i)\b(https?|ftp|www)(?=://|\.)", r"\1" + INVISIBLE, text)


def cut(text: str, link: str) -> str:
    """At most LIMIT characters, cut between lines, with what was open closed again."""
    if len(text) <= LIMIT:
        return text
    kept = text[:LIMIT - 300]
    kept = kept[:kept.rfind("\n") + 1] or kept
    if len(re.findall(r"(?m)^ *```", kept)) % 2:
        kept += "```\n"
    kept += "\n</details>" * (kept.count("<details>") - kept.count("</details>"))
    where = f"[The whole report]({link})" if link else "The whole report is among the run's files"
    return f"{kept}\n\n{where}; it has {len(text):,} characters, and a comment takes fewer.\n"


def marker(name: str) -> str:
    return f"<!-- assay:summary:{name} -->"


def compose(name: str, outcome: str, report: str, link: str) -> str:
    return f"{marker(name)}\n<!-- assay:outcome:{outcome} -->\n{cut(report, link)}"


def outcome_in(body: str) -> str:
    found = re.match(r"[^\n]*\n<!-- assay:outcome:([A-Z]+) -->", body.replace("\r\n", "\n"))
    return found.group(1) if found else ""


# --- whom it is said to ---

class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):  # it would carry the token to another address
        return None


class Service:
    """JSON over HTTP. A failure becomes a sentence that says what to do; the token is never part of it."""

    def __init__(self, name: str, api: str, headers: dict, help_by_status: dict, patience: float = 1.0):
        self.name, self.api, self.headers, self.help, self.patience = name, api.rstrip("/"), headers, help_by_status, patience
        self.opener = urllib.request.build_opener(_NoRedirect)

    def call(self, method: str, path: str, body: dict | None = None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.api + path, data, {**self.headers, "Content-Type": "application/json"}, method=method)
        what = f"{self.name}: {method} {path.split('?')[0]}"
        for attempt in range(4):
            try:
                with self.opener.open(request, timeout=30) as answer:
                    return json.loads(answer.read() or b"null")
            except urllib.error.HTTPError as error:
                failure = self._refusal(what, error)
                # A POST that ended in 5xx may have been carried out; a second comment would notify twice.
                again = error.code in (429, 502, 503, 504) and (method != "POST" or error.code == 429)
                wait = float(error.headers.get("Retry-After") or 0) if (error.headers.get("Retry-After") or "0").isdigit() else 0
            except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
                failure = Wrong(75, f"{what}: {getattr(error, 'reason', error)}; is {self.api} right?")
                again, wait = method != "POST", 0
            except ValueError as error:
                raise Wrong(75, f"{what}: the answer is not JSON; is {self.api} right?") from error
            if not again or attempt == 3:
                raise failure
            time.sleep(min(60.0, max(wait, 2**attempt)) * self.patience)

    def _refusal(self, what: str, error: urllib.error.HTTPError) -> Wrong:
        try:
            said = json.loads(error.read(65536)).get("message", "")
        except (ValueError, AttributeError):
            said = ""
        advice = self.help.get(error.code, "")
        text = f"{what}: {error.code} {str(said)[:300] or error.reason}" + (f"; {advice}" if advice else "")
        return Wrong(75 if error.code == 429 or error.code >= 500 else 1, text)

    def pages(self, path: str):
        """Every element of a list that comes a hundred at a time."""
        for page in range(1, 101):
            elements = self.call("GET", f"{path}?per_page=100&page={page}")
            yield from elements
            if len(elements) < 100:
                return


@dataclasses.dataclass
class Comment:
    id: int
    body: str


class GitHub:
    def __init__(self, service: Service, repository: str, number: int, author: str):
        if not re.fullmatch(r"[\w.-]+/[\w.-]+", repository):
            raise Wrong(2, f"repository must be owner/name, got {repository!r} (GITHUB_REPOSITORY)")
        self.service, self.repo, self.number, self.author = service, f"/repos/{repository}", number, author

    def mine(self):
        for c in self.service.pages(f"{self.repo}/issues/{self.number}/comments"):
            if c["user"] and c["user"]["login"] == self.author:
                yield Comment(c["id"], c["body"] or "")

    def create(self, body: str) -> str:
        return self.service.call("POST", f"{self.repo}/issues/{self.number}/comments", {"body": body})["html_url"]

    def edit(self, comment: Comment, body: str) -> str:
        return self.service.call("PATCH", f"{self.repo}/issues/comments/{comment.id}", {"body": body})["html_url"]

    def check_event(self, event: dict) -> None:
        """The number came out of an artifact, which a fork writes as it likes; the event is GitHub's own word."""
        try:
            run = event["workflow_run"]
            measured = (run["head_repository"]["full_name"], run["head_branch"], run["head_sha"])
        except (KeyError, TypeError) as error:
            raise Wrong(2, f"--event: not a workflow_run event: {error!r}") from error
        if run.get("event") != "pull_request":
            raise Wrong(2, f"--event: the run was started by {run.get('event')!r}, not by a pull request")
        head = self.service.call("GET", f"{self.repo}/pulls/{self.number}")["head"]
        claimed = ((head["repo"] or {}).get("full_name"), head["ref"], head["sha"])
        if claimed[:2] != measured[:2]:
            raise Wrong(2, f"pull request {self.number} is of {claimed[0]}:{claimed[1]}, and the run measured "
                           f"{measured[0]}:{measured[1]}: nothing was posted")
        if claimed[2] != measured[2]:
            raise Wrong(0, f"pull request {self.number} has moved on to {claimed[2][:12]}; the run measured {measured[2][:12]}: "
                           "nothing was posted")


class GitLab:
    def __init__(self, service: Service, project: str, number: int):
        self.service = service
        self.notes = f"/projects/{urllib.parse.quote(project, safe='')}/merge_requests/{number}/notes"

    def mine(self):
        me = self.service.call("GET", "/user")["id"]
        found = [n for n in self.service.pages(self.notes) if not n.get("system") and n["author"]["id"] == me]
        for n in sorted(found, key=lambda n: n["id"]):  # GitLab lists the newest first
            yield Comment(n["id"], n["body"])

    def create(self, body: str) -> str:
        return f"note {self.service.call('POST', self.notes, {'body': body})['id']}"

    def edit(self, comment: Comment, body: str) -> str:
        return f"note {self.service.call('PUT', f'{self.notes}/{comment.id}', {'body': body})['id']}"


def publish(place, name: str, outcome: str, body: str) -> str:
    """Edits the newest comment; a new one only for the first report and when the verdict turns to FAIL."""
    earlier = [c for c in place.mine() if c.body.splitlines()[:1] == [marker(name)]]
    if not earlier:
        return f"wrote {place.create(body)}"
    if outcome == "FAIL" and outcome_in(earlier[-1].body) != "FAIL":
        return f"turned to FAIL: wrote {place.create(body)}"
    return f"edited {place.edit(earlier[-1], body)}"


# --- command line ---

def github_service(token: str, api: str, patience: float) -> Service:
    return Service("GitHub", api, {
        "Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28",
        "User-Agent": "assay-comment"
    }, {
        401: "GITHUB_TOKEN is wrong or has expired",
        403: "the token may not write here: the job needs `permissions: pull-requests: write`, and the token of a fork's pull request "
             "never has it (post from a workflow_run workflow)",
        404: "no such pull request, or the token cannot see the repository",
    }, patience)


def gitlab_service(token: str, api: str, patience: float) -> Service:
    return Service("GitLab", api, {"PRIVATE-TOKEN": token, "User-Agent": "assay-comment"}, {
        401: "ASSAY_GITLAB_TOKEN is wrong or has expired; a job token cannot write notes",
        403: "ASSAY_GITLAB_TOKEN needs the scope api and the role Reporter or higher",
        404: "no such project or merge request, or the token cannot see it",
    }, patience)


def needed(variable: str) -> str:
    value = os.environ.get(variable, "")
    if not value:
        raise Wrong(2, f"{variable} is not set")
    return value


def number_of(arguments) -> int:
    text = arguments.number or ""
    if arguments.number_file:
        text = read_small(arguments.number_file).strip()
    if not re.fullmatch(r"[1-9][0-9]{0,8}", text):
        raise Wrong(2, f"the number of the pull request must be digits, got {text[:40]!r}")
    return int(text)


def main(argv: list[str], patience: float = 1.0) -> int:
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    parser.add_argument("to", choices=("github", "gitlab"))
    parser.add_argument("--run", type=pathlib.Path, required=True)
    parser.add_argument("--name", default="assay")
    parser.add_argument("--pr", "--mr", dest="number")
    parser.add_argument("--pr-file", dest="number_file", type=pathlib.Path)
    parser.add_argument("--link", default=os.environ.get("CI_JOB_URL", ""))
    parser.add_argument("--untrusted", action="store_true")
    parser.add_argument("--event", type=pathlib.Path)
    parser.add_argument("--author", default="github-actions[bot]")
    parser.add_argument("--dry-run", action="store_true")
    if not argv or "--help" in argv:
        print(__doc__)
        return 0 if argv else 2
    arguments = parser.parse_args(argv)
    try:
        if not re.fullmatch(r"[a-z0-9_.-]{1,64}", arguments.name):
            raise Wrong(2, f"--name: lower-case letters, digits, _ . and - only, got {arguments.name!r}")
        outcome = outcome_of(arguments.run)
        report = read_small(arguments.run / "report.md")
        body = compose(arguments.name, outcome, defuse(report) if arguments.untrusted else report, arguments.link)
        if arguments.untrusted and arguments.link:
            body += f"\n[The run that measured this]({arguments.link})\n"
        if arguments.dry_run:
            print(body)
            return 0
        number = number_of(arguments)
        if arguments.to == "github":
            service = github_service(needed("GITHUB_TOKEN"), os.environ.get("GITHUB_API_URL") or "https://api.github.com", patience)
            place = GitHub(service, needed("GITHUB_REPOSITORY"), number, arguments.author)
            if arguments.event:
                place.check_event(json.loads(read_small(arguments.event)))
        else:
            service = gitlab_service(needed("ASSAY_GITLAB_TOKEN"), needed("CI_API_V4_URL"), patience)
            place = GitLab(service, needed("CI_PROJECT_ID"), number)
        print(f"comment.py: {publish(place, arguments.name, outcome, body)}")
        return 0
    except Wrong as wrong:
        print(f"comment.py: {wrong}", file=sys.stderr)
        return wrong.code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
