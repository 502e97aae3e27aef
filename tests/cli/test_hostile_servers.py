"""Commands against a server that answers with anything: told in words, and nothing is obeyed."""

from __future__ import annotations

import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from greenroom import chat_workflow
from greenroom.workflows.serve import create_app, running_app
from tests.cli.running import Greenroom

DEEP = b"[" * 900 + b"]" * 900
DEEPER = b"[" * 100_000 + b"]" * 100_000
ESCAPES = "\x1b]0;owned\x07[/b]\x9b2J"
DESCRIBED = {"flags": {"is_chat": True}, "name": ESCAPES, "description": ESCAPES}


@contextmanager
def answering(inspected: bytes, invoked: bytes) -> Generator[str]:
    """A server with these bodies for /inspect, and for everything else."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.do_GET()

        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(inspected if self.path.endswith("/inspect") else invoked)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.slow
@pytest.mark.parametrize("body", [DEEP, DEEPER])
def test_deep_json_is_told_by_inspect_and_chat(body: bytes, greenroom: Greenroom) -> None:
    with answering(body, body) as address:
        done = greenroom("inspect", address)
        assert done.status == 2, done.err
        assert "nested more than 200 levels" in done.err
        assert greenroom("chat", address, "--message", "hello").status == 2
    outputs = b'{"data": {"outputs": ' + body + b"}}"
    with answering(json.dumps({"flags": {"is_chat": True}}).encode(), outputs) as address:
        done = greenroom("chat", address, "--message", "hello")
        assert done.status in (1, 2)
        assert "bug" not in done.err
        assert "RecursionError" not in done.err
        assert "gave no answer" in done.err


@pytest.mark.slow
def test_escape_sequences_of_a_server_reach_no_terminal(greenroom: Greenroom) -> None:
    said = {"data": {"outputs": {"role": "assistant", "content": f"{ESCAPES} Hello"}}}
    with answering(json.dumps(DESCRIBED).encode(), json.dumps(said).encode()) as address:
        for command in (("inspect", address), ("chat", address, "--message", "hi")):
            done = greenroom(*command)
            assert done.status == 0, done.err
            assert not set(done.out + done.err) & set("\x1b\x07\x9b")
        assert "[/b]2J Hello" in done.out


def test_clients_get_errors_without_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DB_PASS", "planted-91b2d06e")

    @chat_workflow
    def leaky(messages: list[dict[str, str]]) -> dict[str, str]:
        raise ValueError("api_key=sk-planted0123456789abc and planted-91b2d06e")

    with running_app(create_app(leaky)) as address:
        body = json.dumps({"data": {"inputs": {"messages": [{"role": "user", "content": "hi"}]}}})
        request = Request(f"{address}/invoke", body.encode())
        request.add_header("Content-Type", "application/json")
        with pytest.raises(HTTPError) as caught:
            urlopen(request)
        text = caught.value.read().decode()
        caught.value.close()
    assert caught.value.code == 500
    assert "planted" not in text
    assert "[DB_PASS]" in text
    assert "Traceback" not in text
