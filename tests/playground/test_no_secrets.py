"""Keys that are configured or typed reach no page, no answer of the API, no store and no log."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.playground.conftest import Open, Running
from tests.playground.talking import Talk, wait_for
from tests.playground.walking import operations

MARK = "planted7f3e"
ENVIRONMENT = {
    "OPENAI_API_KEY": f"{MARK}-openai-key",
    "ANTHROPIC_API_KEY": f"{MARK}-anthropic-key",
    "GREENROOM_API_KEY": f"{MARK}-own-key",
    "GREENROOM_TOKEN": f"{MARK}-token",
    "SHOP_PASSWORD": f"{MARK}-password",
    "SHOP_URL": f"https://shop:{MARK}-in-url@shop.test/api",
}
APP = """
import os

from greenroom import chat_workflow, workflow

TEXT = "refused: " + " ".join(os.environ[name] for name in {names!r})
TEXT += " Authorization: Bearer {mark}bearer0123 sk-{mark}0123456789"


@chat_workflow
async def leaky(messages):
    raise RuntimeError(TEXT)


@chat_workflow
async def half(messages):
    yield "So far "
    raise ValueError(TEXT)


@workflow
def form(title: str) -> str:
    raise RuntimeError(TEXT)
"""


@pytest.fixture
def running(
    open_playground: Open, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Running:
    """A playground with workflows whose errors quote every key."""
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    app = tmp_path_factory.mktemp("app") / "leaky_app.py"
    app.write_text(APP.format(names=list(ENVIRONMENT), mark=MARK))
    running = open_playground(sources=[str(app)])
    running.access.token = ENVIRONMENT["GREENROOM_TOKEN"]
    return running


def addresses(running: Running) -> dict[str, str]:
    listed = running.api.get("workflows").raise_for_status().json()["items"]
    return {one["name"]: one["address"] for one in listed}


def everything(running: Running, **ids: Any) -> Iterator[tuple[str, str]]:
    """The answers of all operations that only read, by path."""
    for one in operations(running):
        if one.method != "GET":
            continue
        path = one.filled(**ids)
        with running.api.stream("GET", f"{running.address}{path}", timeout=5) as answer:
            said = str(answer.headers)
            if one.name == "follow_events":
                yield path, said
                continue
            yield path, said + answer.read().decode("utf-8", "replace")


def stored(folder: Path) -> dict[str, bytes]:
    """The files of the store."""
    found = {path.name: path.read_bytes() for path in folder.glob("runs.db*")}
    assert found
    return found


@pytest.mark.slow
def test_keys_in_errors_of_workflows_reach_nobody(
    running: Running,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.DEBUG)
    talk = Talk(running.api)
    known = addresses(running)
    seen: list[str] = []
    ids: dict[str, Any] = {}
    for name in ("leaky", "half"):
        thread = talk.thread(known[name])
        body = {"version": thread["version"], "messages": [{"role": "user", "content": "hello"}]}
        streamed = running.api.post(f"threads/{thread['id']}/turns", json=body)
        seen.append(streamed.text)
        (turn,) = talk.get(f"threads/{thread['id']}")["turns"]
        assert (turn["status"], "refused" in turn["error"]) == ("broken", True), turn
        seen.append(running.api.get(f"turns/{turn['id']}/stream").text)
        ids |= {"thread_id": thread["id"], "turn_id": turn["id"], "board_id": thread["board_id"]}
    form = talk.thread(known["form"], inputs={"title": "Solaris"})
    board = form["board_id"]
    seen.append(running.api.post(f"boards/{board}/run", json={}).text)
    wait_for(lambda: talk.get(f"threads/{form['id']}")["turns"][-1]["status"] == "broken")

    running.store.test_sets.save("books", [{"title": "Solaris", "expected": "L1"}])
    wanted = {"workflow": known["form"], "test_set": "books", "name": "leaky"}
    started = running.api.post("evaluations", json=wanted | {"evaluators": [{"name": "contains"}]})
    assert started.status_code < 300, started.text
    wait_for(lambda: talk.get("evaluations/leaky")["finished"] or _ended(talk))

    for path, text in everything(running, **ids, evaluation="leaky", name="books", run="x"):
        assert MARK not in text, path
    for text in seen:
        assert MARK not in text
    for name, content in stored(tmp_path).items():
        assert MARK.encode() not in content, name
    out, err = capfd.readouterr()
    assert MARK not in caplog.text + out + err


def _ended(talk: Talk) -> bool:
    return talk.get("evaluations/leaky")["status"] != "running"


def test_an_address_with_a_key_is_not_kept(running: Running, tmp_path: Path) -> None:
    for address in (
        f"http://me:{MARK}@127.0.0.1:9/",
        f"http://127.0.0.1:9/?key={MARK}0123",
        f"http://127.0.0.1:9/{'x' * 20}?api_key={MARK}0123#token={MARK}",
    ):
        answer = running.api.post("workflows", json={"address": address})
        assert MARK not in answer.text
        listed = running.api.get("workflows").text
        assert MARK not in listed
        one = running.api.get("workflows/one", params={"address": address})
        assert MARK not in one.text
    for name, content in stored(tmp_path).items():
        assert MARK.encode() not in content, name


def test_a_defect_of_the_server_tells_no_key(
    running: Running, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(**_: Any) -> None:
        raise RuntimeError(f"cannot connect with {ENVIRONMENT['SHOP_PASSWORD']}")

    monkeypatch.setattr(running.store.notes, "tags", broken)
    answer = running.api.get("notes/tags")
    assert answer.status_code == 500
    assert "cannot connect with [SHOP_PASSWORD]" in answer.json()["detail"]
    assert MARK not in caplog.text


def test_codes_and_cookies_are_in_no_log(
    running: Running, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG, logger="greenroom")
    caplog.set_level(logging.DEBUG, logger="uvicorn")
    link = running.link
    with httpx.Client() as client:
        entered = client.get(link)
        client.get(f"{running.address}/api/v1/nothing")
    cookie = entered.headers["set-cookie"].partition("=")[2].partition(";")[0]
    code = link.partition("code=")[2]
    logged = "\n".join(
        one.getMessage() for one in caplog.records if not one.name.startswith(("httpx", "httpcore"))
    )
    out, err = capfd.readouterr()
    for secret in (code, cookie, ENVIRONMENT["GREENROOM_TOKEN"]):
        assert secret not in logged + out + err
