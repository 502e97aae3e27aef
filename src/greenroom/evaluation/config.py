"""What an evaluation is to be: checked before anything is called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from greenroom.errors import InputError

Count = Annotated[int, Field(ge=1)]
Treatment = Literal["chat", "completion"]

_FLAGS = {"treat_as": "as", "said": "message", "workflow_model": "model", "row_limit": "rows"}


class EvaluationConfig(BaseModel):
    """The configuration of an evaluation. Everything in it is kept with the evaluation."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    workflow: str
    """An address, or app.py:name."""
    workflow_model: str | None = None
    """Which of an OpenAI-compatible server's models it is."""
    test_set: str
    """NAME, NAME@VERSION, or a file."""
    evaluators: list[str | dict[str, Any]]
    treat_as: Treatment | None = None
    parameters: dict[str, Any] | None = None
    """What differs from the workflow's own configuration."""
    expected: str | None = None
    inputs: list[str] | None = None
    said: str | None = None
    """The column with what the user says."""
    row_limit: Count | None = None
    repeats: Count = 1
    max_concurrency: Count = 10
    max_retries: Annotated[int, Field(ge=0)] = 2
    """How often a call without an answer is made again."""
    timeout: Annotated[float, Field(gt=0)] = 120.0
    """Seconds that the workflow has for an answer."""
    max_turns: Count = 10
    """Of a simulated conversation."""
    seed: int = 10
    user_strategy: str | None = None
    user_model: str | None = None
    user_model_provider: str | None = None
    user_api_base: str | None = None
    judge_model: str | None = None
    judge_model_provider: str | None = None
    judge_api_base: str | None = None
    transport: Literal["auto", "litellm"] = "auto"
    model_timeout: Annotated[float, Field(gt=0)] = 120.0
    model_retries: Annotated[int, Field(ge=0)] = 3
    cache: bool = False
    prices: str | None = None
    max_cost: Annotated[float, Field(gt=0)] | None = None
    max_tokens_total: Count | None = None
    gates: list[str] = Field(default_factory=list[str])
    strict: bool = False
    """Gates look at plain figures, and not at intervals."""

    @property
    def user(self) -> str:
        """The strategy of simulated users."""
        return self.user_strategy or ("llm" if self.user_model else "scripted")


def check_evaluation_config(fields: Mapping[str, Any]) -> EvaluationConfig:
    """A configuration from what a person gave; what will not do is told in a line."""
    try:
        return EvaluationConfig.model_validate(dict(fields))
    except ValidationError as error:
        first = error.errors()[0]
        field = str(first["loc"][0])
        name = _FLAGS.get(field, field).replace("_", "-")
        message = first["msg"].removeprefix("Input should be ")
        raise InputError(f"--{name} should be {message}, not {first['input']!r}.") from error
