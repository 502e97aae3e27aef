"""A declared workflow: a function that can also be discovered, served and evaluated."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from greenroom.workflows.calls import IS_CHAT, Profile, Schemas
from greenroom.workflows.declare.arguments import HandlerArguments
from greenroom.workflows.declare.configuration import Configuration
from greenroom.workflows.declare.schemas import judged_by_schema

HandlerKind = Literal["function", "coroutine", "generator", "async generator"]

_NOT_IN_ADDRESSES = re.compile(r"[^A-Za-z0-9._~-]+")


@dataclass(frozen=True, kw_only=True, eq=False)
class Workflow:
    """A handler with a name, flags and schemas. Calling it calls the handler."""

    name: str
    handler: Callable[..., Any]
    kind: HandlerKind
    arguments: HandlerArguments
    configuration: Configuration
    flags: Mapping[str, Any]
    schemas: Schemas
    description: str = ""

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Call the handler as a plain function."""
        return self.handler(*arguments, **named)

    @property
    def __wrapped__(self) -> Callable[..., Any]:  # what inspect.signature looks at
        return self.handler

    @property
    def is_chat(self) -> bool:
        """Whether it is declared to take messages and to answer with messages."""
        return self.flags.get(IS_CHAT) is True

    @property
    def streams(self) -> bool:
        """Whether its handler is a generator."""
        return self.kind in ("generator", "async generator")

    @property
    def slug(self) -> str:
        """The name as it appears in addresses."""
        return _NOT_IN_ADDRESSES.sub("-", self.name).strip("-.")

    @property
    def uri(self) -> str:
        """The name that Agenta's tools use."""
        module = getattr(self.handler, "__module__", None) or "app"
        return f"user:custom:{module}.{self.slug}:latest"

    def profile(self, address: str = "") -> Profile:
        """What callers can know before a call: the same here and behind an address."""
        declared = self.flags.get(IS_CHAT)
        is_chat, decided_by = (
            judged_by_schema(("the inputs", self.schemas.inputs))
            if declared is None
            else (declared, f"the flag is_chat = {str(declared).lower()}")
        )
        return Profile(
            name=self.name,
            is_chat=is_chat,
            flags=dict(self.flags),
            schemas=self.schemas,
            parameters=self.configuration.defaults,
            description=self.description,
            address=address or self.name,
            decided_by=decided_by,
        )
