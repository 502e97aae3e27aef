"""The descriptions of discoverable tools, which the pack brings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel, Field, TypeAdapter

from greenroom.domains.packs import read_json
from greenroom.domains.tasks import validated
from greenroom.domains.world import Base, Record, World
from greenroom.errors import DataError

CATALOGUE: Final = "discoverable_tools"
"""A table of the pack, beside those of the database: what is told of each discoverable tool."""

_RETURNS: Final = "\n\nReturns:\n"


@dataclass(frozen=True)
class ToolText:
    """What is said about a tool when it is unlocked or given."""

    description: str
    parameters: Mapping[str, Mapping[str, Any]]

    @cached_property
    def parameters_text(self) -> str:
        """The parameters, one a line."""
        lines = [
            f"  - {name}: {about['type']} ({'required' if about['required'] else 'optional'})"
            f" - {about['description']}"
            for name, about in self.parameters.items()
        ]
        return "\n".join(lines) if lines else "  (no parameters)"


class _Catalogue(dict[str, ToolText]):
    def __init__(self, base: Base) -> None:
        if CATALOGUE in base.tables:
            for name in base.ids(CATALOGUE):
                record = base.record(CATALOGUE, name)
                self[name] = ToolText(record["description"], record["parameters"])


_NOTHING: Final = ToolText("", {})


def text_of(world: World, tool: str) -> ToolText:
    """What the pack says about a discoverable tool."""
    return world.base.derived(_Catalogue).get(tool, _NOTHING)


def returned_text(world: World, tool: str) -> str:
    """What a tool without parameters returns: its description ends with it."""
    _, _, returned = text_of(world, tool).description.partition(_RETURNS)
    return returned.strip()


class _Parameter(BaseModel):
    type: str = "string"
    description: str = ""
    required: bool = True


class _Described(BaseModel):
    description: str
    parameters: dict[str, _Parameter] = Field(default_factory=dict[str, _Parameter])


_file = TypeAdapter(dict[Literal["agent", "user"], dict[str, _Described]])


def read_catalogue(path: Path) -> dict[str, Record]:
    """The table of discoverable tools, from the pack's file."""
    if not path.exists():
        raise DataError(
            f"{path} is missing: it describes the tools that agents discover. Import the pack "
            "again from a checkout of tau2-bench."
        )
    parties = validated(_file, read_json(path, dict), path)
    return {
        name: described.model_dump()
        for tools in parties.values()
        for name, described in tools.items()
    }
