"""A scripted GitHub and GitLab on loopback: keeps comments, checks tokens, and fails as it is told to."""

import http.server
import json
import re
import threading
import urllib.parse


class Forge:
    def __init__(self, author: str = "github-actions[bot]", token: str = "right"):
        self.author, self.token = author, token
        self.comments: list[dict] = []  # id, author, body, and for GitLab system
        self.pulls: dict[int, dict] = {}
        self.requests: list[tuple[str, str]] = []
        self.failures: list[tuple[str, int, dict, dict]] = []  # method, status, headers, body: each once, for the next such call
        self.limit = 65536
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def add(self, author: str, body: str, **more) -> dict:
        comment = {"id": len(self.comments) + 1, "author": author, "body": body, **more}
        self.comments.append(comment)
        return comment

    def writes(self) -> list[str]:
        return [method for method, _ in self.requests if method != "GET"]

    def _handler(forge):
        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def answer(self, status: int, body, headers: dict | None = None):
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                for name, value in (headers or {}).items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def handle_any(self):
                url = urllib.parse.urlsplit(self.path)
                query = dict(urllib.parse.parse_qsl(url.query))
                sent = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"null")
                forge.requests.append((self.command, url.path))
                for failure in forge.failures:
                    if failure[0] == self.command:
                        forge.failures.remove(failure)
                        return self.answer(failure[1], failure[3], failure[2])
                if self.headers.get("Authorization") != f"Bearer {forge.token}" and self.headers.get("PRIVATE-TOKEN") != forge.token:
                    return self.answer(401, {"message": "Bad credentials"})
                if sent and len(sent["body"]) > forge.limit:
                    return self.answer(422, {"message": f"Body is too long (maximum is {forge.limit} characters)"})
                if url.path == "/user":
                    return self.answer(200, {"id": 7})
                for pattern, act in ROUTES:
                    if (found := re.fullmatch(pattern, f"{self.command} {url.path}")):
                        return self.answer(*act(forge, sent, query, *found.groups()))
                return self.answer(404, {"message": "Not Found"})

            do_GET = do_POST = do_PATCH = do_PUT = handle_any

        return Handler


def _page(items: list, query: dict) -> list:
    size, page = int(query["per_page"]), int(query["page"])
    return items[(page - 1) * size:page * size]


def _github(forge: Forge, c: dict) -> dict:
    return {"id": c["id"], "body": c["body"], "user": {"login": c["author"]}, "html_url": f"{forge.url}/c/{c['id']}"}


def _gitlab(c: dict) -> dict:
    return {"id": c["id"], "body": c["body"], "author": {"id": c["author"]}, "system": c.get("system", False)}


def _edit(forge: Forge, sent: dict, number: str) -> dict:
    comment = forge.comments[int(number) - 1]
    comment["body"] = sent["body"]
    return comment


def _pull(forge: Forge, number: str):
    found = forge.pulls.get(int(number))
    return (200, found) if found else (404, {"message": "Not Found"})


ROUTES = [
    (r"GET /repos/org/repo/issues/12/comments", lambda f, s, q: (200, _page([_github(f, c) for c in f.comments], q))),
    (r"POST /repos/org/repo/issues/12/comments", lambda f, s, q: (201, _github(f, f.add(f.author, s["body"])))),
    (r"PATCH /repos/org/repo/issues/comments/(\d+)", lambda f, s, q, n: (200, _github(f, _edit(f, s, n)))),
    (r"GET /repos/org/repo/pulls/(\d+)", lambda f, s, q, n: _pull(f, n)),
    # GitLab lists the newest note first.
    (r"GET /projects/group%2Frepo/merge_requests/12/notes", lambda f, s, q: (200, _page([_gitlab(c) for c in f.comments[::-1]], q))),
    (r"POST /projects/group%2Frepo/merge_requests/12/notes", lambda f, s, q: (201, _gitlab(f.add(7, s["body"])))),
    (r"PUT /projects/group%2Frepo/merge_requests/12/notes/(\d+)", lambda f, s, q, n: (200, _gitlab(_edit(f, s, n)))),
]
