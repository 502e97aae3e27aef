"""The configuration of a judging: the source of its options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from greenroom.config import JudgeConfig, WorkConfig
from greenroom.options import Count, Target, checked


class JudgingConfig(JudgeConfig, WorkConfig):
    """The configuration of a judging of failed episodes."""

    # Models are frozen, so that a narrower type is safe.
    judge_model: str = Field(  # pyright: ignore[reportIncompatibleVariableOverride]
        description="The model that judges."
    )
    max_concurrency: Count = Field(default=4, description="How many episodes at a time.")
    max_failures: Count | None = Field(
        default=None, description="Judge no more than this many failures."
    )
    env: Target = Field(
        default="retail", description="The domain of a result file: it tells which tools write."
    )


def check_judging_config(fields: Mapping[str, Any]) -> JudgingConfig:
    """A configuration from what a person gave; what is wrong is told in a line."""
    return checked(JudgingConfig, fields)
