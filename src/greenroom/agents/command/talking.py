"""How a command talks: by text, a process for each turn, or by JSON lines, one for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from greenroom.agents.command.processes import AgentProcess, CommandCrashed, Printed, ending
from greenroom.agents.command.settings import CommandSettings
from greenroom.agents.conversation import Unreadable, read_object
from greenroom.agents.turns import OutOfTurn, Turns
from greenroom.domains.tasks import Action
from greenroom.errors import EpisodeOver
from greenroom.models import BudgetExhausted
from greenroom.tracing import spans
from greenroom.util.json_values import as_dict, encoded
from greenroom.workflows.usage import read_usage, report_usage

UNUSABLE_LIMIT = 5
"""How many lines in a row that cannot be used end the episode."""
_SHOWN_BYTES = 60
"""Bytes of a line that a problem tells."""
CONVERSATION_FILE = "conversation.json"
"""The file in the working folder that tells a text agent what was said before."""


@dataclass(frozen=True)
class Place:
    """Where and how the processes of one episode run."""

    words: list[str]
    folder: Path
    variables: Mapping[str, str]
    mark: str
    """A text that only the environment of these processes holds."""
    addresses: Mapping[str, str]

    async def start(self, printed: Printed, **more: str) -> AgentProcess:
        variables = {**self.variables, **more, **spans.environment()}
        return await AgentProcess.start(self.words, self.folder, variables, printed, self.mark)


class TextTalk:
    """A process for each turn: it reads the message to its end, and prints its answer."""

    def __init__(
        self, turns: Turns, place: Place, settings: CommandSettings, printed: Printed
    ) -> None:
        self._turns, self._place, self._printed = turns, place, printed
        self._policy = turns.policy if settings.policy else ""
        self._turn = 0

    async def take_turn(self, heard: str) -> str | None:
        self._turn += 1
        file = self._place.folder / CONVERSATION_FILE
        told = {"policy": self._policy, "messages": self._turns.messages}
        await anyio.Path(file).write_bytes(encoded(told))
        text = f"{self._policy}\n\n---\n\n{heard}" if self._turn == 1 and self._policy else heard
        process = await self._place.start(
            self._printed, GREENROOM_TURN=str(self._turn), GREENROOM_CONVERSATION=str(file)
        )
        try:
            process.write(text.encode("utf-8", "replace"), last=True)
            output = await process.output()
            if status := await process.status():
                self._printed.add(output)
                raise CommandCrashed(f"The agent's command ended with status {status}.")
        finally:
            await process.stop()
        return output.decode("utf-8", "replace").strip()

    async def close(self) -> None:
        """Nothing is left open between turns."""


class LinesTalk:
    """A process for all turns, which reads and prints a JSON object on each line."""

    def __init__(
        self, turns: Turns, place: Place, settings: CommandSettings, printed: Printed
    ) -> None:
        self._turns, self._place, self._printed = turns, place, printed
        self._tells_policy = settings.policy
        self._process: AgentProcess | None = None
        self._spoke = False

    async def take_turn(self, heard: str) -> str | None:
        if self._process is None:
            await self._start()
        process = self._process
        assert process is not None
        _send(process, {"user": heard, **_trace()})
        unusable, silent = 0, True
        while True:
            line = await process.line()
            if line is None:
                status = await process.status()
                await self.close()
                if status:
                    raise ending(status)
                # It ended after its last message: the next one is for a process of its own.
                return await self.take_turn(heard) if silent and self._spoke else None
            silent = False
            try:
                kind, content = _read_line(line)
            except Unreadable as problem:
                self._printed.add(line + b"\n")
                _send(process, {"error": str(problem)})
                unusable += 1
                # A program that spreads its message over lines would wait for us, and we for it.
                if unusable == UNUSABLE_LIMIT or line.strip() == b"{":
                    raise CommandCrashed(_unusable_text(line, problem)) from problem
                continue
            unusable = 0
            if kind == "message":
                self._spoke = True
                return content
            if kind == "usage":
                process.count(len(line))
            await self._follow(process, kind, as_dict(content))

    async def _start(self) -> None:
        self._spoke = False
        self._process = await self._place.start(self._printed)
        told: dict[str, Any] = {
            "tools": self._turns.tool_infos,
            "messages": self._turns.messages[:-1],
            **self._place.addresses,
        }
        if self._tells_policy:
            told["policy"] = self._turns.policy
        _send(self._process, {"start": told})

    async def _follow(self, process: AgentProcess, kind: str, content: dict[str, Any]) -> None:
        if kind == "usage":
            used = read_usage(content)
            report_usage(**used.to_json())
            return
        try:
            answer = await self._turns.step(Action(content["name"], content["arguments"]))
        except (EpisodeOver, OutOfTurn) as problem:
            answer = f"Error: {problem}"
        _send(process, {"tool_result": {"id": content.get("id"), "content": answer}})

    async def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            await process.end_input(_count_usage)
            await process.stop()


def _count_usage(line: bytes) -> None:
    """Count what a program reports at its end."""
    with suppress(Unreadable, BudgetExhausted):  # what is over the budget is counted, too
        kind, content = _read_line(line)
        if kind == "usage":
            report_usage(**read_usage(as_dict(content)).to_json())


def _trace() -> dict[str, str]:
    """The span of a turn, for a process that has several."""
    here = spans.traceparent()
    return {} if here is None else {"traceparent": here}


def _send(process: AgentProcess, value: dict[str, Any]) -> None:
    process.write(encoded(value) + b"\n")


def _unusable_text(line: bytes, problem: Unreadable) -> str:
    shown = line[:_SHOWN_BYTES].decode("utf-8", "replace").strip()
    if shown == "{":
        return "The agent printed an object over several lines: each has to be on one line."
    return f"The agent printed {shown!r}, not a line of its protocol: {problem}."


def _read_line(line: bytes) -> tuple[str, Any]:
    """What a line says, and its content; raises Unreadable."""
    found = read_object(line.decode("utf-8", "replace"))
    match found:
        case {"message": str(words)}:
            return "message", words
        case {"usage": dict()}:
            return "usage", found["usage"]
        case {"tool_call": {"name": str()}}:
            call = as_dict(found["tool_call"])
            arguments: Any = call.get("arguments") or {}
            if isinstance(arguments, str):
                arguments = read_object(arguments.strip() or "{}")
            if not isinstance(arguments, dict):
                raise Unreadable("the arguments of a tool_call are a JSON object")
            return "tool_call", call | {"arguments": as_dict(arguments)}
        case _:
            raise Unreadable(
                'a line is {"message": TEXT}, {"tool_call": {"name": ..., "arguments": {...}}} or '
                '{"usage": {...}}'
            )
