"""The configuration of a judging."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from greenroom.config import JudgeConfig, WorkConfig
from greenroom.options import Count, Flag

if TYPE_CHECKING:
    from greenroom.models import ModelSettings


class JudgingConfig(JudgeConfig, WorkConfig):
    """Which model judges, and within which limits. All of it is kept with the judging."""

    judge_model: str = Field(description="The model that judges.")  # pyright: ignore[reportIncompatibleVariableOverride]
    max_concurrency: Annotated[Count, Flag(on_resume=True)] = Field(
        default=4, description="How many episodes at a time."
    )
    max_failures: Count | None = Field(
        default=None, description="Judge no more than this many failures."
    )

    def model_settings(self) -> ModelSettings:
        """The judge's model."""
        from greenroom.models import ModelSettings

        return ModelSettings(
            model=self.judge_model, provider=self.judge_model_provider, api_base=self.judge_api_base
        )
