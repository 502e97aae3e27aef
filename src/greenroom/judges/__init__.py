"""Judges as instruments: labelled cases, and checks of judges by them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from greenroom.util.imports import later

if TYPE_CHECKING:
    from greenroom.judges.cases import LabelledCase, builtin_cases, read_cases
    from greenroom.judges.checks import finish_check, start_check
    from greenroom.judges.config import CheckConfig
    from greenroom.judges.kinds import JUDGES, JudgeKind
    from greenroom.judges.labelling import cases_of_run, write_cases

if not TYPE_CHECKING:
    # Reading the options of a check needs none of the rest.
    __getattr__ = later(
        __name__,
        cases="LabelledCase builtin_cases read_cases",
        checks="finish_check start_check",
        config="CheckConfig",
        kinds="JUDGES JudgeKind",
        labelling="cases_of_run write_cases",
    )

__all__ = [
    "JUDGES",
    "CheckConfig",
    "JudgeKind",
    "LabelledCase",
    "builtin_cases",
    "cases_of_run",
    "finish_check",
    "read_cases",
    "start_check",
    "write_cases",
]
