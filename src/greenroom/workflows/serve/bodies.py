"""Bodies of requests and answers: one model each, which also makes the OpenAPI schema.

Requests are pydantic models, since they come from anybody. Answers are typed dictionaries, which
cost nothing at run time and are checked where they are written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, NotRequired, TypeVar
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field, StrictBool, ValidationError
from typing_extensions import TypedDict

from greenroom.messages import Message
from greenroom.responses_wire import ResponsesRequest
from greenroom.workflows.calls import (
    MESSAGES,
    SESSION_PATTERN,
    SESSION_TEXT,
    Call,
    InvalidCall,
    Problem,
)
from greenroom.workflows.serve.exchange import invalid_body
from greenroom.workflows.serve.headers import CallIds

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

_IN_IDS = "!\"#$&'()*+,/:;<=>?@[\\]^`{|}"

# Requests ---------------------------------------------------------------------------------------


class Flags(BaseModel):
    stream: StrictBool | None = None


class StreamOptions(BaseModel):
    include_usage: StrictBool | None = None


class CallData(BaseModel):
    """What is called with what."""

    place: ClassVar[tuple[str, ...]] = ("body",)
    """Where in the request's body the inputs are, for error texts."""

    inputs: Json | None = None
    messages: list[Any] | None = None
    parameters: Json | None = None
    tools: Tools = None

    @property
    def history(self) -> Any:
        """The messages, at the root or among the inputs."""
        return (self.inputs or {}).get(MESSAGES) if self.messages is None else self.messages

    def call(self, ids: CallIds) -> Call:
        """The call of the workflow."""
        inputs = self.inputs or {}
        if self.messages is not None:
            inputs = {**inputs, MESSAGES: self.messages}
        return ids.call(inputs, parameters=self.parameters, tools=self.tools)


class Envelope(BaseModel):
    """Agenta's envelope around a call."""

    place: ClassVar[tuple[str, ...]] = ("body", "data")
    chat_id: ClassVar[None] = None

    data: CallData | None = None
    session_id: SessionId = None
    flags: Flags | None = None
    stream: StrictBool | None = None
    references: Json | None = None

    @property
    def history(self) -> Any:
        """The messages."""
        return None if self.data is None else self.data.history

    def call(self, ids: CallIds) -> Call:
        """The call of the workflow."""
        return (self.data or CallData()).call(ids)


class PlainBody(CallData):
    """A call without an envelope; its answer is the output itself."""

    id: Annotated[Any, Field(description="The chat's id in the Vercel AI SDK: its session.")] = None
    session_id: SessionId = None
    flags: Flags | None = None
    stream: StrictBool | None = None

    @property
    def chat_id(self) -> str | None:
        """The chat's id as a session id."""
        return quote(self.id, safe=_IN_IDS)[:256] or None if isinstance(self.id, str) else None


class CompletionBody(CallData):
    """A call of OpenAI's route; fields that are not named here are settings of OpenAI's."""

    model_config = ConfigDict(extra="allow")

    model: str | None = None
    session_id: SessionId = None
    stream: StrictBool | None = None
    stream_options: StreamOptions | None = None

    @property
    def wants_usage(self) -> bool:
        """Whether the stream ends with the usage."""
        return self.stream_options is not None and self.stream_options.include_usage is True

    @property
    def settings(self) -> Json:
        """Temperature and the like."""
        return self.model_extra or {}


class ResponsesBody(ResponsesRequest):
    """A call of OpenAI's Responses API, with what Greenroom's own calls may have beside it."""

    inputs: Json | None = None
    parameters: Json | None = None
    session_id: SessionId = None


class LegacyBody(BaseModel):
    """A call of `/run` or `/test`; fields that are not named here are inputs."""

    model_config = ConfigDict(extra="allow")

    ag_config: Json | None = None
    environment: Any = None
    app: Any = None
    inputs: Json | None = None
    parameters: Json | None = None
    session_id: SessionId = None

    def call(self, ids: CallIds) -> Call:
        """The call of the workflow."""
        inputs = (self.inputs or {}) | (self.model_extra or {})
        parameters = self.parameters if self.ag_config is None else self.ag_config
        return CallData(inputs=inputs, parameters=parameters).call(ids)


Invocation = PlainBody | Envelope


def read_invocation(body: Mapping[str, Any]) -> Invocation:
    """A body of `/invoke`.

    A body with `messages`, `inputs` or `parameters` at its root and without `data` is plain, and
    gets a plain answer. Any other body is an envelope.
    """
    is_plain = "inputs" in body or MESSAGES in body or "parameters" in body
    return read_body(PlainBody if is_plain and "data" not in body else Envelope, body)


def wants_stream(body: Invocation) -> bool | None:
    """Whether a body asks for a stream; OpenAI's clients write `stream` at the root."""
    return body.stream if body.flags is None or body.flags.stream is None else body.flags.stream


def read_body(model: type[Model], body: Mapping[str, Any]) -> Model:
    """A body as a model; raises a Refusal that lists the problems."""
    try:
        return model.model_validate(body)
    except ValidationError as error:
        problems: list[Problem] = []
        for one in InvalidCall.of(error).problems:
            kind = "dict_type" if one.kind == "model_type" else one.kind
            problems.append(Problem(one.where, _TEXTS.get(kind, one.text), kind))
        raise invalid_body(problems) from error


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
    tool_calls: NotRequired[list[Json]]
    """Calls that the workflow made itself and told as events."""


class AnswerEnvelope(AnswerIds):
    """Agenta's envelope around an answer."""

    status: Status
    data: AnswerData
    usage: NotRequired[Json]


class FailedCall(AnswerIds):
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


class LegacyFailedCall(TypedDict):
    detail: LegacyError


class RefusedRequest(TypedDict):
    detail: str


class NotAcceptable(RefusedRequest):
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
    param: str | None
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


class Response(TypedDict):
    """An answer of OpenAI's Responses API; it repeats the settings of its request."""

    id: str
    object: Literal["response"]
    created_at: int
    status: Literal["completed", "incomplete", "failed", "in_progress"]
    model: str
    output: list[Json]
    usage: Json | None


class DeletedResponse(TypedDict):
    id: str
    object: Literal["response"]
    deleted: Literal[True]


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


class ServedWorkflow(TypedDict):
    name: str
    is_chat: bool
    description: str
    address: str


class Overview(TypedDict):
    """What a server has; browsers get a page."""

    workflows: list[ServedWorkflow]
    openapi: str


class Health(TypedDict):
    status: Literal["ok"]
