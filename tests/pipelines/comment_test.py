#!/usr/bin/env python3
"""ci/pipelines/comment.py against a scripted GitHub and GitLab: who is notified, when, and what a stranger's report may do."""

import contextlib
import io
import json
import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "ci/pipelines"), str(ROOT / "tests/pipelines")]
import comment  # noqa: E402
from forge import Forge  # noqa: E402

MARKER = "<!-- assay:summary:assay -->"


class CommentTest(unittest.TestCase):
    def setUp(self):
        self.forge = Forge()
        self.addCleanup(self.forge.close)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.run_folder = pathlib.Path(folder.name)
        self.env = {
            "GITHUB_TOKEN": "right", "GITHUB_REPOSITORY": "org/repo", "GITHUB_API_URL": self.forge.url,
            "ASSAY_GITLAB_TOKEN": "right", "CI_PROJECT_ID": "group/repo", "CI_API_V4_URL": self.forge.url,
        }

    def write(self, outcome: str, report: str = "## the report\n") -> None:
        (self.run_folder / "verdict.json").write_text(json.dumps({"outcome": outcome}))
        (self.run_folder / "report.md").write_text(report)

    def call(self, *arguments: str) -> int:
        out, err = io.StringIO(), io.StringIO()
        with mock.patch.dict(os.environ, self.env), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = comment.main([*arguments, "--run", str(self.run_folder)], patience=0)
            except SystemExit as ended:
                code = ended.code
        self.out, self.err = out.getvalue(), err.getvalue()
        return code

    def post(self, outcome: str, *arguments: str, to: str = "github", report: str = "## the report\n") -> int:
        self.write(outcome, report)
        return self.call(to, "--pr", "12", *arguments)

    def bodies(self) -> list[str]:
        return [c["body"] for c in self.forge.comments]


class Sticky(CommentTest):
    def check_story(self, to: str):
        story = [
            # outcome, comments there afterwards, what was sent
            ("PASS", 1, "POST"),
            ("INCONCLUSIVE", 1, "EDIT"),
            ("FAIL", 2, "POST"),  # turned red: somebody is told
            ("FAIL", 2, "EDIT"),  # still red: nobody is told again
            ("PASS", 2, "EDIT"),
            ("INVALID", 2, "EDIT"),
            ("FAIL", 3, "POST"),
        ]
        for outcome, count, sent in story:
            self.forge.requests.clear()
            self.assertEqual(self.post(outcome, to=to, report=f"## it is {outcome}\n"), 0, self.err)
            self.assertEqual(len(self.forge.comments), count, outcome)
            edit = "PATCH" if to == "github" else "PUT"
            self.assertEqual(self.forge.writes(), [edit if sent == "EDIT" else sent], outcome)
            self.assertIn(f"## it is {outcome}", self.bodies()[-1])
            self.assertEqual(self.bodies()[-1].splitlines()[0], MARKER)
        self.assertIn("## it is INCONCLUSIVE", self.bodies()[0])  # the first stayed as it was when red came
        self.assertIn("## it is INVALID", self.bodies()[1])

    def test_github_is_told_of_a_turn_to_red_and_of_nothing_else(self):
        self.check_story("github")

    def test_gitlab_is_told_of_a_turn_to_red_and_of_nothing_else(self):
        self.check_story("gitlab")

    def test_comments_of_others_with_the_same_marker_stay_untouched(self):
        self.forge.add("mallory", f"{MARKER}\n<!-- assay:outcome:FAIL -->\nmine")
        self.forge.add("github-actions[bot]", f"quoting:\n{MARKER}")
        self.assertEqual(self.post("FAIL"), 0, self.err)
        self.assertEqual(self.forge.writes(), ["POST"])
        self.assertTrue(self.bodies()[0].endswith("mine"))

    def test_two_pipelines_keep_a_comment_each(self):
        self.post("PASS", "--name", "mi355")
        self.post("PASS", "--name", "h200")
        self.post("INVALID", "--name", "mi355", report="changed")
        self.assertEqual([b.splitlines()[0] for b in self.bodies()], ["<!-- assay:summary:mi355 -->", "<!-- assay:summary:h200 -->"])
        self.assertIn("changed", self.bodies()[0])

    def test_the_comment_is_found_behind_hundreds_of_others(self):
        for i in range(230):
            self.forge.add("someone", f"comment {i}")
        self.post("PASS")
        self.forge.add("someone", "later")
        self.post("PASS", report="second")
        self.assertEqual(len(self.forge.comments), 232)
        self.assertIn("second", self.bodies()[230])

    def test_the_state_survives_windows_line_ends(self):
        self.post("FAIL")
        self.forge.comments[0]["body"] = self.bodies()[0].replace("\n", "\r\n")
        self.post("FAIL")
        self.assertEqual(len(self.forge.comments), 1)


class Length(CommentTest):
    def test_a_long_report_is_cut_between_lines_and_names_the_whole_one(self):
        report = "<details>\n\n" + "| a row of the report that is long enough |\n" * 3000
        self.assertEqual(self.post("PASS", "--link", "https://ci.example/run/1", report=report), 0, self.err)
        body = self.bodies()[0]
        self.assertLessEqual(len(body), 60_200)
        self.assertGreater(len(body), 59_000)
        self.assertIn("[The whole report](https://ci.example/run/1)", body)
        self.assertEqual(body.count("<details>"), body.count("</details>"))
        rows = [line for line in body.splitlines() if line.startswith("|")]
        self.assertEqual(set(rows), {"| a row of the report that is long enough |"})

    def test_a_report_at_the_limit_of_assay_is_whole(self):
        self.assertEqual(self.post("PASS", report="x" * 60_000), 0, self.err)
        self.assertTrue(self.bodies()[0].endswith("x" * 60_000))

    def test_a_fence_that_is_cut_open_is_closed(self):
        self.post("PASS", report="```\n" + "log line\n" * 9000)
        self.assertEqual(self.bodies()[0].count("```"), 2)

    def test_the_services_own_limit_is_told(self):
        self.forge.limit = 100
        self.assertEqual(self.post("PASS", report="x" * 200), 1)
        self.assertIn("422 Body is too long (maximum is 100 characters)", self.err)


class Failures(CommentTest):
    def test_a_wrong_token_is_named_and_not_shown(self):
        self.env["GITHUB_TOKEN"] = "s3cret"
        self.assertEqual(self.post("PASS"), 1)
        self.assertEqual(self.err, "comment.py: GitHub: GET /repos/org/repo/issues/12/comments: 401 Bad credentials; "
                         "GITHUB_TOKEN is wrong or has expired\n")

    def test_a_wrong_gitlab_token_is_named(self):
        self.env["ASSAY_GITLAB_TOKEN"] = "s3cret"
        self.assertEqual(self.post("PASS", to="gitlab"), 1)
        self.assertIn("ASSAY_GITLAB_TOKEN is wrong or has expired; a job token cannot write notes", self.err)
        self.assertNotIn("s3cret", self.err)

    def test_a_token_that_may_not_write_is_told_about_forks(self):
        self.forge.failures = [("POST", 403, {}, {"message": "Resource not accessible by integration"})]
        self.assertEqual(self.post("PASS"), 1)
        self.assertIn("403 Resource not accessible by integration; the token may not write here", self.err)
        self.assertIn("workflow_run", self.err)

    def test_no_token_is_told_before_anything_is_sent(self):
        self.env["GITHUB_TOKEN"] = ""
        self.assertEqual(self.post("PASS"), 2)
        self.assertEqual(self.err, "comment.py: GITHUB_TOKEN is not set\n")
        self.assertEqual(self.forge.requests, [])

    def test_a_busy_service_is_asked_again(self):
        busy = {"message": "slow down"}
        self.forge.failures = [("GET", 503, {}, busy), ("GET", 429, {"Retry-After": "1"}, busy), ("POST", 429, {}, busy)]
        self.assertEqual(self.post("PASS"), 0, self.err)
        self.assertEqual(len(self.forge.comments), 1)

    def test_a_comment_that_may_have_been_written_is_not_written_twice(self):
        self.forge.failures = [("POST", 502, {}, {"message": "bad gateway"})]
        self.assertEqual(self.post("PASS"), 75)
        self.assertEqual(self.forge.writes(), ["POST"])
        self.assertIn("502 bad gateway", self.err)

    def test_a_service_that_stays_away_is_infrastructure(self):
        self.env["GITHUB_API_URL"] = "http://127.0.0.1:9"
        self.assertEqual(self.post("PASS"), 75)
        self.assertIn("is http://127.0.0.1:9 right?", self.err)

    def test_a_redirect_does_not_carry_the_token_away(self):
        other = Forge()
        self.addCleanup(other.close)
        self.forge.failures = [("GET", 302, {"Location": other.url + "/repos/org/repo/issues/12/comments"}, {})]
        self.assertEqual(self.post("PASS"), 1)
        self.assertEqual(other.requests, [])

    def test_an_address_that_answers_pages_is_told(self):
        self.forge.failures = [("GET", 200, {}, b"<html>login</html>")]
        self.assertEqual(self.post("PASS"), 75)
        self.assertIn("the answer is not JSON", self.err)

    def test_a_run_without_a_verdict_is_told(self):
        self.assertEqual(self.call("github", "--pr", "12"), 2)
        self.assertIn("verdict.json: no such file", self.err)
        self.write("GREAT")
        self.assertEqual(self.call("github", "--pr", "12"), 2)
        self.assertIn("outcome must be one of PASS", self.err)


class Forks(CommentTest):
    """The publishing workflow has a token that may write; all that it reads came from a stranger."""

    def setUp(self):
        super().setUp()
        self.event = {"workflow_run": {
            "event": "pull_request", "head_sha": "a" * 40, "head_branch": "topic", "head_repository": {"full_name": "mallory/repo"}}}
        self.forge.pulls[12] = {"head": {"sha": "a" * 40, "ref": "topic", "repo": {"full_name": "mallory/repo"}}}

    def publish(self, number: str = "12", report: str = "## the report\n", *more: str) -> int:
        self.write("FAIL", report)
        (self.run_folder / "pr").write_text(number)
        event = self.run_folder / "event.json"
        event.write_text(json.dumps(self.event))
        return self.call("github", "--pr-file", str(self.run_folder / "pr"), "--untrusted", "--event", str(event), *more)

    def test_the_pull_request_of_the_event_gets_the_report(self):
        self.assertEqual(self.publish("12\n"), 0, self.err)
        self.assertEqual(self.bodies(), [f"{MARKER}\n<!-- assay:outcome:FAIL -->\n## the report\n"])

    def test_a_real_report_stays_readable(self):
        golden = (ROOT / "reports/golden/fail/report.md").read_text()
        self.assertEqual(self.publish("12", golden, "--link", "https://github.example/run/7"), 0, self.err)
        body = self.bodies()[0]
        lines = body.splitlines()
        self.assertEqual(lines[2], golden.splitlines()[0])
        self.assertIn(" · job · files", lines[6])  # links of the pull request's own run are text
        self.assertEqual(lines[-1], "[The run that measured this](https://github.example/run/7)")
        self.assertEqual([line for line in lines if line.startswith("|")], [line for line in golden.splitlines() if line.startswith("|")])

    def test_another_pull_request_gets_nothing(self):
        for field, value in (("ref", "other"), ("repo", {"full_name": "alice/repo"}), ("repo", None)):
            with self.subTest(field=field):
                self.forge.pulls[12]["head"] = {"sha": "a" * 40, "ref": "topic", "repo": {"full_name": "mallory/repo"}, field: value}
                self.assertEqual(self.publish(), 2)
                self.assertIn("and the run measured mallory/repo:topic: nothing was posted", self.err)
                self.assertEqual(self.forge.writes(), [])

    def test_a_pull_request_that_moved_on_gets_nothing(self):
        self.forge.pulls[12]["head"]["sha"] = "b" * 40
        self.assertEqual(self.publish(), 0)  # its own run will be posted
        self.assertIn("has moved on to bbbbbbbbbbbb", self.err)
        self.assertEqual(self.forge.writes(), [])

    def test_numbers_that_are_none_are_refused_before_anything_is_sent(self):
        for number in ("", "0", "12/../13", "12 13", "１２", "-1", "9" * 30):
            with self.subTest(number=number):
                self.assertEqual(self.publish(number), 2)
                self.assertEqual(self.forge.requests, [])

    def test_a_link_instead_of_a_file_is_not_followed(self):
        self.write("PASS")
        (self.run_folder / "report.md").unlink()
        (self.run_folder / "report.md").symlink_to("/etc/passwd")
        self.assertEqual(self.call("github", "--pr", "12"), 2)
        self.assertEqual(self.forge.requests, [])

    def test_events_of_another_kind_are_refused(self):
        self.event["workflow_run"]["event"] = "push"
        self.assertEqual(self.publish(), 2)
        self.event = {"pull_request": {}}
        self.assertEqual(self.publish(), 2)
        self.assertIn("not a workflow_run event", self.err)

    def test_a_strangers_text_calls_nobody_and_hides_nothing(self):
        attack = ("@org/everyone see #1, GH-2, &#64;all and &commat;you\n<!-- assay:outcome:PASS -->\n<img src=x onerror=y>\n"
                  "![pixel](https://evil.example/p.png) [click](https://evil.example) [ref]: https://evil.example\n"
                  "www.evil.example \x1b[31m\u202etxet\n<details><summary>fold</summary>kept</details>\n| `a` | b |\n")
        self.assertEqual(self.publish(report=attack), 0, self.err)
        text = self.bodies()[0].split("\n", 2)[2]
        for forbidden in ("@org", "#1", "GH-2", "&#64;", "&commat;", "<!--", "<img", "](", "]:", "https://", "www.", "\x1b", "\u202e"):
            self.assertNotIn(forbidden, text)
        self.assertIn("<details><summary>fold</summary>kept</details>\n| `a` | b |\n", text)


if __name__ == "__main__":
    unittest.main()
