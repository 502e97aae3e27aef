"""Which form an answer takes: what the client's Accept header asks for."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from greenroom.workflows.serve.exchange import Exchange, Refusal

Form = Literal["json", "sse", "ndjson"]

CONTENT_TYPES: dict[str, Form] = {
    "application/json": "json",
    "application/x-ndjson": "ndjson",
    "application/jsonl": "ndjson",
    "text/event-stream": "sse",
}
"""The order is that of preference for clients that take anything: as Agenta's servers have it."""

VERCEL = b"vercel"
MESSAGES_FORMAT = b"x-ag-messages-format"


def wanted_form(exchange: Exchange, *, stream: bool | None) -> Form:
    """The form of the answer; `stream` is what the body says, for clients that take any.

    Raises a refusal with status 406 where there is nothing that the client takes.
    """
    header = exchange.header(b"accept")
    if header is None:
        return "ndjson" if stream else "json"
    forms = _accepted(header)
    if not forms:
        accept = header.decode("latin-1")
        raise Refusal(
            406,
            {
                "detail": f"There is no answer in a form that '{accept}' accepts.",
                "requested": accept,
                "supported": list(CONTENT_TYPES),
            },
        )
    if stream is None or (forms[0] == "json") is not stream:
        return forms[0]
    fitting: list[Form] = [form for form in forms if (form != "json") is stream]
    return fitting[0] if fitting else forms[0]


def wants_vercel(exchange: Exchange) -> bool:
    """Whether the client speaks the Vercel AI SDK's messages and streams."""
    return (exchange.header(MESSAGES_FORMAT) or b"").lower() == VERCEL


@lru_cache(maxsize=256)
def _accepted(header: bytes) -> tuple[Form, ...]:
    """The forms that an Accept header takes, the most wanted first."""
    ranges: list[tuple[float, str]] = []
    for part in header.decode("latin-1").lower().split(","):
        kind, *settings = (word.strip() for word in part.split(";"))
        if kind:
            ranges.append((_weight(settings), kind))
    ranges.sort(key=lambda one: -one[0])
    refused = {kind for weight, kind in ranges if weight == 0}
    found: dict[Form, None] = {}
    for weight, kind in ranges:
        for content_type, form in CONTENT_TYPES.items():
            if weight > 0 and content_type not in refused and _covers(kind, content_type):
                found.setdefault(form)
    return tuple(found)


def _weight(settings: list[str]) -> float:
    given = next((word[2:] for word in settings if word.startswith("q=")), "1")
    try:
        return float(given)
    except ValueError:
        return 0.0


def _covers(kind: str, content_type: str) -> bool:
    if kind == "*/*" or kind == content_type:
        return True
    return kind.endswith("/*") and content_type.startswith(kind[:-1])


__all__ = ["CONTENT_TYPES", "MESSAGES_FORMAT", "VERCEL", "Form", "wanted_form", "wants_vercel"]
