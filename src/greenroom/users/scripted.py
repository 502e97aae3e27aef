"""A user with scripted lines, answers and calls."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import BeforeValidator, Field

from greenroom.domains.tasks import Action
from greenroom.errors import InputError, OutsideFault
from greenroom.options import Settings
from greenroom.users.conditions import RESULT, Goal, filled
from greenroom.users.requests import DONE, requested_calls
from greenroom.users.scripts import (
    Answer,
    Opening,
    Otherwise,
    Reply,
    UserScript,
    UserScripts,
    read_setting,
)
from greenroom.users.strategies import Exchanges, UserContext, UserStrategy

if TYPE_CHECKING:
    from greenroom.domains.environment import UserTools

_SHOWN: Final = 200
"""Characters of an agent's message in an error."""


class ScriptedSettings(Settings):
    """Settings of the scripted user."""

    script: Annotated[UserScripts | None, BeforeValidator(read_setting)] = Field(
        default=None, description="A TOML file of what users say and do; it is kept with the run."
    )


@dataclass
class _Place:
    """How far a script was played."""

    turn: int = 0
    """The number of the agent's last message."""
    said: int = 0
    """How many lines were said."""
    used: dict[int, int] = field(default_factory=dict[int, int])
    """How often each answer was given, by its place."""
    at_a_loss: int = 0
    """How often there was neither an answer nor a line."""


class ScriptedUser:
    """Opens with the instruction or the first line, answers what it has answers to, says its lines
    one after the other, and stops.

    A line that is an action is a call of one of the user's tools, made before the next message.
    With `does_as_asked`, the user makes the calls that an agent's request names and says so.
    """

    def __init__(
        self,
        replies: Iterable[str | Action | Reply] = (),
        *,
        opening: str | Opening | None = None,
        opening_calls: Iterable[Action] = (),
        answers: Sequence[Answer] = (),
        otherwise: Otherwise | None = None,
        does_as_asked: bool = False,
        name: str = "the script",
    ) -> None:
        self._opening = opening
        self._opening_calls = tuple(opening_calls)
        if isinstance(opening, Opening):
            self._opening_calls += tuple(call.action for call in opening.calls)
        self._lines = tuple(_lines(replies))
        self._answers = tuple(answers)
        # A question that nobody thought of is no reason to leave.
        self._last = otherwise or Otherwise(fail=bool(self._answers), stop=not self._answers)
        self._does_as_asked = does_as_asked
        self._name = name
        self._place = _Place()
        self._tools: UserTools | None = None

    def equip(self, tools: UserTools) -> None:
        self._tools = tools

    @property
    def tallies(self) -> dict[str, dict[str, float | None]]:
        """What of the script was said, and what was not."""
        if not self._lines and not self._answers:
            return {}
        place = self._place
        counts: dict[str, float | None] = {
            "lines said": place.said,
            "lines left over": len(self._lines) - place.said,
            "answers given": sum(place.used.values()),
            "answers never given": len(self._answers) - len(place.used),
            "neither answer nor line": place.at_a_loss,
        }
        return {"script": counts}

    async def open(self, instruction: str) -> str:
        self._place = _Place()
        own = self._opening.say if isinstance(self._opening, Opening) else self._opening
        words = instruction if own is None else own
        fills = own is not None and isinstance(self._opening, Opening)
        return await self._carried_out(_Line(words, self._opening_calls, fills))

    async def reply(self, content: str) -> str:
        line = await self._next(content)
        if line is None:
            raise OutsideFault(
                f"The user has no answer to the agent's message {self._place.turn}, "
                f"'{_short(content)}': {self._name} has neither an answer that fits nor a line "
                "left. Add one, or say by 'otherwise' what comes then."
            )
        return await self._carried_out(line)

    async def take_over(self, instruction: str, opening: str, exchanges: Exchanges) -> None:
        """Go on behind what was said."""
        self._place = _Place()
        for content, _ in exchanges:
            await self._next(content)

    async def _next(self, content: str) -> _Line | None:
        """What comes after a message of the agent; None where the script does not say."""
        place = self._place
        place.turn += 1
        asked = requested_calls(content) if self._does_as_asked and self._tools else []
        if asked:
            return _Line(DONE, tuple(asked))
        for number, answer in enumerate(self._answers):
            if await self._fits(number, answer, content):
                place.used[number] = place.used.get(number, 0) + 1
                return _line(answer)
        if place.said < len(self._lines):
            place.said += 1
            return self._lines[place.said - 1]
        place.at_a_loss += 1
        return None if self._last.fail else _line(self._last)

    async def _fits(self, number: int, answer: Answer, content: str) -> bool:
        place = self._place
        if place.turn < answer.from_turn or place.said < answer.after_line:
            return False
        if answer.times is not None and place.used.get(number, 0) >= answer.times:
            return False
        try:
            return await answer.holds(content)
        except TimeoutError:
            raise OutsideFault(
                f"The pattern of {self._name}, answer {number + 1} takes too long on the agent's "
                f"message {place.turn}: write a simpler one."
            ) from None

    async def _carried_out(self, line: _Line) -> str:
        results = [await self._make(call) for call in line.calls]
        return filled(line.words, {RESULT: "\n".join(results)}) if line.fills else line.words

    async def _make(self, call: Action) -> str:
        if self._tools is None:
            raise InputError(
                f"The script calls {call.name}, but users have no tools in this domain."
            )
        return await self._tools.call(call.name, call.kwargs, joined=call.joined)


@dataclass(frozen=True)
class _Line:
    words: str
    calls: tuple[Action, ...] = ()
    fills: bool = False
    """What the calls give takes the place of {{result}}; words of others are left as they are."""


def _line(given: Reply | Otherwise) -> _Line:
    return _Line(given.words, tuple(call.action for call in given.calls), fills=bool(given.calls))


def _lines(replies: Iterable[str | Action | Reply]) -> Iterable[_Line]:
    calls: list[Action] = []
    for one in replies:
        if isinstance(one, Action):
            calls.append(one)
            continue
        own = _Line(one) if isinstance(one, str) else _line(one)
        yield _Line(own.words, (*calls, *own.calls), own.fills)
        calls = []
    if calls:
        yield _Line(Reply(stop=True).words, tuple(calls))


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _SHOWN else f"{words[:_SHOWN]} ..."


def _scripts(context: UserContext) -> UserScripts | None:
    return context.settings.script if isinstance(context.settings, ScriptedSettings) else None


def _found(context: UserContext) -> tuple[str, UserScript] | None:
    """The script of a task or a row, with its name, as it is in the file."""
    scripts = _scripts(context)
    found = None
    if scripts is not None:
        found = scripts.find(context.task_index, context.task_id, context.row)
    if scripts is None or found is None:
        return None
    number, script = found
    name, row = f"{scripts.source}, script {number}", context.row or {}
    lacking = sorted(one for one in script.columns if _is_blank(row.get(one)))
    if lacking:
        what = "is empty here" if lacking[0] in row else "is no column here"
        raise InputError(f"{name} has the placeholder {{{{{lacking[0]}}}}}, and that {what}.")
    return name, script


def _is_blank(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _needed(context: UserContext) -> tuple[str, UserScript] | None:
    """The same; None only where there is no file."""
    found, scripts = _found(context), _scripts(context)
    if found is None and scripts is not None:
        who, key = "this conversation", "tasks or rows"
        if context.task_index is not None:
            who, key = f"task {context.task_index}", f"tasks = [{context.task_index}]"
        elif context.row is not None:
            who, key = "this row", "rows = {COLUMN = VALUE}"
        raise InputError(
            f"{scripts.source} has no script for {who}: add one with {key}, or one without tasks "
            "and rows, which is for all others."
        )
    return found


def _create(context: UserContext) -> ScriptedUser:
    found = _needed(context)
    if found is None:
        return ScriptedUser(does_as_asked=True)
    name, script = found[0], found[1].for_row(context.row or {})
    return ScriptedUser(
        script.lines,
        opening=script.opening,
        answers=script.answers,
        otherwise=script.otherwise,
        does_as_asked=True,
        name=name,
    )


def _check(context: UserContext) -> None:
    scripts = _scripts(context)
    if scripts is not None and context.columns is not None:
        scripts.check_columns(context.columns)
    found = _needed(context)
    if found is None:
        return
    name, script = found
    unknown = [call.tool for call in script.calls if call.tool not in context.user_tools]
    if unknown:
        has = ", ".join(sorted(context.user_tools)) or "none"
        raise InputError(
            f"{name} calls {unknown[0]}, which users do not have here. Their tools: {has}."
        )


def _named_tasks(settings: ScriptedSettings) -> Sequence[int | str]:
    scripts = () if settings.script is None else settings.script.scripts
    return [name for script in scripts for name in script.tasks]


def _columns(settings: ScriptedSettings) -> frozenset[str]:
    return frozenset() if settings.script is None else settings.script.columns


def _goals(context: UserContext) -> Sequence[Goal]:
    found = _found(context)
    return () if found is None else found[1].goals_for_row(context.row or {})


strategy = UserStrategy(
    "scripted",
    _create,
    "says the lines and answers of a script; without one its instruction, does what a rehearsal "
    "asks for, then stops",
    settings=ScriptedSettings,
    check_case=_check,
    named_tasks=_named_tasks,
    columns=_columns,
    goals=_goals,
)
