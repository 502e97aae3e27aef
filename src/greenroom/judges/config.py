"""The configuration of a check of a judge."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, field_validator

from greenroom.config import JudgeConfig, WorkConfig
from greenroom.options import Count, Flag, PathOrName


class CheckConfig(JudgeConfig, WorkConfig):
    """Which judge is checked, by which cases, and how often."""

    instrument: Annotated[str, Flag(positional=True, metavar="JUDGE")] = Field(
        description="identify, statements, or an evaluator with its settings, such as llm_judge or "
        "llm_judge:prompt_file=prompt.txt."
    )
    judge_model: str | None = Field(
        default=None,
        description="The model that judges; an evaluator's settings may name it instead.",
    )
    cases: Annotated[PathOrName | None, Flag(metavar="FILE|TESTSET")] = Field(
        default=None,
        description="Labelled cases: a CSV, JSON or JSON Lines file, or a test set. By default "
        "Greenroom's own few.",
    )
    repeats: Count = Field(default=3, le=100, description="How often each case is judged.")
    swap: Annotated[str | None, Flag(metavar="COLUMN,COLUMN")] = Field(
        default=None,
        description="For a judge that compares two answers: the columns that change places. Its "
        "verdict should then be the opposite.",
    )
    min_agreement: float = Field(
        default=0.8,
        ge=0,
        le=1,
        description="A judge that agrees with people less than this is marked in every report; the "
        "exit status is 1 then.",
    )

    @field_validator("swap")
    @classmethod
    def _two_columns(cls, given: str | None) -> str | None:
        if given is not None and len([one for one in given.split(",") if one.strip()]) != 2:
            raise ValueError("two columns, such as first,second")
        return given

    @property
    def swapped(self) -> list[str] | None:
        """The two columns that change places."""
        return None if self.swap is None else [one.strip() for one in self.swap.split(",")]


__all__ = ["CheckConfig"]
