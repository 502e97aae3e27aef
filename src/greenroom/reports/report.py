"""The reports of runs, evaluations and comparisons: their sections, and the records behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, Generic, Literal, TypeVar, cast, overload

from pydantic import Field, WrapSerializer, WrapValidator, computed_field

from greenroom.analysis import compared, figures
from greenroom.analysis.evaluations import EvaluationFigures
from greenroom.analysis.figures import Immutable
from greenroom.analysis.judge_checks import JudgeCheck
from greenroom.analysis.judged import JudgedFigures
from greenroom.analysis.slices import Slice
from greenroom.analysis.spread_figures import RankingSpread, VarianceSplit
from greenroom.analysis.tally import usage_by_purse
from greenroom.analysis.tools import ToolFigures, tool_figures
from greenroom.audit.figures import UserAudit
from greenroom.reports.sections import Failures, Report
from greenroom.store import EvaluationRecord, ResultRecord, ResultSummary
from greenroom.store.records import (
    CellKey,
    CellRecord,
    EpisodeRecord,
    EpisodeSummary,
    RunRecord,
    Usage,
)
from greenroom.store.tallies import Tallies

RecordT = TypeVar("RecordT", bound=CellRecord)
SummaryT = TypeVar("SummaryT")
BesideT = TypeVar("BesideT")


class PublishedRow(Immutable, frozen=True):
    """A published result that stands beside a run, and what differs between the two."""

    strategy: str
    pass_hat_k: dict[int, float]
    source: str
    differs: list[str]
    intervals: dict[int, figures.Estimate] = Field(default_factory=dict[int, figures.Estimate])
    """Of the figures whose counts are known."""
    remark: str = ""
    """What has to be known of the figures."""


class StoredRecords(Sequence[RecordT], Generic[RecordT, SummaryT, BesideT]):
    """Episodes or results: read from the store, record by record, whenever they are needed."""

    def __init__(
        self,
        read: Callable[[], Iterator[RecordT]],
        counted: Sequence[SummaryT] = (),
        beside: BesideT | None = None,
        find: Callable[[Sequence[CellKey]], Iterator[RecordT]] | None = None,
    ) -> None:
        self._read, self._find = read, find
        self.counted = counted
        """What is counted of each: small enough to be kept."""
        self.beside = beside
        """What was found while they were counted: how tools were used, or what failed."""

    def __iter__(self) -> Iterator[RecordT]:
        return self._read()

    def __len__(self) -> int:
        return len(self.counted)

    def of(self, keys: Sequence[CellKey]) -> Iterator[RecordT]:
        """The records of these cells, and maybe others: all are read where that is simpler."""
        return self._read() if self._find is None else self._find(keys)

    @overload
    def __getitem__(self, index: int) -> RecordT: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[RecordT]: ...
    def __getitem__(self, index: int | slice) -> RecordT | Sequence[RecordT]:
        places = range(len(self))[index]
        wanted = {places} if isinstance(places, int) else set(places)
        found = {place: one for place, one in enumerate(self) if place in wanted}
        return found[places] if isinstance(places, int) else [found[place] for place in places]


def stored(records: Sequence[RecordT]) -> StoredRecords[RecordT, Any, Any] | None:
    """The records if they are in the store, None if they are in a list."""
    found = isinstance(records, StoredRecords)
    return cast("StoredRecords[RecordT, Any, Any]", records) if found else None


def _as_given(value: Any, check: Callable[[Any], Any]) -> Any:
    return check(value) if stored(value) is None else value


Kept = Annotated[
    Sequence[RecordT],
    WrapValidator(_as_given),
    WrapSerializer(lambda value, dump: dump(list(value))),
]
"""Records in a list, or in the store."""
StoredEpisodes = StoredRecords[EpisodeRecord, EpisodeSummary, Sequence[ToolFigures]]


class RunData(Immutable, frozen=True):
    """Everything that is known of a run: what its sections are built from."""

    run: RunRecord
    metrics: figures.RunMetrics
    errors: figures.ErrorBreakdown
    published: list[PublishedRow]
    episodes: Kept[EpisodeRecord]
    identical_tasks: int = 0
    """Tasks whose trials are all the same, step by step."""
    crashes: dict[str, int] = Field(default_factory=dict[str, int])
    """What the agent's own code raised, with how often."""
    pruned: int = 0
    """Episodes whose conversations were pruned: their figures are what they were."""
    judged: JudgedFigures | None = None
    """Sentences that a judge decides about, in runs whose tasks have some."""
    attempts: int = 0
    """Attempts that came to nothing: broken or interrupted, and played again."""
    attempts_cost: float | None = None
    """What these cost; None if a price is not known, or nothing was bought."""
    attempts_usage: dict[str, Usage] = Field(default_factory=dict[str, Usage])
    """What these used, by purse."""
    agent_facts: dict[str, list[str]] = Field(default_factory=dict[str, list[str]])
    """What the agent said of itself, such as a version; several values where it changed."""
    agent_tallies: Tallies = Field(default_factory=Tallies)
    """What the agent counted beyond the usual, over all episodes; None where it is not known."""
    user_tallies: Tallies = Field(default_factory=Tallies)
    """The same of the simulated users."""
    slices: dict[str, list[Slice]] = Field(default_factory=dict[str, list[Slice]])
    """By what they were asked for."""
    user_audit: UserAudit | None = None
    """What the simulated users did wrong, where that was asked for."""

    @property
    def counted(self) -> Sequence[EpisodeRecord | EpisodeSummary]:
        """What is counted of each episode."""
        kept = stored(self.episodes)
        return self.episodes if kept is None else kept.counted

    @cached_property
    def used(self) -> Mapping[str, Usage]:
        """What all episodes used together, by purse."""
        return usage_by_purse(one.usage for one in self.counted)

    @property
    def tools(self) -> Sequence[ToolFigures]:
        """How each tool was used."""
        kept = stored(self.episodes)
        return tool_figures(self.episodes) if kept is None else kept.beside or ()


class RunReport(Report, RunData, frozen=True):
    """The report of a run. Its JSON is the format of `greenroom runs export --format json`."""

    kind: Literal["greenroom.run"] = "greenroom.run"


class EvaluatedRow(ResultRecord):
    """A result with the row of the test set that it belongs to. Rows and repeats count from 1."""

    inputs: dict[str, Any] = Field(default_factory=dict[str, Any])
    """The whole row, the expected output included."""

    @property
    def shown_outcome(self) -> str:
        """What became of it, over all evaluators: the name of an outcome."""
        return shown_outcome(self)

    @classmethod
    def of(cls, record: ResultRecord, inputs: Mapping[str, Any]) -> EvaluatedRow:
        """A result as people count it."""
        counted = {"row": record.row + 1, "repeat": record.repeat + 1, "inputs": dict(inputs)}
        return cls.model_validate(vars(record) | counted)


def shown_outcome(result: ResultRecord | ResultSummary) -> str:
    """What became of a result, over all evaluators: the name of an outcome."""
    if result.outcome != "answered":
        return result.outcome
    return {True: "passed", False: "not_passed", None: "answered"}[result.solved]


StoredResults = StoredRecords[EvaluatedRow, ResultSummary, Failures]


class EvaluationFacts(EvaluationRecord):
    """An evaluation with what follows from it."""

    @computed_field
    @property
    def test_set(self) -> str:
        """The test set with its version."""
        return f"{self.test_set_name}@{self.test_set_version}"

    @computed_field
    @property
    def planned(self) -> int:
        """How many calls make up the whole evaluation."""
        return self.row_count * self.repeats


class EvaluationData(Immutable, frozen=True):
    """Everything that is known of an evaluation: what its sections are built from."""

    evaluation: EvaluationFacts
    figures: EvaluationFigures
    results: Kept[EvaluatedRow]
    attempts_usage: list[dict[str, Usage]] = Field(default_factory=list[dict[str, Usage]])
    """What attempts without an answer used."""
    by: list[str] = Field(default_factory=list[str])
    """The columns that slices are made by."""
    user_tallies: Tallies = Field(default_factory=Tallies)
    """What the simulated users counted, over all results; None where it is not known."""
    judges: dict[str, JudgeCheck | None] = Field(default_factory=dict[str, JudgeCheck | None])
    """Evaluators that are a model's opinion, by alias, and how far each can be trusted."""
    user_audit: UserAudit | None = None
    """What the simulated users did wrong, where that was asked for."""


class EvaluationReport(Report, EvaluationData, frozen=True):
    """The report of an evaluation. Its JSON is the format of `greenroom evals export`."""

    kind: Literal["greenroom.evaluation"] = "greenroom.evaluation"


class ComparisonReport(Report, frozen=True):
    """Runs, or evaluations, against the first of them."""

    kind: Literal["greenroom.comparison"] = "greenroom.comparison"
    confidence: float
    margin: float
    """The margin within which two count as equal."""
    convention: figures.ErrorConvention | None = None
    """For runs: what becomes of episodes without a result."""
    runs: list[compared.RunSide] = Field(default_factory=list[compared.RunSide])
    """The baseline first; empty for evaluations."""
    evaluations: list[compared.EvaluationSide] = Field(
        default_factory=list[compared.EvaluationSide]
    )
    """The baseline first; empty for runs."""
    comparisons: list[compared.RunComparison] | list[compared.EvaluationComparison]
    """One for each further run or evaluation."""

    @property
    def regressed(self) -> list[str]:
        """Which are significantly worse than the baseline."""
        return [one.label for one in self.comparisons if one.verdict == "worse"]


class UserRun(Immutable, frozen=True):
    """A run of an agent with one user."""

    name: str
    user: str
    pass_1: figures.Estimate
    coverage: float
    """The share of its planned episodes that have a result."""


class SpreadReport(Report, frozen=True):
    """An agent with several users, and another one with the same users."""

    kind: Literal["greenroom.spread"] = "greenroom.spread"
    agent: str
    runs: list[UserRun]
    split: VarianceSplit | None
    """What the variance of results comes from; None if too little is known."""
    against: str | None = None
    against_runs: list[UserRun] = Field(default_factory=list[UserRun])
    ranking: RankingSpread | None = None
    """How far the order of the two depends on the user."""
