"""Finding out what is behind an address: which workflow, whether it chats, how it is called.

What decides whether it chats, in this order: the flags of /inspect, the flags in the OpenAPI
document, a mark in the schema of the inputs, an array of messages in it. A server that speaks
OpenAI's protocol always chats.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from greenroom.errors import InputError
from greenroom.models.retries import RetryPolicy
from greenroom.util.bodies import body_of
from greenroom.util.json_values import as_dict, as_list, decoded
from greenroom.workflows.call.addresses import Address, parse_address
from greenroom.workflows.call.connection import Connection
from greenroom.workflows.call.openapi_reading import Operation, read_operations
from greenroom.workflows.call.wires import EnvelopeWire, PlainWire, Wire
from greenroom.workflows.calls import IS_CHAT, MESSAGES, Profile, Schemas, WorkflowUnavailable
from greenroom.workflows.declare.schemas import (
    MESSAGE_SCHEMA,
    MESSAGES_SCHEMA,
    Verdict,
    judged_by_schema,
)

SECONDS = 20.0
"""The timeout of each request."""

_OK = 200
_FORBIDDEN = (401, 403)
_MODELS_SHOWN = 10
_CHAT_SCHEMAS = Schemas(
    inputs={"type": "object", "properties": {MESSAGES: MESSAGES_SCHEMA}, "required": [MESSAGES]},
    outputs=MESSAGE_SCHEMA,
)


@dataclass(frozen=True)
class Found:
    """A workflow, and its wire format if that is certain."""

    profile: Profile
    wire: Wire | None = None


async def discover(url: str, *, token: str | None = None, model: str | None = None) -> Profile:
    """What is known of the workflow at an address; raises an InputError if there is none.

    `model` names one of an OpenAI-compatible server's models, as `url#model` does.
    """
    return (await find_workflow(url, token=token, model=model)).profile


async def find_workflow(
    url: str, *, token: str | None = None, model: str | None = None, guarded: bool = False
) -> Found:
    """The same, together with its wire format."""
    address = parse_address(url, model=model)
    connection = Connection(
        address.base,
        token=token,
        timeout=SECONDS,
        retry=RetryPolicy(max_retries=0),
        guarded=guarded,
    )
    try:
        return await _Search(address, connection).find()
    finally:
        await connection.close()


@dataclass
class _Search:
    address: Address
    connection: Connection
    tried: list[str] = field(default_factory=list[str])

    async def find(self) -> Found:
        asked_for_openai = self.address.is_openai or self.address.model is not None
        if asked_for_openai and (found := await self._openai()):
            return found
        if self.address.model is None and (found := await self._workflow()):
            return found
        if not asked_for_openai and (found := await self._openai()):
            return found
        tried = "\n".join(f"  {line}" for line in self.tried)
        raise InputError(f"There is no workflow at {self.address.base}. Tried:\n{tried}")

    async def _workflow(self) -> Found | None:
        described = await self._inspect()
        verdict = _declared_in(described) if described is not None else None
        operations = await self._operations() if verdict is None else []
        if described is not None:
            return Found(_described_profile(self.address, described, verdict, operations))
        return _found_in_openapi(self.address, operations) if operations else None

    async def _inspect(self) -> dict[str, Any] | None:
        url = f"{self.address.base}/inspect"
        empty: dict[str, Any] = {}
        for method, body in (("POST", empty), ("GET", None)):
            answer = as_dict(await self._ask(method, url, body))
            if any(name in answer for name in ("revision", "request", "flags", "interface")):
                return answer
        return None

    async def _operations(self) -> list[Operation]:
        places: dict[str, tuple[str, ...]] = {self.address.base: ("", self.address.path)}
        places.setdefault(self.address.origin, (self.address.path,))
        for place, prefixes in places.items():
            document = await self._ask("GET", f"{place}/openapi.json")
            operations = read_operations(document, prefixes)
            if operations:
                return operations
        return []

    async def _openai(self) -> Found | None:
        base = self.address.base
        for place in [base] if self.address.is_openai else [f"{base}/v1", base]:
            try:
                answer = await self._ask("GET", f"{place}/models")
            except WorkflowUnavailable as error:
                if self.address.model is None:
                    raise WorkflowUnavailable(
                        f"GET {place}/models, which lists the models there, failed: {error}\n"
                        f"If there are models, name one: {place}#MODEL."
                    ) from error
                continue
            listed = as_list(as_dict(answer).get("data", answer))
            names = [str(as_dict(one)["id"]) for one in listed if as_dict(one).get("id")]
            if names:
                return Found(_model_profile(place, self.address.model, names))
        if self.address.is_openai and self.address.model is not None:
            # Some servers do not list their models.
            return Found(_model_profile(base, self.address.model, []))
        return None

    async def _ask(self, method: str, url: str, body: Any = None) -> Any:
        """The JSON at a URL, or None; `tried` notes what was there instead."""
        async with self.connection.open(method, url, body) as response:
            content = await body_of(response)
        if response.status in _FORBIDDEN:
            raise InputError(str(self.connection.error_of(response.status, content)))
        if response.status != _OK:
            self.tried.append(f"{method} {url}: {response.status} {response.reason or ''}".rstrip())
            return None
        try:
            answer = decoded(content)
        except ValueError as error:
            why = f"cannot be read: {error}" if "nested" in str(error) else "is not JSON"
            self.tried.append(f"{method} {url}: an answer that {why}")
            return None
        self.tried.append(f"{method} {url}: an answer, but no workflow in it")
        return answer


def _declared_in(described: dict[str, Any]) -> Verdict | None:
    inner = as_dict(described.get("request")).get("flags")
    for place, flags in (("request.flags", inner), ("flags", described.get("flags"))):
        flag = as_dict(flags).get(IS_CHAT)
        if isinstance(flag, bool):
            return flag, f"the flag {place}.is_chat = {str(flag).lower()} in /inspect"
    return None


def _judged(operations: list[Operation], inputs: Any) -> Verdict:
    """By the OpenAPI document, then the schema of the inputs, then that of the body."""
    for one in operations:
        flag = one.flags.get(IS_CHAT)
        if isinstance(flag, bool):
            said = f"x-agenta.flags.is_chat = {str(flag).lower()} of /{one.route}"
            return flag, f"the flag {said} in the OpenAPI document"
    return judged_by_schema(
        ("the inputs", inputs), *((f"/{one.route}", one.schemas.inputs) for one in operations)
    )


def _revision(described: dict[str, Any]) -> dict[str, Any]:
    request = as_dict(described.get("request"))
    for holder in (described, as_dict(described.get("data")), as_dict(request.get("data"))):
        if revision := as_dict(holder.get("revision")):
            return revision
    return {}


def _described_profile(
    address: Address,
    described: dict[str, Any],
    verdict: Verdict | None,
    operations: list[Operation],
) -> Profile:
    revision, request = _revision(described), as_dict(described.get("request"))
    data = as_dict(revision.get("data"))
    told = as_dict((data or as_dict(described.get("interface"))).get("schemas"))
    parts = ("inputs", "parameters", "outputs")
    schemas = Schemas(**{part: as_dict(told.get(part)) or None for part in parts})
    is_chat, because = verdict or _judged(operations, schemas.inputs)
    names = (revision.get("name"), revision.get("slug"), _name_in(data.get("uri")))
    return Profile(
        name=next((str(name) for name in names if name), _name_of(address)),
        is_chat=is_chat,
        flags=as_dict(described.get("flags")) | as_dict(request.get("flags")),
        schemas=schemas,
        parameters=as_dict(data.get("parameters")),
        description=str(revision.get("description") or ""),
        address=address.base,
        interface="invoke",
        decided_by=because,
    )


def _found_in_openapi(address: Address, operations: list[Operation]) -> Found:
    called = next((one for one in operations if one.route == address.route), operations[0])
    is_chat, because = _judged(operations, None)
    profile = Profile(
        name=called.title if called.title not in ("", "FastAPI") else _name_of(address),
        is_chat=is_chat,
        flags=called.flags,
        schemas=called.schemas,
        parameters=called.parameters,
        description=called.description,
        address=address.base,
        interface=called.route,
        decided_by=because,
    )
    url = f"{address.base}/{called.route}"
    if called.is_envelope:
        return Found(profile, EnvelopeWire(url, profile.parameters))
    return Found(profile, PlainWire(url, called.fields or None))


def _model_profile(base: str, named: str | None, known: list[str]) -> Profile:
    model = named or (known[0] if len(known) == 1 else None)
    if model is None:
        some = ", ".join(known[:_MODELS_SHOWN]) + (", ..." if len(known) > _MODELS_SHOWN else "")
        raise InputError(
            f"{base} serves several models: name one, as in {base}#{known[0]}. It has {some}."
        )
    return Profile(
        name=model,
        is_chat=True,
        flags={IS_CHAT: True},
        schemas=_CHAT_SCHEMAS,
        address=f"{base}#{model}",
        interface="openai",
        decided_by="the protocol: the server speaks OpenAI's, which is for chats",
    )


def _name_in(uri: Any) -> str | None:
    """The name in Agenta's uris, such as user:custom:app.support:latest."""
    parts = uri.split(":") if isinstance(uri, str) else []
    return parts[2].rpartition(".")[2] if len(parts) > 2 else None


def _name_of(address: Address) -> str:
    return address.path.rpartition("/")[2] or address.origin.partition("://")[2]
