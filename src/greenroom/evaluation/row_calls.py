"""How the rows of a test set become calls of a workflow, settled before anything is called.

A chat workflow takes messages: those of the column that holds chats, or a text as the one thing
that the user says. A row with a goal instead becomes a conversation with a simulated user. Any
other workflow takes the columns at face value; from a chat it gets what the user said last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from greenroom.errors import InputError, UnknownName
from greenroom.evaluation.simulated import Brief, read_brief
from greenroom.evaluation.test_sets import Roles, column_roles, row_expected
from greenroom.messages import is_message, last_assistant_message, messages_of, text_of
from greenroom.store import ColumnKind, ColumnRecord, chat_of, decoded
from greenroom.util.json_values import as_dict, as_list
from greenroom.util.raw_json import raw_text, raw_value
from greenroom.workflows.call.examples import kind_of
from greenroom.workflows.calls import Profile

MESSAGES = "messages"
GOAL = "goal"
BRIEF_COLUMNS = (GOAL, "persona", "max_turns")
"""The columns of a simulated conversation; the workflow never sees them."""

Form = Literal["chat", "one message", "plain"]
"""What a call gets: messages, one message of the user, or the columns as they are."""

_CHATS: tuple[ColumnKind, ...] = ("chat", "message")
_TEXTS: tuple[ColumnKind, ...] = ("text", "number", "boolean", "mixed")


@dataclass(frozen=True)
class RowCall:
    """What a row asks of a workflow."""

    inputs: dict[str, Any]
    expected: Any | None
    brief: Brief | None = None
    """For a conversation with a simulated user; the messages are then still to be said."""


@dataclass(frozen=True)
class RowPlan:
    """How the rows of one test set become calls of one workflow."""

    form: Form
    is_chat: bool
    """How outputs are read: as messages, or at face value."""
    roles: Roles
    said: str | None = None
    """The column that holds what the user says."""
    text_input: str | None = None
    """Where a plain call takes the text of a chat."""
    sent: tuple[str, ...] = ()
    """The columns that go along under their own names."""
    brief: bool = False
    """A row may have a goal instead."""
    needed: tuple[str, ...] = ()
    properties: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def call(self, row: Mapping[str, Any], position: int) -> RowCall:
        """What a row asks for; an InputError names the row where that cannot be told."""
        inputs = {name: self._value(name, row[name]) for name in self.sent if name in row}
        expected = row_expected(row, self.roles)
        brief = None
        if self.form == "plain":
            if self.said is not None and self.text_input is not None:
                inputs[self.text_input] = _last_said(row.get(self.said), position)
                expected = _spoken(expected)
        elif self.said is not None and not _is_empty(row.get(self.said)):
            messages = self._messages(row[self.said], position)
            inputs[MESSAGES] = messages
            expected = _spoken(expected) if self.form == "one message" else expected
        elif self.brief and not _is_empty(row.get(GOAL)):
            brief = read_brief(row, position)
        else:
            raise InputError(f"Row {position + 1} has {self._lacking()}.")
        missing = [name for name in self.needed if name not in inputs]
        if missing:
            raise InputError(f"Row {position + 1} has no {missing[0]}, which the workflow needs.")
        return RowCall(inputs, expected, brief)

    def _messages(self, value: Any, position: int) -> list[dict[str, Any]]:
        if self.form == "one message":
            return [_user(_last_said(value, position))]
        chat = chat_of(value)
        if chat is not None:
            return chat
        found = decoded(value)
        return [found] if is_message(found) else [_user(_text(value))]

    def _value(self, name: str, value: Any) -> Any:
        chat = chat_of(value)
        if chat is not None:
            return chat
        # The cells of a CSV file are texts, whatever the workflow takes.
        if isinstance(value, str) and name in self.properties:
            kind = kind_of(self.properties[name])
            if kind != "anything" and "string" not in kind and not kind.startswith("one of"):
                try:
                    return raw_value(value)
                except (ValueError, RecursionError):
                    return value
        return value

    def _lacking(self) -> str:
        if self.brief and self.said is not None:
            return f"neither a {GOAL} nor anything in {self.said}"
        return f"no {GOAL}" if self.brief else f"nothing in {self.said}"


def plan_rows(
    profile: Profile,
    columns: Sequence[ColumnRecord],
    form: Form,
    *,
    expected: str | None = None,
    inputs: Sequence[str] | None = None,
    said: str | None = None,
) -> RowPlan:
    """How rows with these columns become calls; an InputError says what is missing.

    `expected`, `inputs` and `said` name columns; without them the columns' shapes and names tell.
    """
    kinds: dict[str, ColumnKind] = {column.name: column.kind for column in columns}
    roles = column_roles(list(kinds), expected=expected, inputs=inputs)
    if said is not None and said not in kinds:
        raise UnknownName("column", said, kinds)
    schema = as_dict(profile.schemas.inputs)
    draft = _Draft(
        profile=profile,
        kinds={name: kinds[name] for name in roles.inputs},
        properties=as_dict(schema.get("properties")),
        needed=_needed(schema),
        closed=schema.get("additionalProperties") is False or profile.interface == "openai",
        roles=roles,
        said=said,
    )
    return draft.plain() if form == "plain" else draft.chat(form)


@dataclass(frozen=True)
class _Draft:
    profile: Profile
    kinds: dict[str, ColumnKind]
    """Of the inputs."""
    properties: dict[str, Any]
    needed: list[str]
    closed: bool
    """Inputs that are not declared would be refused."""
    roles: Roles
    said: str | None

    def chat(self, form: Form) -> RowPlan:
        declared = set(self.properties) - {MESSAGES}
        brief = GOAL in self.kinds and GOAL not in declared
        if brief and form == "one message" and self.said is None:
            raise InputError(
                f"A row with a {GOAL} is a conversation, which a completion cannot have: leave out "
                "--as completion, or say by --message which column the one message is in."
            )
        brief = brief and form == "chat"
        hidden = set(BRIEF_COLUMNS) - declared if brief else set[str]()
        said = self.said or self._said(declared | hidden, texts=not brief)
        if said is None and not brief:
            raise InputError(
                f"'{self.profile.name}' chats, and no column holds what the user says: add one "
                f"with chats, with texts, or a column {GOAL} for simulated users. There are: "
                f"{', '.join(self.kinds) or 'none'}."
            )
        sent = self._sent({said, *hidden, MESSAGES})
        needed = [name for name in self.needed if name != MESSAGES]
        self._check(needed, sent)
        return RowPlan(
            form=form,
            is_chat=form == "chat",
            roles=self.roles,
            said=said,
            sent=sent,
            brief=brief,
            needed=tuple(needed),
            properties=self.properties,
        )

    def plain(self) -> RowPlan:
        chats = [name for name, kind in self.kinds.items() if kind in _CHATS]
        # What is declared as something else than a text is wanted as it is.
        taken = self.properties
        chats = [name for name in chats if name not in taken or "string" in kind_of(taken[name])]
        said = self.said or (chats[0] if len(chats) == 1 else None)
        if len(chats) > 1 and said is None:
            raise InputError(_several(chats, "chats", self.profile.name))
        sent = self._sent({said})
        text_input = self._text_input(said, sent) if said is not None else None
        self._check(self.needed, (*sent, text_input))
        return RowPlan(
            form="plain",
            is_chat=False,
            roles=self.roles,
            said=said,
            text_input=text_input,
            sent=sent,
            needed=tuple(self.needed),
            properties=self.properties,
        )

    def _said(self, others: set[str], *, texts: bool) -> str | None:
        """The column with what the user says, by its shape; the workflow's own inputs are not."""
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

    def _text_input(self, said: str, sent: tuple[str, ...]) -> str:
        if said in self.properties or not self.properties:
            return said
        free = [name for name in self.needed if name not in sent] or [
            name for name in self.properties if name not in sent
        ]
        if len(free) == 1:
            return free[0]
        raise InputError(
            f"'{self.profile.name}' does not chat, and of the chats in {said} it can get the last "
            f"text of the user, but where? It takes {', '.join(self.properties)}: name the column "
            "like one of these."
        )

    def _sent(self, without: set[str | None]) -> tuple[str, ...]:
        return tuple(
            name
            for name in self.kinds
            if name not in without and (name in self.properties or not self.closed)
        )

    def _check(self, needed: Sequence[str], given: Sequence[str | None]) -> None:
        missing = [name for name in needed if name not in given]
        if missing:
            raise InputError(
                f"'{self.profile.name}' needs {', '.join(missing)}, and the test set has no such "
                f"column: name one so, or use another test set. Its inputs: "
                f"{', '.join(self.kinds) or 'none'}."
            )


def _needed(schema: dict[str, Any]) -> list[str]:
    properties = as_dict(schema.get("properties"))
    if "required" in schema:
        return [str(name) for name in as_list(schema["required"])]
    return [name for name, one in properties.items() if "default" not in as_dict(one)]


def _several(names: Sequence[str], noun: str, workflow: str) -> str:
    return (
        f"Several columns hold {noun}: {', '.join(names)}. Say which one '{workflow}' is to hear, "
        f"by --message {names[0]}, say."
    )


def _user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def _last_said(value: Any, position: int) -> str:
    """What the user said last: the last of their messages in a chat, or the text that there is."""
    found = decoded(value)
    messages = None if isinstance(found, str) else messages_of(found)
    if messages is None:
        if _is_empty(value):
            raise InputError(f"Row {position + 1} says nothing.")
        return _text(value)
    for message in reversed(messages):
        if message.get("role") == "user":
            return text_of(message.get("content"))
    raise InputError(f"Row {position + 1} has a chat in which the user says nothing.")


def _spoken(expected: Any) -> Any:
    """What is expected of a workflow that does not chat, where the rows are chats."""
    found = decoded(expected)
    message = None if isinstance(found, str) else last_assistant_message(found)
    return expected if message is None else text_of(message.get("content"))


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _text(value: Any) -> str:
    return value if isinstance(value, str) else raw_text(value)
