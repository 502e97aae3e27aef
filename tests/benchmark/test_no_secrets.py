"""A key is sent to its provider and nowhere else: not to a file, not to a log, not to a message.

The server repeats the key in all that it answers, as some do when they refuse it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from aiohttp import web

from greenroom.store import Store, open_store
from tests.cli.running import Greenroom
from tests.models.stub_server import answer_body

KEYS = {  # not as keys look, so that nobody else hides them for us
    "GREENROOM_API_KEY": "planted-7f3e9c51d2ab8846",
    "OPENAI_API_KEY": "planted-91b2d06e3c7fa5d8",
    "ANTHROPIC_API_KEY": "planted-c40d1e7782b95f63",
}
FORMATS = ("json", "tau-bench", "markdown", "html")


@dataclass
class Echo:
    """A server that repeats the headers it was sent, with whatever status comes next."""

    statuses: list[int] = field(default_factory=list[int])
    """The last one for ever; 200 is an answer, and 0 one that is not JSON."""
    port: int = 0
    echoed: int = 0
    sent: set[str] = field(default_factory=set[str])
    """The variables whose keys it was sent."""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        await request.read()
        status = self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]
        if status == 200:
            return web.json_response(answer_body("How can I help you?"))
        headers = dict(request.headers)
        self.sent.update(name for name, key in KEYS.items() if key in str(headers))
        self.echoed += 1
        sent = headers.get("Authorization") or headers.get("x-api-key")
        text = f"{sent} will not do: {headers}"
        if status == 0:
            return web.Response(text=text, content_type="application/json")
        error = {"message": text, "type": "some_error", "code": None, "headers": headers}
        return web.json_response({"type": "error", "error": error}, status=status)


@contextmanager
def running(echo: Echo) -> Generator[Echo]:
    """The server, in a thread of its own."""
    started, loop = threading.Event(), asyncio.new_event_loop()

    async def serve() -> web.ServerRunner:
        runner = web.ServerRunner(web.Server(echo.handle, access_log=None), shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        echo.port = int(runner.addresses[0][1])
        return runner

    def run() -> None:
        runner = loop.run_until_complete(serve())
        started.set()
        loop.run_forever()
        loop.run_until_complete(runner.cleanup())
        loop.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    started.wait()
    try:
        yield echo
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


class Everything(logging.Handler):
    """Keeps all that is logged, with tracebacks, and the values that it was made of."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.setFormatter(logging.Formatter())
        self.texts: list[str] = []
        self._before: dict[logging.Logger, tuple[int, bool, bool]] = {}

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(f"{record.name}: {self.format(record)} {record.args!r}")

    def listen(self) -> None:
        """Hear every logger that there is by now, however quiet it is meant to be."""
        names = list(logging.Logger.manager.loggerDict)
        for logger in (logging.getLogger(), *map(logging.getLogger, names)):
            state = logger.level, logger.disabled, logger.propagate
            self._before.setdefault(logger, state)
            logger.setLevel(logging.DEBUG)
            logger.disabled, logger.propagate = False, True

    def leave(self) -> None:
        """Everything as it was."""
        for logger, (level, disabled, propagate) in self._before.items():
            logger.setLevel(level)
            logger.disabled, logger.propagate = disabled, propagate


@pytest.fixture
def logged() -> Generator[Everything]:
    """Whatever any logger says."""
    everything = Everything()
    logging.getLogger().addHandler(everything)
    yield everything
    logging.getLogger().removeHandler(everything)
    everything.leave()


@pytest.fixture
def kept() -> Generator[Store]:
    """The store, open all the while: what is in SQLite's log beside the database stays there."""
    store = open_store()
    yield store
    store.close()


@pytest.fixture(autouse=True)
def planted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, key in KEYS.items():
        monkeypatch.setenv(name, key)
    monkeypatch.setenv("GREENROOM_DEBUG", "1")
    monkeypatch.setenv("LITELLM_LOG", "DEBUG")
    monkeypatch.setenv("PYTHONASYNCIODEBUG", "1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setattr("greenroom.models.retries.BASE_SECONDS", 0.01)
    monkeypatch.setattr("greenroom.trials.engine._FIRST_WAIT_SECONDS", 0.01)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("way", "variable"),
    [
        ("server", "GREENROOM_API_KEY"),
        ("openai", "OPENAI_API_KEY"),
        pytest.param("litellm", "GREENROOM_API_KEY", marks=pytest.mark.slow),
        pytest.param("provider", "ANTHROPIC_API_KEY", marks=pytest.mark.slow),
    ],
)
def test_a_planted_key_is_nowhere(
    way: str,
    variable: str,
    greenroom: Greenroom,
    kept: Store,
    logged: Everything,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    said: list[str] = []

    def command(*arguments: object) -> int:
        logged.listen()  # also to what was imported, and quietened, meanwhile
        result = greenroom("--debug", *arguments)
        said.extend([result.out, result.err])
        return result.status

    with running(Echo()) as echo:
        monkeypatch.setenv("ANTHROPIC_API_BASE", echo.address)
        for module in ("endpoints", "direct"):
            monkeypatch.setattr(f"greenroom.models.{module}.OPENAI_URL", f"{echo.address}/v1")
        # The server's own address under another name, as it would be taken for OpenAI's else.
        server = ("--model", "m", "--api-base", f"http://localhost:{echo.port}/v1")
        model = {
            "server": server,
            "openai": ("--model", "gpt-4o"),
            "litellm": (*server, "--transport", "litellm"),
            "provider": ("--model", "claude-3-haiku-20240307", "--model-provider", "anthropic"),
        }[way]
        play = ("run", "--agent-strategy", "tool-calling", *model, "--end-index", 3, "--cache")
        short = ("--model-retries", 1, "--max-retries", 1, "--max-concurrency", 1)
        # One answer, which is kept, and then errors: some episodes have none to show but these.
        echo.statuses = [500] if way == "provider" else [200, 500, 0, 500]
        assert command(*play, *short, "--name", "broken") == (1 if way == "provider" else 0)
        for status in (401, 403, 404, 400):
            echo.statuses = [500, status]
            assert command("resume", "broken") == 2
        assert echo.echoed >= 10
        assert echo.sent == {variable}, "a key goes to whom it belongs, and no other does"
    for form in FORMATS:
        assert command("runs", "export", "broken", "--format", form) == 0
        file = tmp_path / f"export-{form}"
        assert command("runs", "export", "broken", "--format", form, "-o", file) == 0
    assert command("runs", "report", "broken", "-o", tmp_path / "report.html") == 0
    assert command("runs", "show", "broken") == 0
    assert command("runs", "list", "--json") == 0

    run = kept.runs.find("broken")
    outcomes = [record.outcome for record in kept.runs.results(run.id)]
    assert "infrastructure_error" in outcomes
    texts = [record.error or "" for record in kept.runs.results(run.id)]
    texts += [row.error for row in kept.runs.attempts(run.id)]
    assert any("will not do" in text for text in texts), "the server's words were quoted"

    files = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    names = {path.name for path in files}
    assert {"runs.db", "runs.db-wal", "report.html", "answers.db"} <= names
    assert {f"export-{form}" for form in FORMATS} <= names
    assert any(b"will not do" in content for content in files.values())
    heard = {text.partition(":")[0].partition(".")[0] for text in logged.texts}
    assert heard >= ({"asyncio", "LiteLLM"} if way in ("litellm", "provider") else {"asyncio"})
    for mark in KEYS.values():
        assert not [path for path, content in files.items() if mark.encode() in content]
        assert not [text for text in logged.texts if mark in text]
        assert not [text for text in said if mark in text]
        assert not [text for text in texts if mark in text]
    assert json.loads((tmp_path / "export-json").read_text())
