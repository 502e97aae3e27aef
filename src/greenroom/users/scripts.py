"""Scripts of users in files: what they say and do, for each task or row of a test set."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Final, cast

import orjson
from pydantic import BaseModel, BeforeValidator, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails

from greenroom.domains.packs import read_text
from greenroom.domains.tasks import STOP, Action
from greenroom.errors import DataError, InputError
from greenroom.options import Config
from greenroom.users.conditions import RESULT, Condition, Goal, filled, placeholders
from greenroom.util.raw_json import raw_text

LONGEST: Final = 1_000_000
"""Characters of a file: it is kept with the run."""


class ScriptedCall(Config):
    """A call of one of the user's tools."""

    tool: str = Field(min_length=1)
    arguments: dict[str, Any] = Field(default_factory=dict[str, Any])

    @property
    def action(self) -> Action:
        """The call as the environment takes it."""
        return Action(self.tool, self.arguments, "user")


class Opening(Config):
    """How a user begins."""

    say: str | None = Field(default=None, min_length=1)
    """None: the instruction of the task, or the goal of the row."""
    calls: tuple[ScriptedCall, ...] = ()

    @model_validator(mode="after")
    def _has_results(self) -> Opening:
        if not self.calls and RESULT in placeholders(self.say or ""):
            raise ValueError("{{result}} stands for what calls gave, and there are no calls")
        return self


class _Ending(Opening):
    """What a user says, or that they end the conversation."""

    stop: bool = False

    @property
    def words(self) -> str:
        """What the user says."""
        return STOP if self.say is None else self.say


class Reply(_Ending):
    """What a user does and then says, or that they end the conversation."""

    @model_validator(mode="after")
    def _is_one(self) -> Reply:
        if self.stop == (self.say is not None):
            raise ValueError("a text in say is needed, or stop = true, and not both")
        return self


class Otherwise(_Ending):
    """What comes where a script has neither an answer nor a line left."""

    fail: bool = False

    @model_validator(mode="after")
    def _is_one(self) -> Otherwise:
        if [self.say is not None, self.stop, self.fail].count(True) != 1:
            raise ValueError("one of say, stop = true and fail = true is needed")
        if self.fail and self.calls:
            raise ValueError("a conversation that fails makes no calls")
        return self


class Answer(Reply, Condition):
    """What a user answers, whenever the agent says something."""

    from_turn: int = Field(default=1, ge=1)
    """Not before the agent's message of this number."""
    after_line: int = Field(default=0, ge=0)
    """Not before so many lines were said."""
    times: int | None = Field(default=None, ge=1)
    """How often; None: as often as asked."""

    @model_validator(mode="after")
    def _has_a_condition(self) -> Answer:
        if not self.looks and self.from_turn == 1 and self.after_line == 0:
            raise ValueError(
                "it has no condition: give it says, says_all, says_none, matches, from_turn or "
                "after_line, or put it under otherwise"
            )
        return self


def _as_table(given: Any) -> Any:
    return {"say": given} if isinstance(given, str) else given


def _is_task(name: Any) -> Any:
    is_one = isinstance(name, (int, str)) and not isinstance(name, bool)
    if not is_one:
        raise ValueError('write a place such as 24, or an id as a text such as "cancel-24"')
    return name


_Spoken = BeforeValidator(_as_table)
_TaskName = Annotated[int | str, BeforeValidator(_is_task)]


class UserScript(Config):
    """What one user says and does."""

    tasks: tuple[_TaskName, ...] = ()
    """The places or ids of the tasks that it is for."""
    rows: dict[str, Any] = Field(default_factory=dict[str, Any])
    """It is for the rows of a test set whose columns have these values."""
    opening: Annotated[Opening, _Spoken] = Opening()
    answers: tuple[Answer, ...] = ()
    lines: tuple[Annotated[Reply, _Spoken], ...] = ()
    otherwise: Annotated[Otherwise, _Spoken] | None = None
    goals: tuple[Goal, ...] = ()
    """All of these have to be reached."""

    @model_validator(mode="after")
    def _is_for_one_kind(self) -> UserScript:
        if self.tasks and self.rows:
            raise ValueError("tasks and rows exclude each other: write two scripts")
        return self

    @property
    def calls(self) -> Iterator[ScriptedCall]:
        """All calls that it may make."""
        for one in (self.opening, *self.answers, *self.lines, *filter(None, [self.otherwise])):
            yield from one.calls

    @cached_property
    def columns(self) -> frozenset[str]:
        """The columns that its placeholders name."""
        found = _texts_in(self._parts)
        return frozenset(name for text in found for name in placeholders(text)) - {RESULT}

    def for_row(self, row: Mapping[str, Any]) -> UserScript:
        """The script with the row's values in the place of its placeholders."""
        if not self.columns:
            return self
        values = {name: row[name] for name in self.columns if row.get(name) is not None}
        return UserScript.model_validate(_with_values(self._parts, values))

    def goals_for_row(self, row: Mapping[str, Any]) -> tuple[Goal, ...]:
        """The goals with the row's values in the place of their placeholders."""
        return self.for_row(row).goals if self._goals_differ else self.goals

    @cached_property
    def _goals_differ(self) -> bool:
        goals = [goal.model_dump(exclude_defaults=True) for goal in self.goals]
        return any(placeholders(text) for text in _texts_in(goals))

    @cached_property
    def _parts(self) -> dict[str, Any]:
        return self.model_dump(exclude_defaults=True, exclude={"tasks", "rows"})


class UserScripts(Config):
    """The content of a file: scripts, each for some tasks or rows, or for all others."""

    scripts: tuple[UserScript, ...] = Field(min_length=1)
    source: str = "the script"
    """The name of the file."""

    @model_validator(mode="after")
    def _knows_who_plays(self) -> UserScripts:
        seen = set[tuple[str, Any]]()
        for key in (key for script in self.scripts for key in _keys(script)):
            if key in seen:
                kind, what = key
                raise ValueError(
                    "two scripts are for all tasks and rows that no other one is for: give all but "
                    "one of them tasks or rows"
                    if kind == "others"
                    else f"two scripts are for {kind} {what}: leave it to one"
                )
            seen.add(key)
        return self

    def find(
        self, task_index: int | None, task_id: str | None, row: Mapping[str, Any] | None
    ) -> tuple[int, UserScript] | None:
        """The script of a task or a row, with its number from 1; None if there is none."""
        for key in (("task", task_index), ("task", task_id)):
            if key[1] is not None and key in self._by_key:
                return self._by_key[key]
        for columns in self._columns if row is not None else ():
            assert row is not None
            key = ("rows", tuple((name, _shown(row.get(name))) for name in columns))
            if key in self._by_key:
                return self._by_key[key]
        return self._by_key.get(("others", ""))

    @cached_property
    def _by_key(self) -> dict[tuple[str, Any], tuple[int, UserScript]]:
        return {
            key: (number, script)
            for number, script in enumerate(self.scripts, start=1)
            for key in _keys(script)
        }

    @cached_property
    def _columns(self) -> list[tuple[str, ...]]:
        """The sets of columns by which rows are told apart, the larger ones first."""
        found = {tuple(sorted(script.rows)) for script in self.scripts if script.rows}
        return sorted(found, key=lambda columns: (-len(columns), columns))

    @cached_property
    def columns(self) -> frozenset[str]:
        """All columns of test sets that the scripts need."""
        named = (script.columns | set(script.rows) for script in self.scripts)
        return frozenset[str]().union(*named)

    def check_columns(self, known: Collection[str]) -> None:
        """Raise InputError where rows are chosen by a column that their test set lacks."""
        if not {name for columns in self._columns for name in columns}.difference(known):
            return
        number, name = next(
            (number, name)
            for number, script in enumerate(self.scripts, start=1)
            for name in script.rows
            if name not in known
        )
        raise InputError(
            f"{self.source}, script {number} is for rows by '{name}', and no column here is named "
            f"so. There are: {', '.join(known)}."
        )


def _keys(script: UserScript) -> Iterator[tuple[str, Any]]:
    for name in script.tasks:
        yield "task", name.removeprefix("id:") if isinstance(name, str) else name
    if script.rows:
        yield "rows", tuple((name, _shown(script.rows[name])) for name in sorted(script.rows))
    if not script.tasks and not script.rows:
        yield "others", ""


def read_scripts(path: Path) -> UserScripts:
    """The scripts of a TOML file; raises DataError with the place of what is wrong."""
    path = path.expanduser()
    if path.suffix.lower() != ".toml":
        raise DataError(f"{path} is no user script: it is a TOML file, whose name ends in .toml.")
    text = read_text(path)
    if len(text) > LONGEST:
        raise DataError(
            f"{path} has more than {LONGEST:,} characters. Let rows of a test set fill "
            "placeholders such as {{city}}, or split it."
        )
    try:
        content = tomllib.loads(text.removeprefix("\N{BYTE ORDER MARK}"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise DataError(f"{path} is not TOML: {error}.") from error
    try:
        content = orjson.loads(orjson.dumps(content))  # as it is kept: a date is a text
    except TypeError as error:
        raise DataError(f"{path} holds what cannot be kept as JSON: {error}.") from error
    return parse_scripts({"source": path.name} | content, str(path))


def parse_scripts(content: Mapping[str, Any], source: str) -> UserScripts:
    """Scripts from the content of a file."""
    try:
        return UserScripts.model_validate(dict(content))
    except ValidationError as error:
        raise DataError(_problem(source, error.errors()[0])) from error


def _problem(source: str, first: ErrorDetails) -> str:
    """What is wrong, where, and what to do."""
    *outer, last = first["loc"] or ("",)
    where, said = _at(source, first["loc"]), str(first["msg"]).removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        return f"{_at(source, outer)}: unknown key '{last}'. {_hint(str(last))}"
    if last == "scripts":
        return f"{source}: write [[scripts]] before each script."
    if first["type"] == "missing":
        return f"{_at(source, outer)}: {last} is missing."
    if first["type"] in ("model_type", "tuple_type", "dict_type"):
        key = outer[-1] if isinstance(last, int) and outer[-1] != "lines" else last
        said = _HOW.get(str(key), 'write a text, or a table such as {say = "Hello."}')
    elif first["type"] == "string_too_short":
        said = "the text is empty"
    return f"{where}: {said}."


def read_setting(given: Any) -> Any:
    """Scripts from what a setting says: a file, or the content of one as it is kept."""
    if isinstance(given, (str, Path)):
        return read_scripts(Path(given))
    if isinstance(given, Mapping):
        return parse_scripts(cast("Mapping[str, Any]", given), "the script")
    return given


_TEXTS: Final = 'write a text, or a list such as ["order id", "order number"]'
_HOW: Final = {
    "answers": "write [[scripts.answers]] before each of them",
    "arguments": 'write a table such as {mode = "heat"}',
    "called": 'write a text, or a list such as ["cancel", "refund"]',
    "calls": 'write a list such as [{tool = "read_display"}]',
    "goals": "write [[scripts.goals]] before each of them",
    "lines": 'write a list such as ["Hello.", {say = "Yes."}]',
    "rows": 'write a table such as {city = "Rome"}',
    "says": _TEXTS,
    "says_all": _TEXTS,
    "says_none": _TEXTS,
    "scripts": "write [[scripts]] before each script",
    "tasks": "write a list such as [24]",
}
"""How to write what somebody wrote in another form."""


def _at(source: str, loc: Sequence[int | str]) -> str:
    """Where something is, for people: "refunds.toml, script 2, answer 1, matches"."""
    words = [source]
    for part in loc:
        if isinstance(part, int):
            many = words[-1]
            one = "text" if many.startswith("says") else many.removesuffix("s")
            words[-1:] = [*([many] if one == "text" else []), f"{one} {part + 1}"]
        else:
            words.append(part)
    return ", ".join(words)


_MODELS: Final[tuple[type[BaseModel], ...]] = (
    *(UserScripts, UserScript, Answer, Otherwise, ScriptedCall, Goal),
)


def _hint(key: str) -> str:
    known = sorted({name for model in _MODELS for name in model.model_fields} - {"source"})
    close = get_close_matches(key, known, n=1)
    return f"Did you mean '{close[0]}'?" if close else f"There are: {', '.join(known)}."


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else raw_text(value)


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for one in cast("Mapping[str, Any]", value).values():
            yield from _texts_in(one)
    elif isinstance(value, (list, tuple)):
        for one in cast("list[Any]", value):
            yield from _texts_in(one)


def _with_values(value: Any, values: Mapping[str, Any], key: str = "") -> Any:
    """A part of a script with its placeholders filled.

    Within a pattern they are plain texts. An argument that is a placeholder keeps the value's type.
    """
    if isinstance(value, str):
        names = placeholders(value)
        if key == "arguments" and len(names) == 1 and not filled(value, {names[0]: ""}):
            return values.get(names[0], value)
        shown = {name: _shown(values[name]) for name in names if name in values}
        if key == "matches":
            shown = {name: re.escape(one) for name, one in shown.items()}
        return filled(value, shown)
    if isinstance(value, Mapping):
        return {
            name: _with_values(one, values, key if key == "arguments" else name)
            for name, one in cast("Mapping[str, Any]", value).items()
        }
    if isinstance(value, (list, tuple)):
        return [_with_values(one, values, key) for one in cast("list[Any]", value)]
    return value
