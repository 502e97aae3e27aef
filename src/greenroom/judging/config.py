"""The configuration of a judging."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from greenroom.models import ModelSettings

Count = Annotated[int, Field(ge=1)]


class JudgingConfig(BaseModel):
    """Which model judges, and within which limits. All of it is kept with the judging."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    judge_model: str
    judge_model_provider: str | None = None
    judge_api_base: str | None = None
    max_concurrency: Count = 4
    max_failures: Count | None = None
    cache: bool = False
    prices: str | None = None
    max_cost: Annotated[float, Field(gt=0)] | None = None
    max_tokens_total: Count | None = None

    @property
    def judge(self) -> str:
        """What the judge is recorded as."""
        provider = self.judge_model_provider
        return f"{provider}/{self.judge_model}" if provider else self.judge_model

    def model_settings(self) -> ModelSettings:
        """The judge's model."""
        return ModelSettings(
            model=self.judge_model,
            provider=self.judge_model_provider,
            api_base=self.judge_api_base,
        )
