"""Bodies of requests and answers: one model each, which also makes the OpenAPI schema.

Requests are pydantic models, since they come from anybody. Answers are typed dictionaries, which
cost nothing at run time and are checked where they are written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StrictBool, ValidationError
from typing_extensions import TypedDict

from greenroom.messages import Message
from greenroom.workflows.calls import MESSAGES, Call, InvalidCall
from greenroom.workflows.serve.exchange import Refusal
from greenroom.workflows.serve.headers import SESSION_PATTERN, SESSION_TEXT, CallIds

Json = dict[str, Any]
Model = TypeVar("Model", bound=BaseModel)

SessionId = Annotated[
    Annotated[str, Field(pattern=SESSION_PATTERN)] | None,
    Field(description="Returned with the answer. Made by the server if none is given."),
]
Tools = Annotated[
    list[Json] | None, Field(description="Tools that the caller runs, in OpenAI's shape.")
]
TraceId = Annotated[str, Field(pattern="^[0-9a-f]{32}$")]
SpanId = Annotated[str, Field(pattern="^[0-9a-f]{16}$")]

# Requests ---------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class CallRequest:
    """What a body asks for, in whichever form it came."""

    inputs: Json
    parameters: Json | None = None
    tools: list[Json] | None = None
    session_id: str | None = None
    stream: bool | None = None
    plain: bool = False
    """Whether the answer is the output itself, without an envelope."""
    place: tuple[str, ...] = ("body",)
    """Where in the body the inputs and parameters are, for error texts."""

    def call(self, ids: CallIds) -> Call:
        """The call of the workflow."""
        return Call(
            inputs=self.inputs,
            parameters=self.parameters,
            session_id=ids.session_id,
            new_session=ids.new_session,
            tools=self.tools,
            traceparent=ids.traceparent,
        )

    def invalid(self, error: InvalidCall) -> Refusal:
        """The refusal of a call that the workflow cannot take."""
        return refused_body(
            [
                {"type": one.kind, "loc": [*self.place, *one.where], "msg": one.text}
                for one in error.problems
            ]
        )


class Flags(BaseModel):
    stream: StrictBool | None = None


class CallData(BaseModel):
    """What is called with what."""

    inputs: Json | None = None
    messages: list[Any] | None = None
    parameters: Json | None = None
    tools: Tools = None

    def request(self, **others: Any) -> CallRequest:
        """What this part of a body asks for."""
        inputs = self.inputs or {}
        return CallRequest(
            inputs=inputs if self.messages is None else {**inputs, MESSAGES: self.messages},
            parameters=self.parameters,
            tools=self.tools,
            **others,
        )


class Envelope(BaseModel):
    """Agenta's envelope around a call."""

    data: CallData | None = None
    session_id: SessionId = None
    flags: Flags | None = None
    stream: StrictBool | None = None
    references: Json | None = None


class PlainBody(CallData):
    """A call without an envelope."""

    session_id: SessionId = None
    flags: Flags | None = None
    stream: StrictBool | None = None


class CompletionBody(CallData):
    """A call of OpenAI's route."""

    model: str | None = None
    session_id: SessionId = None
    stream: StrictBool | None = None
    stream_options: Json | None = None

    @property
    def wants_usage(self) -> bool:
        """Whether the stream ends with the usage."""
        return (self.stream_options or {}).get("include_usage") is True


class LegacyBody(BaseModel):
    """A call of `/run` or `/test`; fields that are not named here are inputs."""

    model_config = ConfigDict(extra="allow")

    ag_config: Json | None = None
    environment: Any = None
    app: Any = None
    inputs: Json | None = None
    parameters: Json | None = None
    session_id: SessionId = None

    def request(self) -> CallRequest:
        """What this body asks for."""
        return CallRequest(
            inputs={**(self.inputs or {}), **(self.model_extra or {})},
            parameters=self.parameters if self.ag_config is None else self.ag_config,
            session_id=self.session_id,
            plain=True,
        )


def read_invocation(body: Mapping[str, Any]) -> CallRequest:
    """What a body of `/invoke` asks for.

    A body with `messages`, `inputs` or `parameters` at its root and without `data` is plain, and
    gets a plain answer. Any other body is an envelope.
    """
    if "data" not in body and ("inputs" in body or MESSAGES in body or "parameters" in body):
        plain = read_body(PlainBody, body)
        stream = _stream(plain.flags, plain.stream)
        return plain.request(session_id=plain.session_id, stream=stream, plain=True)
    envelope = read_body(Envelope, body)
    stream = _stream(envelope.flags, envelope.stream)
    data = envelope.data or CallData()
    return data.request(session_id=envelope.session_id, stream=stream, place=("body", "data"))


def read_body(model: type[Model], body: Mapping[str, Any]) -> Model:
    """A body as a model; raises a Refusal that lists the problems."""
    try:
        return model.model_validate(body)
    except ValidationError as error:
        problems: list[BodyProblem] = []
        for one in InvalidCall.of(error, "body").problems:
            kind = "dict_type" if one.kind == "model_type" else one.kind
            text = _TEXTS.get(kind, one.text)
            problems.append({"type": kind, "loc": list(one.where), "msg": text})
        raise refused_body(problems) from error


def refused_body(problems: list[BodyProblem]) -> Refusal:
    """The refusal of a body with these problems."""
    return Refusal(422, {"detail": problems})


def _stream(flags: Flags | None, at_root: bool | None) -> bool | None:
    # OpenAI's clients write `stream` at the root.
    return at_root if flags is None or flags.stream is None else flags.stream


_TEXTS = {
    "dict_type": "This must be an object.",
    "list_type": "This must be an array.",
    "string_type": "This must be a string.",
    "bool_type": "This must be a boolean.",
    "string_pattern_mismatch": SESSION_TEXT,
}

# Answers ----------------------------------------------------------------------------------------


class Status(TypedDict):
    code: int
    message: str
    type: NotRequired[str]


class AnswerIds(TypedDict):
    version: str
    session_id: str
    trace_id: TraceId
    span_id: SpanId


class AnswerData(TypedDict):
    outputs: Any


class AnswerEnvelope(AnswerIds):
    """Agenta's envelope around an answer."""

    status: Status
    data: AnswerData
    usage: NotRequired[Json]


class Failure(AnswerIds):
    """What the workflow raised."""

    status: Status


class LegacyAnswer(TypedDict):
    """An answer of `/run` or `/test`."""

    version: str
    data: Any
    content_type: str
    trace_id: TraceId
    span_id: SpanId
    usage: NotRequired[Json]


class LegacyError(TypedDict):
    message: str
    type: str


class LegacyFailure(TypedDict):
    detail: LegacyError


class Refused(TypedDict):
    detail: str


class NotAcceptable(Refused):
    requested: str
    supported: list[str]


class BodyProblem(TypedDict):
    type: str
    loc: list[str | int]
    msg: str


class BodyProblems(TypedDict):
    detail: list[BodyProblem]


class OpenAIErrorFields(TypedDict):
    message: str
    type: str
    param: None
    code: str | None


class OpenAIError(TypedDict):
    error: OpenAIErrorFields


class Choice(TypedDict):
    index: int
    message: Message
    finish_reason: Literal["stop", "tool_calls"]
    logprobs: None


class ChatCompletion(TypedDict):
    """An answer of OpenAI's route."""

    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[Choice]
    usage: NotRequired[Json]


class OpenAIModel(TypedDict):
    id: str
    object: Literal["model"]
    created: int
    owned_by: str


class Models(TypedDict):
    object: Literal["list"]
    data: list[OpenAIModel]


class Revision(TypedDict):
    name: str
    slug: str
    description: str
    data: Json


class Inspection(TypedDict):
    version: str
    revision: Revision
    request: Json
    flags: NotRequired[Json]


class Health(TypedDict):
    status: Literal["ok"]
