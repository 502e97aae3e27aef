"""What a run is to be: checked before anything is played."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from greenroom.domains.environment import MAX_STEPS
from greenroom.domains.packs import DEFAULT_SPLIT
from greenroom.errors import InputError

Count = Annotated[int, Field(ge=1)]


class RunConfig(BaseModel):
    """The configuration of a run. Everything in it is kept with the run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    agent_strategy: str = "oracle"
    agent_options: dict[str, str] = Field(default_factory=dict[str, str])
    env: str = "retail"
    data: str | None = None
    task_split: str = DEFAULT_SPLIT
    task_ids: list[int] | None = None
    start_index: int = 0
    end_index: int = -1
    shuffle: bool = False
    num_trials: Count = 1
    max_concurrency: Count = 10
    max_num_steps: Count = MAX_STEPS
    max_episode_seconds: Annotated[float, Field(gt=0)] | None = None
    max_retries: Annotated[int, Field(ge=0)] = 2
    """How often an episode is tried again after an infrastructure error."""
    seed: int = 10
    model: str | None = None
    model_provider: str | None = None
    api_base: str | None = None
    temperature: float = 0.0
    max_tokens: Count | None = None
    reasoning_effort: str | None = None
    user_model: str | None = None
    user_model_provider: str | None = None
    user_api_base: str | None = None
    user_strategy: str = "scripted"
    transport: Literal["auto", "litellm"] = "auto"
    model_timeout: Annotated[float, Field(gt=0)] = 120.0
    model_retries: Annotated[int, Field(ge=0)] = 3
    """How often a call of a model is tried again."""
    cache: bool = False
    prices: str | None = None
    max_cost: Annotated[float, Field(gt=0)] | None = None
    max_tokens_total: Count | None = None


def check_config(fields: Mapping[str, Any]) -> RunConfig:
    """A configuration from what a person gave; what will not do is told in a line."""
    try:
        return RunConfig.model_validate(dict(fields))
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0]).replace("_", "-")
        message = first["msg"].removeprefix("Input should be ")
        raise InputError(f"--{name} should be {message}, not {first['input']!r}.") from error
