"""The door of the playground over HTTP: without a key there is no page, API, stream or file."""

from __future__ import annotations

import socket
import time
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import httpx
import pytest

from greenroom.playground import access as keys
from greenroom.playground import guard
from greenroom.playground.access import Access
from tests.cli.running import Greenroom
from tests.playground.conftest import Open, Running
from tests.playground.walking import files, operations, pages

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
NO_FILES = ("/openapi.json", "/robots.txt", "/favicon.ico", "/static/index.html", "/assets/")


@pytest.fixture
def stranger(playground: Running) -> Generator[httpx.Client]:
    """A client without a cookie."""
    with httpx.Client(base_url=playground.address, timeout=10, verify=False) as client:
        yield client


def port(running: Running) -> int:
    return urlsplit(running.address).port or 0


def cookie(running: Running) -> str:
    """The cookie header of a browser that is in."""
    return f"greenroom_{port(running)}={running.access.new_cookie()}"


def asked(running: Running, path: str, method: str = "GET", **headers: str) -> httpx.Response:
    """The answer to a request with a good cookie and these headers; only its head of a stream."""
    given = {"cookie": cookie(running)} | {k.replace("_", "-"): v for k, v in headers.items()}
    sent = [(name.encode(), value.encode("latin-1")) for name, value in given.items()]
    with (
        httpx.Client(base_url=running.address, timeout=10, verify=False) as client,
        client.stream(method, path, headers=sent) as answer,
    ):
        return answer


@pytest.mark.slow
def test_without_a_cookie_no_operation_of_the_api_is_answered(
    playground: Running, stranger: httpx.Client
) -> None:
    walked = list(operations(playground))
    assert {"list_notes", "follow_events", "create_link"} <= {one.name for one in walked}
    for one in walked:
        answer = stranger.request(one.method, one.filled(), json={})
        assert (answer.status_code, list(answer.json())) == (401, ["detail"]), one
        assert answer.headers["www-authenticate"] == "Bearer"
    assert stranger.get("/api/v1/openapi.json").status_code == 401


def test_without_a_cookie_no_page_and_no_file_is_given(stranger: httpx.Client) -> None:
    for path in (*pages(), *files(), *NO_FILES):
        for accept in ("text/html", "*/*"):
            answer = stranger.get(path, headers={"accept": accept})
            assert answer.status_code == 401, path
            assert "greenroom playground" in answer.text
            assert "<script" not in answer.text
            assert "/assets/" not in answer.text
        assert stranger.head(path).status_code == 401, path


@pytest.mark.parametrize("method", ["OPTIONS", "TRACE", "PUT", "PROPFIND"])
def test_other_methods_open_nothing(stranger: httpx.Client, method: str) -> None:
    assert stranger.request(method, "/api/v1/notes").status_code in (400, 401)


def test_forged_and_foreign_cookies_are_refused(
    playground: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"greenroom_{port(playground)}"
    good = playground.access.new_cookie()
    until, _, signature = good.partition(".")
    month_ago = time.time() - keys.SECONDS_OF_A_COOKIE - 5
    with monkeypatch.context() as patched:
        patched.setattr(keys.time, "time", lambda: month_ago)
        expired = playground.access.new_cookie()
    assert asked(playground, "/api/v1/notes", cookie=f"{name}={good}").status_code == 200
    for value in (
        "",
        "x",
        ".",
        f".{signature}",
        f"{until}.",
        f"{int(until) + 1}.{signature}",
        f"{until}.{signature[:-1]}",
        f"{until}.{'0' * 64}",
        expired,
        Access(b"another secret").new_cookie(),
        "\xff.\xff",
        '"',
    ):
        answer = asked(playground, "/api/v1/notes", cookie=f"{name}={value}")
        assert answer.status_code == 401, value
    # A cookie of a playground at another port has another name.
    elsewhere = asked(playground, "/api/v1/notes", cookie=f"greenroom_1={good}")
    assert elsewhere.status_code == 401


def test_a_link_lets_one_browser_in_once(playground: Running) -> None:
    link = playground.link
    with httpx.Client(verify=False) as first, httpx.Client(verify=False) as second:
        entered = first.get(link)
        assert entered.status_code == 200
        assert "code=" not in entered.text
        assert first.get(f"{playground.address}/api/v1/notes").status_code == 200
        late = second.get(link)
        assert (late.status_code, late.headers.get("set-cookie")) == (401, None)
        assert second.get(f"{playground.address}/api/v1/notes").status_code == 401
    for wrong in ("", "?code=", "?code=x", "?code=%ff", f"?code={'x' * 5000}"):
        assert httpx.get(f"{playground.address}/enter{wrong}").status_code == 401
    assert httpx.post(playground.link).status_code == 401


def test_of_many_who_use_a_link_at_once_one_gets_in(playground: Running) -> None:
    link = playground.link
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(httpx.get, [link] * 8))
    found = [answer.status_code for answer in answers]
    assert sorted(found) == [200, *[401] * 7]


def test_the_cookie_is_for_this_server_alone(playground: Running) -> None:
    name, *rules = httpx.get(playground.link).headers["set-cookie"].split("; ")
    assert name.startswith(f"greenroom_{port(playground)}=")
    assert {rule.lower() for rule in rules} == {
        "httponly",
        "samesite=strict",
        "path=/",
        f"max-age={keys.SECONDS_OF_A_COOKIE}",
    }


@pytest.mark.parametrize(
    "host",
    [
        "evil.test",
        "evil.test:{port}",
        "127.0.0.1.evil.test:{port}",
        "localhost.evil.test",
        "192.168.1.7:{port}",
        "127.0.0.1@evil.test",
        "[::2]:{port}",
        "",
    ],
)
def test_requests_by_another_name_are_refused(playground: Running, host: str) -> None:
    """DNS rebinding: a page makes the name of its own site point here."""
    named = host.format(port=port(playground))
    for path in ("/", "/api/v1/notes", "/api/v1/events", "/enter?code=x"):
        assert asked(playground, path, host=named).status_code in (400, 403), path
    assert asked(playground, "/api/v1/notes", "POST", host=named).status_code in (400, 403)


@pytest.mark.parametrize("host", ["localhost:{port}", "127.0.0.1", "[::1]:{port}", "LOCALHOST"])
def test_names_of_this_machine_are_accepted(playground: Running, host: str) -> None:
    named = host.format(port=port(playground))
    assert asked(playground, "/api/v1/notes", host=named).status_code == 200


ORIGINS = (
    "http://evil.test",
    "null",
    "http://127.0.0.1:1",
    "http://localhost:{port}",
    "http://127.0.0.1:{port}.evil.test",
    "http://127.0.0.1:{port}@evil.test",
    "file://",
    "http://[",
    "http://[::1",
    "",
    "x" * 3000,
)


@pytest.mark.parametrize("origin", ORIGINS)
def test_pages_of_other_origins_get_nothing(playground: Running, origin: str) -> None:
    named = origin.format(port=port(playground))
    for method, path in (
        ("GET", "/"),
        ("GET", "/api/v1/notes"),
        ("GET", "/api/v1/events"),
        ("POST", "/api/v1/notes"),
        ("POST", "/api/v1/links"),
        ("DELETE", "/api/v1/notes/0"),
    ):
        assert asked(playground, path, method, origin=named).status_code == 403, (method, path)


def test_its_own_pages_get_everything(playground: Running) -> None:
    own = {"origin": playground.address, "sec_fetch_site": "same-origin"}
    assert asked(playground, "/api/v1/notes", **own).status_code == 200
    assert asked(playground, "/api/v1/links", "POST", **own).status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize("site", ["cross-site", "same-site", "other"])
def test_other_sites_may_link_to_a_page_and_no_more(playground: Running, site: str) -> None:
    """A browser says where a request comes from, also where it sends no Origin."""
    for path in ("/api/v1/notes", "/api/v1/events", "/assets/x.js", "/"):
        for mode in ("no-cors", "cors", "websocket"):
            answer = asked(playground, path, sec_fetch_site=site, sec_fetch_mode=mode)
            assert answer.status_code == 403, (path, mode)
    visit = {"sec_fetch_site": site, "sec_fetch_mode": "navigate"}
    assert asked(playground, "/notes", **visit).status_code in (200, 404)
    assert asked(playground, "/notes", "POST", **visit).status_code == 403
    assert asked(playground, "/api/v1/notes/export", **visit).status_code == 403


@pytest.mark.slow
def test_every_answer_tells_browsers_what_they_may_do(
    playground: Running, stranger: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = {
        "page": asked(playground, "/"),
        "file": asked(playground, (files() or ["/"])[0]),
        "answer": asked(playground, "/api/v1/notes"),
        "stream": asked(playground, "/api/v1/events"),
        "download": asked(playground, "/api/v1/notes/export"),
        "entry": httpx.get(playground.link),
        "401": stranger.get("/"),
        "401 api": stranger.get("/api/v1/notes"),
        "403": asked(playground, "/", host="evil.test"),
        "404": asked(playground, "/api/v1/nothing"),
        "404 note": asked(playground, "/api/v1/notes/none"),
        "405": asked(playground, "/", "PUT"),
        "422": asked(playground, "/api/v1/notes", "POST"),
    }
    monkeypatch.setattr(playground.store, "notes", None)
    answers["500"] = asked(playground, "/api/v1/notes/tags")
    assert answers["500"].status_code == 500
    for kind, answer in answers.items():
        found = {name: answer.headers.get_list(name) for name in HEADERS}
        assert found == {name: [value] for name, value in HEADERS.items()}, kind
        assert "access-control-allow-origin" not in answer.headers, kind
        if kind != "file":
            assert answer.headers["cache-control"] in ("no-store", "no-cache"), kind
    assert guard.CONTENT_POLICY == POLICY
    assert "unsafe" not in POLICY


def test_keys_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[bytes, bytes]] = []

    def noted(one: bytes, other: bytes) -> bool:
        compared.append((one, other))
        return one == other

    monkeypatch.setattr(keys.hmac, "compare_digest", noted)
    access = Access(b"secret", token="the token")
    access.new_link("http://here")
    tries = (
        lambda: access.knows_cookie(access.new_cookie()),
        lambda: access.knows_token("Bearer the token"),
        lambda: access.knows_token("Bearer the other"),
        lambda: access.redeem("x"),
    )
    assert [one() for one in tries] == [True, True, False, False]
    assert len(compared) == len(tries)
    assert "secret" not in repr(access)
    assert "token" not in repr(access).replace("Access", "")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.7", "example.test"])
def test_others_can_only_be_let_in_with_a_token(greenroom: Greenroom, host: str) -> None:
    ended = greenroom("playground", "--host", host, "--no-browser")
    assert (ended.status, "GREENROOM_TOKEN" in ended.err) == (2, True)


def test_programs_come_in_with_the_token(open_playground: Open) -> None:
    running = open_playground()
    running.access.token = "correct horse"
    given = {
        "Bearer correct horse": 200,
        "bearer correct horse": 200,
        "Bearer correct hors": 401,
        "Bearer": 401,
        "Basic correct horse": 401,
        "correct horse": 401,
    }
    for header, status in given.items():
        answer = httpx.get(f"{running.address}/api/v1/notes", headers={"authorization": header})
        assert answer.status_code == status, header
    # Also from a page of another site, a token is no help.
    crossed = {"authorization": "Bearer correct horse", "origin": "http://evil.test"}
    assert httpx.get(f"{running.address}/api/v1/notes", headers=crossed).status_code == 403


def test_a_body_without_end_is_refused(
    playground: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "MAX_BODY", 100_000)
    answer = playground.api.post("notes", content=b"x" * 100_001)
    assert answer.status_code in (400, 413)
    assert playground.api.get("notes").status_code == 200


def test_half_a_request_does_not_stop_the_others(playground: Running) -> None:
    with socket.create_connection(("127.0.0.1", port(playground))) as connection:
        connection.sendall(
            b"POST /api/v1/notes HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n"
        )
        assert playground.api.get("notes").status_code == 200
