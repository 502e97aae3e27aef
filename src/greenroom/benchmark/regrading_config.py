"""The configuration of a regrading."""

from __future__ import annotations

from typing import Annotated, Any, cast

from pydantic import BeforeValidator, Field

from greenroom.config import JudgeConfig, WorkConfig
from greenroom.options import Count, ExcludedTasks, Flag, PathOrName
from greenroom.trajectories import Basis


def _split_names(value: Any) -> Any:
    """The parts of "database, outputs", each once."""
    names = value.split(",") if isinstance(value, str) else value
    if not isinstance(names, list):
        return names
    named = (str(name).strip() for name in cast("list[Any]", names))
    parts = list(dict.fromkeys(name for name in named if name))
    if not parts:
        raise ValueError("one part or more")
    return parts


_Parts = Annotated[list[Basis], BeforeValidator(_split_names)]


class RegradingConfig(JudgeConfig, WorkConfig):
    """What episodes are graded by. All of it is kept with the regrading."""

    data: Annotated[PathOrName | None, Flag(metavar="DIR")] = Field(
        default=None,
        description="The pack with the tasks to grade by; by default the one that was played.",
    )
    task_split: str | None = Field(
        default=None,
        description="The split to look for the tasks in; by default the one that was played, or "
        "the main one of data with other rules.",
    )
    basis: Annotated[_Parts | None, Flag(metavar="PART,...", typed=str)] = Field(
        default=None,
        description="The parts that count, instead of those of each task: any of database, "
        "assertions, actions, outputs and judged.",
    )
    exclude_tasks: Annotated[ExcludedTasks | None, Flag(metavar="FILE | N,N,...", typed=str)] = (
        Field(
            default=None,
            description="Leave the episodes of these tasks out: findings of an audit, a file that "
            "lists places, or places.",
        )
    )
    judge_model: str | None = Field(
        default=None, description="The model that judges sentences of tasks."
    )
    max_concurrency: Annotated[Count, Flag(on_resume=True)] = Field(
        default=4, description="How many episodes at a time."
    )
