"""Turn the rows of a test set into calls of a workflow.

A chat workflow takes messages: those of a column with chats, or a text as the user's only message.
A row with a goal instead becomes a conversation with a simulated user. Any other workflow takes the
columns as they are; of a chat it gets the user's last message.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from greenroom.errors import InputError, UnknownName
from greenroom.evaluation.simulated import Brief, read_brief
from greenroom.evaluation.test_sets import Roles, column_roles, row_expected
from greenroom.messages import is_message, last_assistant_message, messages_of, text_of
from greenroom.store import ColumnKind, ColumnRecord, chat_of, decoded
from greenroom.util.json_values import as_dict
from greenroom.util.raw_json import raw_text, raw_value
from greenroom.workflows.call.examples import kind_of, required_inputs
from greenroom.workflows.calls import Profile

MESSAGES = "messages"
GOAL = "goal"
BRIEF_COLUMNS = (GOAL, "persona", "max_turns")
"""The columns of a simulated conversation; they are not sent to the workflow."""

Form = Literal["chat", "one message", "plain", "recorded"]
"""The input of a call: messages, one user message, the columns as they are, or no call at all."""

_CHATS: tuple[ColumnKind, ...] = ("chat", "message")
_TEXTS: tuple[ColumnKind, ...] = ("text", "number", "boolean", "mixed")


@dataclass(frozen=True)
class RowCall:
    """The call that a row becomes."""

    inputs: dict[str, Any]
    brief: Brief | None = None
    """For a conversation with a simulated user, who says the messages."""
    told: dict[str, Any] = field(default_factory=dict[str, Any], kw_only=True)
    """Columns that evaluators see among the inputs, and the workflow does not."""


@dataclass(frozen=True)
class RowPlan:
    """How the rows of one test set become calls of one workflow."""

    form: Form
    is_chat: bool
    """Whether outputs are read as messages."""
    roles: Roles
    message_column: str | None = None
    """The column with the user's messages."""
    text_input: str | None = None
    """The input of a plain call that takes the text of a chat."""
    passed: tuple[str, ...] = ()
    """The columns that are passed on under their own names."""
    brief: bool = False
    """A row may have a goal instead of messages."""
    required: tuple[str, ...] = ()
    properties: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def call(self, row: Mapping[str, Any], position: int) -> RowCall:
        """The call of a row; an InputError names a row without one."""
        inputs = {name: self._value(name, row[name]) for name in self.passed if name in row}
        brief, told = None, dict[str, Any]()
        if self.form == "recorded":
            if self.message_column is not None:
                inputs[MESSAGES] = _as_messages(row.get(self.message_column))
        elif self.form == "plain":
            if self.message_column is not None and self.text_input is not None:
                said = row.get(self.message_column)
                text = _last_user_text(said, position)
                inputs[self.text_input] = (
                    self._value(MESSAGES, said) if self.text_input == MESSAGES else text
                )
        elif self.message_column is not None and not _is_empty(row.get(self.message_column)):
            messages = self._messages(row[self.message_column], position)
            inputs[MESSAGES] = messages
            if self.brief and not _is_empty(row.get(GOAL)):
                told = {GOAL: row[GOAL]}  # of a transcript, too, one may ask whether it was reached
        elif self.brief and not _is_empty(row.get(GOAL)):
            brief = read_brief(row, position)
        else:
            raise InputError(f"Row {position + 1} has {self._lacking()}.")
        missing = [name for name in self.required if name not in inputs]
        if missing:
            raise InputError(f"Row {position + 1} has no {missing[0]}, which the workflow needs.")
        return RowCall(inputs, brief, told=told)

    def expected(self, row: Mapping[str, Any], outputs: Any, column: str | None = None) -> Any:
        """What a row expects, in this column or that of all; None if nothing.

        Where only the text of a chat is sent, a message is read like the outputs: as a message
        beside messages, else as its text.
        """
        roles = self.roles if column is None else replace(self.roles, expected=column)
        expected = row_expected(row, roles)
        if self.is_chat or (self.form == "plain" and self.text_input is None):
            return expected
        messages = None if isinstance(outputs, str) else messages_of(outputs)
        return expected if messages else _expected_text(expected)

    def _messages(self, value: Any, position: int) -> list[dict[str, Any]]:
        if self.form == "one message":
            return [_user(_last_user_text(value, position))]
        return _as_messages(value)

    def _value(self, name: str, value: Any) -> Any:
        if name == MESSAGES and "string" not in kind_of(self.properties.get(name)):
            return value if _is_empty(value) else _as_messages(value)
        chat = chat_of(value)
        if chat is not None:
            return chat
        # The cells of a CSV file are text, even where the workflow takes another type.
        return value if self._is_text(name) or not isinstance(value, str) else _json_or_text(value)

    def _is_text(self, name: str) -> bool:
        """Whether an input takes texts, as far as the schema says."""
        kind = kind_of(self.properties.get(name))
        return kind == "anything" or "string" in kind or kind.startswith("one of")

    def _lacking(self) -> str:
        if self.brief and self.message_column is not None:
            return f"neither a {GOAL} nor anything in {self.message_column}"
        return f"no {GOAL}" if self.brief else f"nothing in {self.message_column}"


def plan_rows(
    profile: Profile,
    columns: Sequence[ColumnRecord],
    form: Form,
    *,
    expected: str | None = None,
    inputs: Sequence[str] | None = None,
    others: Sequence[str] = (),
    message_column: str | None = None,
) -> RowPlan:
    """The plan for rows with these columns; an InputError says what is missing.

    Columns that are not given are found by their kinds and names. `others` are not sent: evaluators
    look at them.
    """
    kinds: dict[str, ColumnKind] = {column.name: column.kind for column in columns}
    roles = column_roles(list(kinds), expected=expected, inputs=inputs, others=others)
    if message_column is not None and message_column not in kinds:
        raise UnknownName("column", message_column, kinds)
    schema = as_dict(profile.schemas.inputs)
    builder = _PlanBuilder(
        profile=profile,
        kinds={name: kinds[name] for name in roles.inputs},
        properties=as_dict(schema.get("properties")),
        required=required_inputs(schema),
        closed=schema.get("additionalProperties") is False or profile.interface == "openai",
        roles=roles,
        message_column=message_column,
    )
    if form == "recorded":
        return builder.recorded()
    return builder.plain() if form == "plain" else builder.chat(form)


@dataclass(frozen=True)
class _PlanBuilder:
    profile: Profile
    kinds: dict[str, ColumnKind]
    """The kinds of the input columns."""
    properties: dict[str, Any]
    required: list[str]
    closed: bool
    """The workflow refuses undeclared inputs."""
    roles: Roles
    message_column: str | None

    def chat(self, form: Form) -> RowPlan:
        declared = set(self.properties) - {MESSAGES}
        brief = GOAL in self.kinds and GOAL not in declared
        if brief and form == "one message" and self.message_column is None:
            raise InputError(
                f"A row with a {GOAL} is a conversation, which a completion cannot hold: leave out "
                "--as completion, or name the column with the message by --message."
            )
        brief = brief and form == "chat"
        hidden = set(BRIEF_COLUMNS) - declared if brief else set[str]()
        message_column = self.message_column or self._find_message_column(
            declared | hidden, texts=not brief
        )
        if message_column is None and not brief:
            raise InputError(self._no_message_column())
        passed = self._passed({message_column, *hidden, MESSAGES})
        required = [name for name in self.required if name != MESSAGES]
        self._check(required, passed)
        return RowPlan(
            form=form,
            is_chat=form == "chat",
            roles=self.roles,
            message_column=message_column,
            passed=passed,
            brief=brief,
            required=tuple(required),
            properties=self.properties,
        )

    def plain(self) -> RowPlan:
        chats = [name for name, kind in self.kinds.items() if kind in _CHATS]
        # An input that is declared as another type than text takes the chat as it is.
        chats = [name for name in chats if not self._takes_as_is(name)]
        message_column = self.message_column or (chats[0] if len(chats) == 1 else None)
        if len(chats) > 1 and message_column is None:
            raise InputError(_several(chats, "chats", self.profile.name))
        passed = self._passed({message_column})
        text_input = (
            self._text_input(message_column, passed) if message_column is not None else None
        )
        self._check(self.required, (*passed, text_input))
        return RowPlan(
            form="plain",
            is_chat=False,
            roles=self.roles,
            message_column=message_column,
            text_input=text_input,
            passed=passed,
            required=tuple(self.required),
            properties=self.properties,
        )

    def recorded(self) -> RowPlan:
        """Nothing is sent: the inputs are for evaluators, in the shape that a call would have."""
        is_chat, column = self.profile.is_chat, self.message_column
        if is_chat and column is None and GOAL not in self.kinds:
            with suppress(InputError):  # several may be meant, and none is needed
                column = self._find_message_column(set(), texts=True)
        passed = self._passed({column})
        return RowPlan(
            form="recorded",
            is_chat=is_chat,
            roles=self.roles,
            passed=passed,
            message_column=column if is_chat else None,
        )

    def _find_message_column(self, others: set[str], *, texts: bool) -> str | None:
        """The column with the user's messages, by its kind; the workflow's inputs do not count."""
        free = {name: kind for name, kind in self.kinds.items() if name not in others}
        for kinds, noun in ((_CHATS, "chats"), (_TEXTS, "texts")):
            if kinds is _TEXTS and not texts:
                break
            found = [name for name, kind in free.items() if kind in kinds]
            if MESSAGES in found:
                return MESSAGES
            if len(found) > 1:
                raise InputError(_several(found, noun, self.profile.name))
            if found:
                return found[0]
        return None

    def _no_message_column(self) -> str:
        return (
            f"'{self.profile.name}' chats, and no column has the user's messages: add one with "
            f"chats or texts, or a column {GOAL} for simulated users. There are: "
            f"{', '.join(self.kinds) or 'none'}."
        )

    def _takes_as_is(self, name: str) -> bool:
        return name in self.properties and "string" not in kind_of(self.properties[name])

    def _text_input(self, message_column: str, passed: tuple[str, ...]) -> str:
        if message_column in self.properties or not self.properties:
            return message_column
        free = [name for name in self.required if name not in passed] or [
            name for name in self.properties if name not in passed
        ]
        if len(free) == 1:
            return free[0]
        raise InputError(
            f"'{self.profile.name}' does not chat, and it is unclear which input gets the user's "
            f"last text of {message_column}: name the column like one of "
            f"{', '.join(self.properties)}."
        )

    def _passed(self, without: set[str | None]) -> tuple[str, ...]:
        return tuple(
            name
            for name in self.kinds
            if name not in without and (name in self.properties or not self.closed)
        )

    def _check(self, required: Sequence[str], given: Sequence[str | None]) -> None:
        missing = [name for name in required if name not in given]
        if missing:
            raise InputError(
                f"'{self.profile.name}' needs {', '.join(missing)}, and the test set has no such "
                f"column: name one so, or use another test set. Its inputs: "
                f"{', '.join(self.kinds) or 'none'}."
            )


def _several(names: Sequence[str], noun: str, workflow: str) -> str:
    return (
        f"Several columns hold {noun}: {', '.join(names)}. Name the one for '{workflow}', such as "
        f"--message {names[0]}."
    )


def _as_messages(value: Any) -> list[dict[str, Any]]:
    """The chat or the message that a cell holds; any other value is what the user says."""
    chat = chat_of(value)
    if chat is not None:
        return chat
    found = decoded(value)
    return [found] if is_message(found) else [_user(_text(value))]


def _user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def _last_user_text(value: Any, position: int) -> str:
    """The user's last message in a chat, or the text of another value."""
    found = decoded(value)
    messages = None if isinstance(found, str) else messages_of(found)
    if messages is None:
        if _is_empty(value):
            raise InputError(f"Row {position + 1} has no message.")
        return _text(value)
    for message in reversed(messages):
        if message.get("role") == "user":
            return text_of(message.get("content"))
    raise InputError(f"Row {position + 1} has a chat without a user message.")


def _expected_text(expected: Any) -> Any:
    """The expected text for a workflow that does not chat, if the rows hold chats."""
    found = decoded(expected)
    message = None if isinstance(found, str) else last_assistant_message(found)
    return expected if message is None else text_of(message.get("content"))


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _text(value: Any) -> str:
    return value if isinstance(value, str) else raw_text(value)


def _json_or_text(text: str) -> Any:
    try:
        return raw_value(text)
    except (ValueError, RecursionError):
        return text
