"""Talking to a playground over its API."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

APP = Path(__file__).with_name("talk_app.py")


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def address(name: str) -> str:
    return f"{APP}:{name}"


def events_of(text: str) -> list[Any]:
    """The events of a stream; `[DONE]` as text."""
    lines = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]
    return [line if line == "[DONE]" else json.loads(line) for line in lines]


def text_in(events: list[Any]) -> str:
    """The text of a UI message stream."""
    deltas = [one for one in events if one != "[DONE]" and one["type"] == "text-delta"]
    return "".join(one["delta"] for one in deltas)


def wait_for(what: Callable[[], Any], seconds: float = 60) -> Any:
    """What a function gives, as soon as it is true."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if found := what():
            return found
        time.sleep(0.05)
    raise AssertionError("it did not happen in time")


@dataclass(frozen=True)
class Talk:
    """A client of the API that raises for what is refused."""

    api: httpx.Client

    def get(self, path: str, **query: Any) -> Any:
        return self._json(self.api.get(path, params=query))

    def post(self, path: str, **body: Any) -> Any:
        return self._json(self.api.post(path, json=body))

    def patch(self, path: str, **body: Any) -> Any:
        return self._json(self.api.patch(path, json=body))

    def delete(self, path: str, **query: Any) -> None:
        self.api.delete(path, params=query).raise_for_status()

    def refused(self, method: str, path: str, status: int, **body: Any) -> str:
        """The text of a refusal."""
        answer = self.api.request(method, path, json=body)
        assert answer.status_code == status, answer.text
        return answer.json()["detail"]

    def board(self, *names: str, **fields: Any) -> Any:
        """A board with a thread for each of these workflows."""
        threads = [{"address": name if ":" in name else address(name)} for name in names]
        return self.post("boards", threads=threads, **fields)

    def thread(self, name: str, **fields: Any) -> Any:
        """A thread on a board of its own."""
        spec = {"address": name if ":" in name else address(name), **fields}
        return self.post("boards", threads=[spec])["threads"][0]

    def say(self, thread: Any, *messages: Any, **fields: Any) -> Any:
        """Say something in a thread and wait for the end: the thread as it is then."""
        said = [user(one) if isinstance(one, str) else one for one in messages]
        version = self.get(f"threads/{thread['id']}")["version"]
        body = {"version": version, "messages": said, **fields}
        answer = self.api.post(f"threads/{thread['id']}/turns", json=body)
        assert answer.status_code == 200, answer.text
        return self.get(f"threads/{thread['id']}")

    @staticmethod
    def _json(answer: httpx.Response) -> Any:
        assert answer.status_code < 300, answer.text
        return answer.json()


@contextmanager
def listening(talk: Talk) -> Generator[Iterator[dict[str, Any]]]:
    """The events of a playground, as they come."""
    with talk.api.stream("GET", "events", timeout=20) as answer:
        lines = answer.iter_lines()
        assert next(lines) == ": open"
        yield (json.loads(line[6:]) for line in lines if line.startswith("data: "))
