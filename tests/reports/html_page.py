"""A page taken apart, as a browser does it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from importlib.resources import files
from typing import Any

from greenroom.analysis.evaluations import measure_results
from greenroom.analysis.gates import GateResult
from greenroom.reports.build_evaluation import evaluation_report
from greenroom.reports.html import render_html
from greenroom.reports.report import (
    EvaluatedRow,
    EvaluationData,
    EvaluationFacts,
    EvaluationReport,
)
from greenroom.reports.sections import (
    AnySection,
    Chart,
    Column,
    Evidence,
    Fact,
    Facts,
    FailedCell,
    Failures,
    Figure,
    Figures,
    Grid,
    GridItem,
    KindCount,
    Point,
    Report,
    Row,
    Series,
    Table,
    Text,
)
from greenroom.store import ResultRecord, ScoreRecord
from tests.reports import sample


@dataclass
class Element:
    """A start tag with the text that follows it up to the next tag."""

    name: str
    attributes: dict[str, str | None]
    text: str = ""


@dataclass
class Page(HTMLParser):
    """A page as a browser takes it apart."""

    elements: list[Element] = field(default_factory=list[Element])
    all_text: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(Element(tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.elements:
            self.elements[-1].text += data
        if not self.elements or self.elements[-1].name not in ("script", "style"):
            self.all_text.append(data)

    def named(self, name: str) -> list[Element]:
        return [one for one in self.elements if one.name == name]

    def having(self, attribute: str) -> list[Element]:
        return [one for one in self.elements if attribute in one.attributes]

    @property
    def words(self) -> str:
        return " ".join("".join(self.all_text).split())


def parsed(text: str) -> Page:
    page = Page()
    page.feed(text)
    page.close()
    return page


@cache
def full_page() -> tuple[str, Page]:
    text = render_html(sample.full_report())
    return text, parsed(text)


def block_data(page: Page) -> dict[int, dict[str, Any]]:
    """The data of conversations, by the key of the grid's item."""
    return {
        int(one.attributes["data-block"] or ""): json.loads(one.text)
        for one in page.named("script")
        if "data-block" in one.attributes
    }


def evaluated(text: str = "said", rows: int = 3, repeats: int = 2) -> EvaluationReport:
    """The report of an evaluation: chats, answers of every shape, scores, a row that broke."""
    outputs: list[Any] = [
        text,
        {"role": "assistant", "content": text},
        {text: [text]},
        [{"role": "assistant", "content": text}],
    ]
    record = EvaluationFacts(
        id="e1",
        name=text,
        created_at=sample.START,
        greenroom_version="0.1.0",
        workflow=text,
        test_set_id="t1",
        test_set_name=text,
        test_set_version=1,
        evaluators=[{"name": "exact_match", "alias": "exact", "settings": {}}],
        row_count=rows,
        repeats=repeats,
        status="complete",
    )
    call = {"id": "c1", "type": "function", "function": {"name": text, "arguments": '{"a": 1}'}}
    conversation = [
        {"role": "user", "content": text},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": text},
        {"role": "assistant", "content": text},
    ]
    results: list[EvaluatedRow] = []
    for number in range(rows * repeats):
        row, repeat = divmod(number, repeats)
        broken, passed = number == 1, number % 2 == 0
        score = ScoreRecord(
            score=float(passed), passed=passed, compared=text, against={"a": text}, reason=text
        )
        result = ResultRecord(
            row=row,
            repeat=repeat,
            outcome="infrastructure_error" if broken else "answered",
            outputs=None if broken else outputs[number % len(outputs)],
            conversation=conversation if number == 4 else None,
            scores={} if broken else {"exact": score},
            error=text if broken else None,
            started_at=sample.START,
            seconds=0.5,
            trace_id=text,
        )
        chat = [{"role": "system", "content": text}, {"role": "user", "content": text}]
        inputs = {"messages": chat, "tone": text, "expected": text}
        results.append(EvaluatedRow.of(result, inputs))
    figures = measure_results(results, evaluators={"exact": "exact_match"}, planned=rows * repeats)
    return evaluation_report(EvaluationData(evaluation=record, figures=figures, results=results))


def every_section(text: str = "said") -> Report:
    """A report with every type of section and the same text wherever one can stand."""
    column = Column(label=text)
    share = Column(label=text, format="percent", wide=True)
    point = Point(x=1.0, y=0.5, low=0.25, high=0.75, label=text)
    sections: list[AnySection] = [
        Facts(id=text, title=text, notes=[text], facts=[Fact(label=text, value=text)]),
        Figures(
            id=text,
            title=text,
            units=text,
            second=text,
            figures=[
                Figure(
                    key=text,
                    label=text,
                    value=0.5,
                    low=0.25,
                    high=0.75,
                    n=3,
                    meaning=text,
                    prominent=True,
                    second=0.25,
                    partial=True,
                ),
                Figure(key=text, label=text, value=None, unknown=text, meaning=text),
            ],
        ),
        Table(
            id=text,
            title=text,
            columns=[
                column,
                share,
                Column(label=text, format="outcome"),
                Column(label=text, format="outcomes"),
                Column(label=text, format="ratio"),
                Column(label=text, format="decimal", interval=True),
            ],
            rows=[
                Row(cells=[text, 0.5, text, [text, "success"], [1, 2], [0.25]], strong=True),
                Row(cells=[text * 9, None, "failure", [], [0, 0], None]),
            ],
            sort=[0, 1],
        ),
        Table(id=text, title=text, columns=[column], rows=[]),
        *(
            Chart(
                id=text,
                title=text,
                style=style,
                x=Column(label=text, format="money" if style == "scatter" else "count"),
                y=share,
                series=[
                    Series(name=text, points=[point, point.model_copy(update={"x": 2.0})]),
                    Series(name=text, points=[point]),
                ],
            )
            for style in ("bars", "steps", "scatter")
        ),
        Grid(
            id=text,
            title=text,
            item=text,
            trial=text,
            trials=[text, text],
            columns=[column, share],
            items=[
                GridItem(key=0, label=text, outcomes=["success", None], score=1.0, cells=[text, 1]),
                GridItem(
                    key=1, label=text, outcomes=[text, "invalid"], score=None, cells=[text, None]
                ),
            ],
        ),
        Failures(
            id=text,
            title=text,
            kinds=[KindCount(kind=text, label=text, meaning=text, count=2)],
            failures=[
                FailedCell(
                    item=1,
                    trial=0,
                    label=text,
                    kind=text,
                    sentence=text,
                    subject=text,
                    evidence=[
                        Evidence(label=text, text=text),
                        Evidence(label=text, text=json.dumps({text: text})),
                        Evidence(label=text, text="{" + text),
                    ],
                )
            ],
            total=2,
            noun=text,
        ),
        Text(id=text, title=text, text=text),
        Text(id=text, title=text, text=text, detail=True),
    ]
    gates = [
        GateResult(
            gate=text,
            subject=text,
            value=0.5,
            low=0.25,
            high=0.75,
            passed=passed,
            inconclusive=inconclusive,
            reason=text,
        )
        for passed, inconclusive in ((True, False), (True, True), (False, False))
    ]
    return Report(
        kind="greenroom.comparison",
        name=text,
        headline=text,
        notes=[text],
        facts=[Fact(label=text, value=text)],
        gates=gates,
        sections=sections,
    )


def asset(name: str) -> str:
    return files("greenroom.reports").joinpath("html_assets", name).read_text(encoding="utf-8")
