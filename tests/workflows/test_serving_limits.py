"""Limits, tokens, origins and hostile bodies: clear answers, and the server lives on."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom import chat_workflow, workflow
from greenroom.util.json_values import encoded
from greenroom.workflows.serve.exchange import MAX_LEVELS, Refusal, decode
from greenroom.workflows.serve.headers import trace_of
from tests.workflows.serving import HELLO, Server, serving, told

MEGABYTE = 1 << 20


@chat_workflow
async def echo(messages: list[dict[str, Any]]) -> Any:
    return {"role": "assistant", "content": messages[-1]["content"]}


@pytest.fixture(scope="module")
def server() -> Generator[Server]:
    with serving(echo, max_body=MEGABYTE) as running:
        yield running


@pytest.fixture(autouse=True)
def lives_on(server: Server) -> Generator[None]:
    """Whatever a test does to it, the server answers afterwards."""
    yield
    assert told(server, {"messages": HELLO})["content"] == "hello"


def test_a_body_of_50_megabytes_is_413(server: Server) -> None:
    body = json.dumps({"messages": [{"role": "user", "content": "x" * (50 * MEGABYTE)}]}).encode()
    for path in ("/invoke", "/run", "/inspect"):
        reply = server.post(path, body)
        assert reply.status == 413
        assert "larger than 1,048,576 bytes" in reply.json["detail"]
    reply = server.post("/v1/chat/completions", body)
    assert reply.status == 413
    assert "larger than" in reply.json["error"]["message"]


def test_a_body_of_unknown_length_is_counted(server: Server) -> None:
    chunk = b"x" * 65536
    with server.raw() as connection:
        connection.sendall(
            b"POST /invoke HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        for _ in range(32):
            connection.sendall(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        connection.sendall(b"0\r\n\r\n")
        assert connection.recv(65536).startswith(b"HTTP/1.1 413 ")


def test_a_body_just_below_the_limit_is_taken(server: Server) -> None:
    text = "x" * (MEGABYTE - 100)
    assert told(server, {"messages": [{"role": "user", "content": text}]})["content"] == text


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"[" * 100_000, "not JSON"),
        (b"[" * 1000 + b"]" * 1000, "nested more than 200 levels"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "not JSON"),
        (b'{"messages": "\xff\xfe"}', "not JSON"),
        (b"\xef\xbb\xbf{}", "not JSON"),
        (b'{"messages": NaN}', "not JSON"),
        (b"{'messages': []}", "not JSON"),
        (b"nothing", "not JSON"),
        (b"\x00" * 1000, "not JSON"),
    ],
)
@pytest.mark.parametrize("path", ["/invoke", "/run", "/inspect", "/v1/chat/completions"])
def test_what_is_no_json_is_told(server: Server, path: str, body: bytes, words: str) -> None:
    reply = server.post(path, body)
    assert reply.status == (400 if path.startswith("/v1") else 422)
    assert words in reply.text


def test_deep_json_that_is_taken_comes_back(server: Server) -> None:
    value: Any = "bottom"
    for _ in range(MAX_LEVELS - 4):
        value = [value]
    assert told(server, {"messages": [{"role": "user", "content": value}]})["content"] == value


def test_connections_that_break_off_leave_no_trace(server: Server) -> None:
    head = b"POST /invoke HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n"
    for sent in (b"", b"POST /inv", head, head + b'{"messages"'):
        with server.raw() as connection:
            connection.sendall(sent)
        with server.raw() as connection:
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
            assert connection.recv(1000).split(b"\r\n")[0] in (b"", b"HTTP/1.1 400 Bad Request")


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST /invoke HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST /invoke HTTP/1.1\r\nHost: localhost\r\nContent-Length: abc\r\n\r\n",
        b"POST /invoke HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
)
def test_what_is_no_http_is_refused(server: Server, sent: bytes) -> None:
    with server.raw() as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        received = connection.recv(1000)
    assert not received or received.startswith((b"HTTP/1.1 4", b"HTTP/1.0 4")), received


def test_more_calls_than_allowed_are_503_with_the_time_to_wait() -> None:
    arrived, go_on = threading.Semaphore(0), threading.Event()

    @workflow
    def slow() -> str:
        arrived.release()
        go_on.wait(30)
        return "done"

    with serving(slow, max_concurrent_calls=2) as server, ThreadPoolExecutor(2) as pool:
        calls = [pool.submit(server.post, "/invoke", {"inputs": {}}) for _ in range(2)]
        for _ in calls:
            assert arrived.acquire(timeout=30)
        for path in ("/invoke", "/run"):
            reply = server.post(path, {"inputs": {}})
            assert (reply.status, reply.headers["retry-after"]) == (503, "1")
            assert "2 calls are running" in reply.json["detail"]
        stream = server.post("/invoke", {"inputs": {}}, accept="text/event-stream")
        assert stream.status == 503
        assert server.get("/health").status == 200
        go_on.set()
        assert [call.result().json for call in calls] == ["done", "done"]
        assert told(server, {"inputs": {}}) == "done"


def test_a_token_is_needed_where_one_is_set() -> None:
    with serving(echo, token="very-secret") as server:
        for path in ("/invoke", "/run", "/v1/chat/completions", "/inspect"):
            for headers in (
                {},
                {"authorization": "Bearer wrong"},
                {"authorization": "very-secret"},
            ):
                reply = server.post(path, {"messages": HELLO}, **headers)
                assert reply.status == 401
                assert reply.headers["www-authenticate"] == "Bearer"
                assert "very-secret" not in reply.text
        assert server.get("/openapi.json").status == 401
        assert server.get("/health").status == 200
        for scheme in ("Bearer", "bearer", "ApiKey"):
            reply = server.post(
                "/invoke", {"messages": HELLO}, authorization=f"{scheme} very-secret"
            )
            assert reply.status == 200


def test_pages_of_other_origins_may_not_call(server: Server) -> None:
    host, port = server.place
    own = server.post("/invoke", {"messages": HELLO}, origin=f"http://{host}:{port}")
    assert own.status == 200
    assert "access-control-allow-origin" not in own.headers
    for origin in ("https://evil.example", "null", f"http://{host}:{port + 1}"):
        reply = server.post("/invoke", {"messages": HELLO}, origin=origin)
        assert reply.status == 403
    preflight = server.request("OPTIONS", "/invoke", None, {"origin": "https://evil.example"})
    assert preflight.status == 405


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "a@127.0.0.1", ""])
def test_a_foreign_name_that_leads_here_is_refused(server: Server, host: str) -> None:
    """DNS rebinding: to the browser, page and server are of one origin."""
    named = f"{host}:{server.place[1]}" if host else ""
    headers = {"host": named, "origin": f"http://{named}"}
    for path in ("/invoke", "/run", "/inspect", "/v1/chat/completions"):
        reply = server.post(path, {"messages": HELLO}, **headers)
        assert reply.status == 403
        assert "answers only requests to localhost" in reply.json["detail"]
    assert server.get("/openapi.json", host=named).status == 403


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:1", "127.0.0.1:80", "[::1]:8000", "[::1]"]
)
def test_this_machine_has_three_names(server: Server, host: str) -> None:
    assert server.post("/invoke", {"messages": HELLO}, host=host).status == 200


def test_a_token_lets_any_name_lead_here() -> None:
    with serving(echo, token="very-secret") as server:
        reply = server.post(
            "/invoke", {"messages": HELLO}, host="a.example", authorization="Bearer very-secret"
        )
        assert reply.status == 200


def test_origins_that_are_asked_for_may_call() -> None:
    page = "https://cloud.agenta.ai"
    with serving(echo, cors_origins=[page], token="very-secret") as server:
        preflight = server.request(
            "OPTIONS",
            "/invoke",
            None,
            {"origin": page, "access_control_request_method": "POST"},
        )
        assert preflight.status == 200
        assert preflight.headers["access-control-allow-origin"] == page
        reply = server.post(
            "/invoke", {"messages": HELLO}, origin=page, authorization="Bearer very-secret"
        )
        assert reply.status == 200
        assert reply.headers["access-control-allow-origin"] == page
        assert "x-ag-trace-id" in reply.headers["access-control-expose-headers"]
        assert server.post("/invoke", {"messages": HELLO}, origin=page).status == 401
        other = server.post(
            "/invoke",
            {"messages": HELLO},
            origin="https://evil.example",
            authorization="Bearer very-secret",
        )
        assert other.status == 403
    with serving(echo, cors_origins=["*"]) as server:
        assert (
            server.post("/invoke", {"messages": HELLO}, origin="https://any.example").status == 200
        )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_what_is_written_can_be_read(value: Any) -> None:
    written = encoded(value)
    expected = json.loads(json.dumps(value).replace("Infinity", "null").replace("-null", "null"))
    assert json.loads(written) == expected


@given(st.integers(0, 3 * MAX_LEVELS))
def test_depth_is_limited_exactly(levels: int) -> None:
    body = b'{"a":' * levels + b"1" + b"}" * levels
    if levels <= MAX_LEVELS:
        assert encoded(decode(body)) == body
    else:
        with pytest.raises(Refusal, match="nested more than 200 levels"):
            decode(body)


def test_many_brackets_are_not_many_levels() -> None:
    rows = [{"a": [1]}] * 500
    assert decode(encoded(rows)) == rows


@given(st.binary(max_size=60))
def test_any_traceparent_gives_a_trace(header: bytes) -> None:
    trace_id, flags = trace_of(header)
    assert trace_of(f"00-{trace_id}-{'b' * 16}-{flags}".encode()) == (trace_id, flags)


@pytest.mark.parametrize(
    ("header", "honoured"),
    [
        (f"00-{'a' * 32}-{'b' * 16}-01", True),
        (f"cc-{'a' * 32}-{'b' * 16}-01-what-comes-later", True),
        (f"00-{'a' * 32}-{'b' * 16}-01-more", False),
        (f"ff-{'a' * 32}-{'b' * 16}-01", False),
        (f"00-{'0' * 32}-{'b' * 16}-01", False),
        (f"00-{'a' * 32}-{'0' * 16}-01", False),
        (f"00-{'A' * 32}-{'b' * 16}-01", False),
        ("", False),
    ],
)
def test_only_a_right_traceparent_is_honoured(header: str, honoured: bool) -> None:
    assert (trace_of(header.encode())[0] == "a" * 32) is honoured
