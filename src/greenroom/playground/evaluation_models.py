"""What pages read of evaluations, their results and their comparisons."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

from greenroom.analysis.compared import Verdict
from greenroom.playground.evaluation_requests import EvaluatorInfo
from greenroom.playground.runs_routes import Gate, OutcomeCount, OutcomeWords
from greenroom.playground.shown import Shown
from greenroom.reports.sections import Fact
from greenroom.store.records import JobStatus

Change = Literal["broke", "healed", "same"]


class Evaluators(BaseModel):
    """What a page needs to make the form of a new evaluation."""

    items: list[EvaluatorInfo]
    options: dict[str, Any]
    """The options of an evaluation as a JSON schema."""


class EvaluationItem(BaseModel):
    """An evaluation in a list, with how it stands now."""

    id: str
    key: str
    """What its address has: its name, or its id if the name does not fit into an address."""
    name: str
    workflow: str
    is_chat: bool
    test_set: str
    version: int
    """Of the test set."""
    evaluators: list[str]
    """Their aliases."""
    status: JobStatus
    here: bool
    """This server works on it now."""
    planned: int
    finished: int
    """Calls with a result."""
    mean: float | None
    """The mean score over rows and evaluators."""
    rows: int
    repeats: int
    created_at: str


class UsedEvaluator(BaseModel):
    """An evaluator of an evaluation."""

    name: str
    alias: str
    settings: dict[str, Any]
    rows: int | None = None
    """How many rows name it; null if it looks at all of them."""


class Evaluation(EvaluationItem):
    """An evaluation: what is known without reading its results."""

    used: list[UsedEvaluator]
    outcomes: list[OutcomeCount]
    problem: str | None
    """Why it stopped before its end, if it did so here."""
    resume: str | None
    """The command that goes on with it; null if it is complete or under way."""
    export: str
    """The command that writes its report as a page."""
    config: dict[str, Any]
    greenroom_version: str


class EvaluationReportPage(BaseModel):
    """An evaluation's figures, in the words of every form of its report."""

    headline: str
    notes: list[str]
    """What has to be known to read the result rightly."""
    facts: list[Fact]
    gates: list[Gate]
    sections: list[Shown]
    counted: int
    """Of so many results."""


class ShownScore(BaseModel):
    """What an evaluator said, and what it compared with what."""

    alias: str
    score: float | None
    passed: bool | None
    broken: bool
    reason: str
    compared: Any
    against: Any


class ResultItem(BaseModel):
    """A result in a table. Large values are cut."""

    item: int
    """The row's position, from 0."""
    trial: int
    """The repeat, from 0."""
    label: str
    """As people say it: row 5."""
    outcome: OutcomeWords
    error: str | None
    question: str
    """What the workflow was asked, in a line."""
    inputs: dict[str, Any]
    expected: Any
    outputs: Any
    cut: bool
    """Something was cut; `GET .../results/{item}/{trial}` has the whole."""
    scores: list[ShownScore]
    seconds: float
    cost: float | None


class Result(ResultItem):
    """A result as a whole."""

    messages: list[dict[str, Any]] | None
    """The conversation; null where there was none."""
    row: dict[str, Any]
    """The whole row, what the workflow did not get included."""
    tool_calls: list[dict[str, Any]]
    attempts: int
    started_at: str
    trace_id: str | None
    prompt_tokens: int
    completion_tokens: int
    trials: list[int]
    """The repeats of this row that have a result."""


class EvaluationComparisonPage(BaseModel):
    """Two evaluations paired row by row."""

    a: EvaluationItem
    b: EvaluationItem
    verdict: Verdict
    sentence: str
    """The verdict in words."""
    notes: list[str]
    sections: list[Shown]
    evaluators: list[str]
    """Those that both have."""
    broke: int
    """Rows that mostly passed before, and do not now."""
    healed: int
    same: int
    left_out: int
    """Rows that only one of the two has an answer of."""


class EvaluatorChange(BaseModel):
    """How the verdict of one evaluator on a row changed."""

    alias: str
    change: Literal["broke", "healed"]
    before: str
    now: str


class ScoreChange(BaseModel):
    """How the mean score of one evaluator on a row changed; null where there is no score."""

    alias: str
    before: float | None
    now: float | None


class ComparedRow(BaseModel):
    """A row with what became of it in two evaluations."""

    item: int
    label: str
    question: str
    change: Change
    evaluators: list[EvaluatorChange]
    scores: list[ScoreChange]
    """The scores that changed, whether or not a verdict did; the mean of all repeats."""
    before: list[ResultItem]
    """The first repeats, in the baseline."""
    now: list[ResultItem]
