"""Tasks of tau2-bench as Greenroom's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
)

from greenroom.domains.tasks import (
    Action,
    Assertion,
    Basis,
    InitialState,
    Party,
    SetUpCall,
    Task,
    validated,
)

PARTIES: Final[Mapping[str, Party]] = {"assistant": "agent", "user": "user"}
"""tau2's names of the parties, and ours."""

BASES: Final[Mapping[str, Basis]] = {
    "DB": "database",
    "ENV_ASSERTION": "assertions",
    "ACTION": "actions",
    "COMMUNICATE": "outputs",
    "NL_ASSERTION": "judged",
}
"""tau2's names of the parts of a reward, and ours."""

_Requestor = Literal["assistant", "user"]
_List = BeforeValidator(lambda value: [] if value is None else value)


class _Raw(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class _RawAction(_Raw):
    action_id: str | None = None
    requestor: _Requestor = "assistant"
    name: str
    arguments: dict[str, Any] = Field(default_factory=dict[str, Any])
    compare_args: list[str] | None = None


class _RawCall(_Raw):
    env_type: _Requestor
    func_name: str
    arguments: dict[str, Any] = Field(default_factory=dict[str, Any])


class _RawAssertion(_RawCall):
    assert_value: bool = True
    message: str | None = None


class _RawCriteria(_Raw):
    actions: Annotated[list[_RawAction], _List] = Field(default_factory=list[_RawAction])
    env_assertions: Annotated[list[_RawAssertion], _List] = Field(
        default_factory=list[_RawAssertion]
    )
    communicate_info: Annotated[list[str], _List] = Field(default_factory=list[str])
    nl_assertions: Annotated[list[str], _List] = Field(default_factory=list[str])
    reward_basis: list[Literal["DB", "ENV_ASSERTION", "ACTION", "COMMUNICATE", "NL_ASSERTION"]] = (
        Field(default=["DB", "COMMUNICATE"])
    )


class _RawToolCall(_Raw):
    name: str
    arguments: dict[str, Any] | None = None
    requestor: _Requestor | None = None
    id: str | None = None


class _RawMessage(_Raw):
    role: str
    content: str | None = None
    tool_calls: list[_RawToolCall] | None = None
    error: bool | None = None


_raw_messages = TypeAdapter(list[_RawMessage])


def _checked(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    try:
        _raw_messages.validate_python(messages)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ValueError(f"{place}: {first['msg']}") from error
    return messages


RawMessages = Annotated[list[dict[str, Any]], AfterValidator(_checked)]
"""Messages as tau2 writes them: their form is checked, and they are kept as they are."""


class _RawData(_Raw):
    agent_data: dict[str, Any] | None = None
    user_data: dict[str, Any] | None = None


class _RawState(_Raw):
    initialization_data: _RawData | None = None
    initialization_actions: Annotated[list[_RawCall], _List] = Field(default_factory=list[_RawCall])
    message_history: Annotated[RawMessages, _List] = Field(default_factory=list[dict[str, Any]])


class _RawScenario(_Raw):
    persona: str | None = None
    instructions: str | dict[str, Any] = ""


class _RawTask(_Raw):
    id: Annotated[str, BeforeValidator(str)]
    user_scenario: _RawScenario = Field(default_factory=_RawScenario)
    ticket: str | None = None
    initial_state: _RawState | None = None
    evaluation_criteria: _RawCriteria | None = None
    user_tools: list[str] | None = None
    required_documents: list[str] | None = None


_raw_tasks = TypeAdapter(list[_RawTask])


def read_tasks(records: Iterable[Any], source: Any) -> tuple[Task, ...]:
    """The tasks of a tau2 file; raise DataError with the first problem."""
    raw = list(records)
    parsed = validated(_raw_tasks, raw, source)
    return tuple(_task(task, record) for task, record in zip(parsed, raw, strict=True))


def _task(raw: _RawTask, record: Mapping[str, Any]) -> Task:
    # Without criteria, tau2 gives reward 1: nothing counts.
    criteria = raw.evaluation_criteria or _RawCriteria(reward_basis=[])
    return Task(
        id=raw.id,
        instruction=scenario_text(raw.user_scenario.persona, raw.user_scenario.instructions),
        actions=tuple(
            Action(
                action.name,
                action.arguments,
                party=PARTIES[action.requestor],
                id=action.action_id,
                compared=None if action.compare_args is None else tuple(action.compare_args),
            )
            for action in criteria.actions
        ),
        outputs=tuple(criteria.communicate_info),
        assertions=tuple(
            Assertion(
                one.func_name, one.arguments, PARTIES[one.env_type], one.assert_value, one.message
            )
            for one in criteria.env_assertions
        ),
        judged=tuple(criteria.nl_assertions),
        basis=tuple(BASES[name] for name in criteria.reward_basis),
        initial=None if raw.initial_state is None else _initial(raw.initial_state),
        user_tools=None if raw.user_tools is None else tuple(raw.user_tools),
        documents=tuple(raw.required_documents or ()),
        ticket=raw.ticket,
        raw=record,
    )


def _initial(raw: _RawState) -> InitialState:
    data = raw.initialization_data
    return InitialState(
        agent_data=None if data is None else data.agent_data,
        user_data=None if data is None else data.user_data,
        calls=tuple(
            SetUpCall(call.func_name, call.arguments, PARTIES[call.env_type])
            for call in raw.initialization_actions
        ),
        messages=tuple(raw.message_history),
        past_calls=tuple(_past_calls(raw.message_history)),
        past_texts=tuple(
            message["content"]
            for message in raw.message_history
            if message.get("role") == "assistant" and isinstance(message.get("content"), str)
        ),
    )


def _past_calls(messages: Iterable[Mapping[str, Any]]) -> Iterator[Action]:
    for message in messages:
        for call in message.get("tool_calls") or ():
            party = PARTIES[call.get("requestor") or "assistant"]
            yield Action(call["name"], call.get("arguments") or {}, party=party)


def scenario_text(persona: str | None, instructions: str | Mapping[str, Any]) -> str:
    """What the simulated user is told, laid out as tau2 does."""
    text = instructions if isinstance(instructions, str) else _structured(instructions)
    parts = [] if persona is None else ["Persona:", _indented(persona)]
    return "\n".join([*parts, "Instructions:", _indented(text)])


def _structured(instructions: Mapping[str, Any]) -> str:
    parts = [f"Domain: {instructions.get('domain')}"]
    sections = {
        "reason_for_call": "Reason for call",
        "known_info": "Known info",
        "unknown_info": "Unknown info",
        "task_instructions": "Task instructions",
    }
    for key, title in sections.items():
        text = instructions.get(key)
        if text is not None:
            parts += [f"{title}:", _indented(str(text))]
    return "\n".join(parts)


def _indented(text: str) -> str:
    return "\n".join(f"\t{line}" if line.strip() else line for line in text.split("\n"))
