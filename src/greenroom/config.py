"""The options that several kinds of work share: runs, evaluations and judging."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, cast

from pydantic import Field, model_validator

from greenroom.options import Config, Count, Flag, Pairs, PathOrName, Reference

DEFAULT_SPLIT: Final = "default"
"""Stands for a pack's main split: `base` where there is one, else `test`."""

Seconds = Annotated[float, Field(gt=0)]
Retries = Annotated[int, Field(ge=0)]


class WorkConfig(Config):
    """What all work has: models are asked, within limits, and figures may have to hold."""

    max_concurrency: Annotated[Count, Flag(on_resume=True)] = Field(
        default=10, description="How many are worked on at the same time."
    )
    max_retries: Annotated[Retries, Flag(on_resume=True)] = Field(
        default=2, description="Further attempts where something else breaks."
    )
    seed: int = Field(default=10, description="What chance depends on.")
    transport: Literal["auto", "litellm"] = Field(
        default="auto", description="litellm forces the way over litellm."
    )
    model_timeout: Annotated[Seconds, Flag(on_resume=True)] = Field(
        default=120.0, description="Seconds to wait for an answer of a model."
    )
    model_retries: Annotated[Retries, Flag(on_resume=True)] = Field(
        default=3, description="Further attempts at a call of a model."
    )
    cache: bool = Field(default=False, description="Keep answers of models, and use them again.")
    prices: Annotated[PathOrName | None, Flag(metavar="FILE", on_resume=True)] = Field(
        default=None, description="A JSON file of prices that come before the known."
    )
    max_cost: Annotated[Annotated[float, Field(gt=0)] | None, Flag(on_resume=True)] = Field(
        default=None, description="Stop, resumably, at so many US dollars."
    )
    max_calls_per_second: Annotated[Annotated[float, Field(gt=0)] | None, Flag(on_resume=True)] = (
        Field(
            default=None,
            description="So many calls a second for each provider of models, over all processes "
            "that share the store.",
        )
    )
    max_tokens_total: Annotated[Count | None, Flag(on_resume=True)] = Field(
        default=None, description="Stop, resumably, at so many tokens."
    )
    gates: Annotated[list[str], Flag(metavar="GATE")] = Field(
        default_factory=list[str],
        description="What has to hold, such as 'exact_match>=0.9'; else the exit status is 1. May "
        "be given several times.",
    )
    strict: bool = Field(
        default=False, description="Gates look at the plain figures, and not at intervals."
    )


class UserConfig(Config):
    """Who plays simulated users."""

    user_strategy: Annotated[Reference, Flag(derived=True)] = Field(
        default="scripted",
        description="Who the agent talks to: llm, react, verify, reflection, human, scripted, or "
        "file.py:name. By default llm with a user model, scripted without.",
    )
    user_options: Annotated[Pairs, Flag(metavar="NAME=VALUE")] = Field(
        default_factory=dict[str, Any],
        description="A setting of the simulated user: script=FILE says what a scripted one says, "
        "checks=false leaves drafts of verify and reflection unchecked.",
    )
    user_model: str | None = Field(default=None, description="The simulated user's model.")
    user_model_provider: str | None = Field(
        default=None, description="The provider of the user's model."
    )
    user_api_base: Annotated[str | None, Flag(metavar="URL")] = Field(
        default=None, description="An OpenAI-compatible server for the user."
    )

    user_persona: str | None = Field(
        default=None,
        description="How a user that a model plays behaves: plain, terse, chatty, impatient, "
        "forgetful or non-native.",
    )

    @model_validator(mode="before")
    @classmethod
    def _choose_user(cls, given: Any) -> Any:
        fields = dict(cast("Mapping[str, Any]", given))
        default = "llm" if fields.get("user_model") else "scripted"
        return fields | {"user_strategy": fields.get("user_strategy") or default}


class JudgeConfig(Config):
    """Which model judges."""

    judge_model: str | None = Field(
        default=None, description="The model of evaluators that ask one and name none."
    )
    judge_model_provider: str | None = Field(
        default=None, description="The provider of the judge's model."
    )
    judge_api_base: Annotated[str | None, Flag(metavar="URL")] = Field(
        default=None, description="An OpenAI-compatible server for the judge."
    )

    @property
    def judge(self) -> str:
        """What the judge is recorded as; empty if there is none."""
        model, provider = self.judge_model or "", self.judge_model_provider
        return f"{provider}/{model}" if provider and model else model
