"""The configuration of an evaluation: the source of its options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from greenroom.config import JudgeConfig, Seconds, UserConfig, WorkConfig
from greenroom.options import Count, Flag, Pairs, checked

Column = Flag(metavar="COLUMN")


class EvaluationConfig(JudgeConfig, UserConfig, WorkConfig):
    """The configuration of an evaluation. All of it is kept with the evaluation."""

    former_names: ClassVar[Mapping[str, str]] = {
        "inputs": "input_columns",
        "row_limit": "rows",
        "said": "message",
        "workflow_model": "model",
    }

    workflow: Annotated[str, Flag(positional=True, metavar="URL|FILE[:NAME]")] = Field(
        description="An address, such as http://localhost:8000 or http://localhost:8000/v1#model, "
        "or a file: app.py, or app.py:name for one of its workflows."
    )
    test_set: Annotated[str, Flag(positional=True, metavar="TESTSET[@VERSION]|FILE")] = Field(
        description="A test set in the store, or a CSV, JSON or JSON Lines file, which is imported."
    )
    model: str | None = Field(
        default=None, description="Which of an OpenAI-compatible server's models is meant."
    )
    evaluators: Annotated[list[str | dict[str, Any]], Flag(also=("-e",), metavar="EVALUATOR")] = (
        Field(
            default_factory=list[str | dict[str, Any]],
            description="How outputs are scored: NAME, NAME:SETTING=VALUE,..., ALIAS=NAME:... or "
            "file.py:function; may be given several times. NAME:expected=COLUMN compares with "
            "another column. A column 'evaluators' has those of single rows.",
        )
    )
    repeats: Count = Field(default=1, le=10_000, description="How often each row is given.")
    rows: Count | None = Field(default=None, description="Only so many rows, the first ones.")
    timeout: Seconds = Field(
        default=120.0, description="Seconds that the workflow has for an answer."
    )
    treat_as: Annotated[Literal["chat", "completion"] | None, Flag(also=("--as",))] = Field(
        default=None,
        description="completion: a chat workflow gets one message, and its text is the output. "
        "chat: the workflow chats, whatever it says of itself.",
    )
    parameters: Annotated[Pairs | None, Flag(also=("--param",), metavar="NAME=VALUE")] = Field(
        default=None, description="A parameter of the workflow that differs."
    )
    message: Annotated[str | None, Column] = Field(
        default=None, description="The column with what the user says."
    )
    expected: Annotated[str | None, Column] = Field(
        default=None, description="The column with what is expected."
    )
    input_columns: Annotated[list[str] | None, Column] = Field(
        default=None,
        description="A column that the workflow gets; by default all but the expected output.",
    )
    outputs: Annotated[str | None, Flag(metavar="COLUMN|EVALUATION")] = Field(
        default=None,
        description="Score recorded outputs: those in a column, or those of an earlier evaluation "
        "of the test set. WORKFLOW is then only a name.",
    )
    max_turns: Count = Field(default=10, description="Turns that a simulated user may talk.")


def check_evaluation_config(fields: Mapping[str, Any]) -> EvaluationConfig:
    """A configuration from what a person gave; what is wrong is told in a line."""
    return checked(EvaluationConfig, fields)
