"""A report is a list of sections, and every form of it renders the same sections.

A section holds values, not texts: `texts.show` turns a value into text by its format. A number
that is not known is None, never NaN. To add a section, write a function that builds it and enter
the function in the list of its kind (`build_run`, `build_evaluation`, `build_comparison`).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from greenroom.analysis.figures import Immutable
from greenroom.analysis.gates import GateResult

REPORT_VERSION = 2

Format = Literal[
    "text", "count", "decimal", "signed", "percent", "money", "seconds", "ratio", "outcome",
    "outcomes",
]  # fmt: skip
"""How a value is written.

text               as it is
count              a whole number
decimal, signed    a number; signed numbers have a plus or a minus
percent            a share from 0 to 1
money              US dollars
seconds            a time span
ratio              two whole numbers, as 3/4
outcome, outcomes  the name of an outcome (see OUTCOMES), or a list of them
"""

Cell = str | int | float | list[int] | list[float] | list[str] | None
"""A value of a table: two numbers for intervals and ratios, names for outcomes."""

_RIGHT = {"count", "decimal", "signed", "percent", "money", "seconds", "ratio"}


class Section(Immutable, frozen=True):
    """What all sections have."""

    id: str
    """Stable: an anchor of the page, and the name of the section in JSON."""
    title: str
    notes: list[str] = Field(default_factory=list[str])
    """Sentences below the section."""
    detail: bool = False
    """Markdown folds it, and the console shows it only when asked for everything."""


class Fact(Immutable, frozen=True):
    """A label with its value."""

    label: str
    value: str


class Facts(Section, frozen=True):
    """Labels with values."""

    type: Literal["facts"] = "facts"
    facts: list[Fact]


class Figure(Immutable, frozen=True):
    """A figure with its interval and what it stands on."""

    key: str
    """The name that gates use."""
    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    """How many tasks or rows are behind it."""
    cautious: bool = False
    """The interval is on the safe side: it holds the truth more often than it says."""
    partial: bool = False
    """It stands on fewer tasks or rows than the result has."""
    format: Format = "decimal"
    digits: int | None = None
    meaning: str = ""
    second: float | None = None
    """The figure under the section's second convention, where that differs."""
    unknown: str = ""
    """What is shown for a value that is not known."""
    prominent: bool = False
    """One of the few that count most."""


class Figures(Section, frozen=True):
    """Figures of the whole result."""

    type: Literal["figures"] = "figures"
    figures: list[Figure]
    confidence: float = 0.95
    """Of all intervals."""
    units: str = "tasks"
    """What `n` counts."""
    second: str = ""
    """The second convention in words; empty where it makes no difference."""


class Column(Immutable, frozen=True):
    """A column of a table."""

    label: str
    format: Format = "text"
    digits: int | None = None
    interval: bool = False
    """Cells are the two ends of an interval."""
    wide: bool = False
    """Shown only where there is room for it."""

    @property
    def right(self) -> bool:
        """Whether cells are aligned to the right."""
        return self.format in _RIGHT


def columns(*written: str | Column) -> list[Column]:
    """Columns as they are written: LABEL:FORMAT.DIGITS:interval:wide, all but the label optional.

    A label that may hold a colon is given as a column of its own.
    """
    found: list[Column] = []
    for one in written:
        if isinstance(one, str):
            label, *rest = one.split(":")
            form, *flags = rest or ["text"]
            form, _, digits = form.partition(".")
            fields = {"format": form, "digits": digits or None} | dict.fromkeys(flags, True)
            one = Column.model_validate({"label": label, **fields})
        found.append(one)
    return found


class Row(Immutable, frozen=True):
    """A row of a table."""

    cells: list[Cell]
    strong: bool = False
    """It stands out: the total, or the run itself among others."""


class Table(Section, frozen=True):
    """Rows under typed columns, in the order in which they are read."""

    type: Literal["table"] = "table"
    columns: list[Column]
    rows: list[Row]
    shown: int | None = None
    """How many rows a console shows; None for all."""
    sort: list[int] = Field(default_factory=list[int])
    """The columns that a page may sort by."""


class GridItem(Immutable, frozen=True):
    """A task or a row of a test set, with what became of each trial."""

    key: int
    """The task's index, or the row's position from 0."""
    label: str
    """As people count it."""
    outcomes: list[str | None]
    """By trial; None where there is none."""
    score: float | None
    """By which items are ordered from worst to best: the share solved, or the mean score."""
    cells: list[Cell]


class Grid(Section, frozen=True):
    """Items x trials with an outcome each, and a table of the items' figures."""

    type: Literal["grid"] = "grid"
    item: str
    """What an item is called: task or row."""
    trial: str
    """What a trial is called: trial or repeat."""
    trials: list[str]
    """The trials as people count them."""
    columns: list[Column]
    """Of the items' cells."""
    items: list[GridItem]
    shown: int = 20
    """How many items a console shows: the worst first where there are more."""


class Point(Immutable, frozen=True):
    """A point of a chart."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None
    label: str = ""


class Series(Immutable, frozen=True):
    """Points that belong together."""

    name: str
    points: list[Point]


class Chart(Section, frozen=True):
    """Series of points. Where nothing can be drawn it is a table."""

    type: Literal["chart"] = "chart"
    style: Literal["bars", "steps", "scatter"]
    x: Column
    y: Column
    series: list[Series]


class KindCount(Immutable, frozen=True):
    """A kind of failure with how often it occurred."""

    kind: str
    label: str
    meaning: str
    count: int


class Evidence(Immutable, frozen=True):
    """Something that shows why it failed."""

    label: str
    text: str


class FailedCell(Immutable, frozen=True):
    """Something that did not succeed, and why."""

    item: int
    """The key of the grid's item."""
    trial: int
    """The place of the trial, from 0."""
    label: str
    """As people say it: task 5, trial 0."""
    kind: str
    """The name of the kind; its words are in the section's kinds."""
    sentence: str
    subject: str = ""
    """What was asked: the question of the row, or the wish of the user."""
    evidence: list[Evidence] = Field(default_factory=list[Evidence])


class Failures(Section, frozen=True):
    """What failed: by kind, and each explained."""

    type: Literal["failures"] = "failures"
    kinds: list[KindCount]
    """The most frequent first."""
    failures: list[FailedCell]
    total: int
    """How many there are; not all of them need be listed."""
    noun: str
    """What fails: episode or result."""
    asks: str = "asked"
    """The word before the subject of a failure."""
    shown: int = 5
    """How many a console lists."""


class Text(Section, frozen=True):
    """A text, such as a policy."""

    type: Literal["text"] = "text"
    text: str


AnySection = Annotated[
    Facts | Figures | Table | Grid | Chart | Failures | Text, Field(discriminator="type")
]


class Report(Immutable, frozen=True):
    """What is said of a run, an evaluation, a comparison or an agent with several users."""

    kind: Literal[
        "greenroom.run", "greenroom.evaluation", "greenroom.comparison", "greenroom.spread"
    ]
    version: int = REPORT_VERSION
    name: str
    headline: str
    """The result in a sentence."""
    notes: list[str] = Field(default_factory=list[str])
    """Warnings: what has to be known to read the result rightly."""
    facts: list[Fact] = Field(default_factory=list[Fact])
    """Who, what, when: the lines below the name."""
    gates: list[GateResult] = Field(default_factory=list[GateResult])
    sections: list[AnySection] = Field(default_factory=list[AnySection])

    @property
    def named(self) -> bool:
        """Whether it is of one thing, which its name says; the headline names all others."""
        return self.kind in ("greenroom.run", "greenroom.evaluation")

    @property
    def holds(self) -> bool:
        """Whether all gates hold."""
        return all(gate.passed for gate in self.gates)

    def section(self, section_id: str) -> AnySection | None:
        """The section of that id, if there is one."""
        return next((one for one in self.sections if one.id == section_id), None)
