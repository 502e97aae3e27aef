"""Sections that runs and evaluations have alike."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeVar

from greenroom.analysis.figures import Estimate, Immutable, Latency
from greenroom.analysis.tally import usage_by_purse
from greenroom.audit import KINDS
from greenroom.reports import sections
from greenroom.reports.plain import without_secrets
from greenroom.reports.sections import AnySection, Cell, Column, Figure, Format, Point, Row, columns
from greenroom.reports.texts import known, money, plural
from greenroom.store.outcomes import OUTCOMES, outcome_info
from greenroom.store.records import AnyUsage, JobRecord, Usage, total_cost
from greenroom.store.tallies import Tallies
from greenroom.util.json_values import as_list
from greenroom.util.raw_json import plain

DataT = TypeVar("DataT", bound=Immutable)
Builder = Callable[[DataT], Iterable[AnySection]]
"""Builds a section, or several, or none, from what is known of a result."""

PURSES = {"agent": "Agent", "user": "Simulated user", "judge": "Judge"}
SPANS = {"turn": "Turn", "call": "Call of the workflow", "episode": "Episode"}


MOST_FAILURES = 1_000
"""So many failures are explained in a report; all are counted."""


def report_fields(
    kind: type[DataT], data: DataT, builders: Iterable[Builder[DataT]]
) -> dict[str, Any]:
    """Data of this kind and the sections that are built from it, as fields of a report."""
    fields = {name: getattr(data, name) for name in kind.model_fields}
    return fields | {"sections": [section for build in builders for section in build(data)]}


def fig(
    key: str,
    label: str,
    value: Estimate | float | None,
    meaning: str,
    form: Format = "decimal",
    digits: int | None = None,
    *,
    second: Estimate | None = None,
    **more: Any,
) -> Figure:
    """A figure: an estimate with its interval, or a plain number. `more` are fields of Figure."""
    ends = (value.value, value.low, value.high) if isinstance(value, Estimate) else (value,)
    number, low, high = (*map(known, ends), None, None)[:3]
    fields = {"key": key, "label": label, "value": number, "low": low, "high": high}
    fields |= {"cautious": isinstance(value, Estimate) and value.cautious}
    shown = {"format": form, "digits": digits, "meaning": meaning}
    other = known(second.value) if second else None
    return Figure.model_validate({**fields, **shown, "second": other, **more})


def table(
    section_id: str,
    title: str,
    head: Iterable[str | Column],
    rows: Iterable[Row | Sequence[Cell]],
    *,
    sort: int = 0,
    **more: Any,
) -> sections.Table:
    """A table: columns as `columns` reads them, and cells. A page sorts by the first columns."""
    return sections.Table(
        id=section_id,
        title=title,
        columns=columns(*head),
        rows=[row if isinstance(row, Row) else Row(cells=list(row)) for row in rows],
        sort=list(range(sort)),
        **more,
    )


def tallies_table(section_id: str, title: str, tallies: Tallies) -> Iterator[AnySection]:
    """What an agent or the users counted beyond the usual, if they counted anything."""
    rows: list[list[Cell]] = [
        ["" if place else of, label, _amount(of, count)]
        for of, counts in tallies.items()
        for place, (label, count) in enumerate(counts.items())
    ]
    if rows:
        yield table(section_id, title, ("Of", "", "Number:count"), rows)


def users_tallies(tallies: Tallies) -> Iterator[AnySection]:
    """What the simulated users of a run or an evaluation counted; findings by their labels."""
    labels: dict[str, str] = {kind: info.label for kind, info in KINDS.items()}
    shown = {
        of: {labels.get(what, what): count for what, count in counts.items()}
        for of, counts in tallies.items()
    }
    yield from tallies_table("user", "What the user counted", shown)


def _amount(of: str, count: float | None) -> Cell:
    if count is None:
        return "unknown"
    return money(count) if of.endswith("cost") else count


def chart(
    section_id: str,
    title: str,
    style: Literal["bars", "steps", "scatter"],
    axes: tuple[str, str],
    series: Mapping[str, Sequence[Point]],
    *notes: str,
) -> Iterator[AnySection]:
    """A chart of points by series, where there are any. Axes are as `columns` reads them."""
    if any(series.values()):
        x, y = columns(*axes)
        drawn = [sections.Series(name=name, points=list(one)) for name, one in series.items()]
        yield sections.Chart(
            id=section_id,
            title=title,
            style=style,
            x=x,
            y=y,
            series=drawn,
            notes=list(notes),
            detail=True,
        )


def estimate_points(estimates: Iterable[tuple[float, str, Estimate | None]]) -> list[Point]:
    """Estimates as points of a chart, by place and label; those that are not known are left out."""
    return [
        Point(x=x, y=one.value, low=known(one.low), high=known(one.high), label=label)
        for x, label, one in estimates
        if one is not None and known(one.value) is not None
    ]


def facts_of(pairs: Iterable[tuple[str, str]]) -> list[sections.Fact]:
    """Labels with values."""
    return [sections.Fact(label=label, value=value) for label, value in pairs]


def kind_counts(
    counts: Iterable[tuple[str, int]], words: Callable[[str], tuple[str, str]]
) -> list[sections.KindCount]:
    """Kinds of failure that occurred, in the words for them."""
    return [
        sections.KindCount(kind=kind, label=words(kind)[0], meaning=words(kind)[1], count=count)
        for kind, count in counts
        if count
    ]


def provenance_facts(facts: Iterable[tuple[str, str]]) -> sections.Facts:
    """What it takes to do the same again."""
    return sections.Facts(id="provenance", title="Provenance", facts=facts_of(facts), detail=True)


def provenance(
    job: JobRecord, *facts: tuple[str, str], pack: Mapping[str, Any] | None = None
) -> sections.Facts:
    """What it takes to do a job again: what all jobs have, and facts of its kind."""
    named = (("Name", job.name), ("Id", job.id), ("Status", job.status))
    seed, judge = job.config.get("seed", "unknown"), job.config.get("judge_model") or "none"
    told = {key: value for key, value in (pack or {}).items() if value not in ("", [], None)}
    packed = ((f"Pack {key}", _words(value)) for key, value in told.items())
    return provenance_facts([*named, *facts, ("Seed", str(seed)), ("Judge", str(judge)), *packed])


def _words(value: Any) -> str:
    return "; ".join(map(str, as_list(value))) if isinstance(value, list) else str(value)


def setup_text(config: Any) -> sections.Text:
    """A configuration as it was given, without what may be a secret."""
    text = json.dumps(plain(without_secrets(config)), indent=2, ensure_ascii=False)
    return sections.Text(id="configuration", title="Configuration", text=text, detail=True)


def cost_figure(
    usages: Sequence[Mapping[str, AnyUsage]],
    config: Mapping[str, Any],
    more: str = "",
    *,
    agent: str = "agent",
    untold: bool = False,
) -> Figure:
    """All that was spent, by purse; where a part is unknown, who does not tell it."""
    purses = usage_by_purse(usages)
    models = {"agent": config.get("model"), "user": config.get("user_model")}
    models["judge"] = config.get("judge_model")
    silent = [agent] if untold else []
    unpriced: list[str] = []
    for purse, usage in purses.items():
        name, model = (agent if purse == "agent" else purse), models.get(purse)
        if usage.calls and usage.cost is None:
            (unpriced if model else silent).append(f"{model} ({name})" if model else name)
    reasons = [f"the {name} does not tell what it costs" for name in silent]
    if unpriced:
        reasons.append(f"no price for {', '.join(unpriced)}: see --prices")
    paid = {name: one.cost for name, one in purses.items() if one.cost}
    split = [f"{purse} {money(cost)}" for purse, cost in paid.items()] if len(paid) > 1 else []
    lost = sum(one.lost_calls for one in purses.values())
    more = "; ".join(part for part in ["in all", more, ", ".join(split), lost_words(lost)] if part)
    cost = None if reasons else total_cost(purses.values())
    unknown = "unknown"
    if cost is None:
        known_part = sum(one.cost or 0.0 for usage in usages for one in usage.values())
        unknown = f"{money(known_part)} or more" if known_part else unknown
    return fig("cost", "Cost", cost, "; ".join(reasons) or more, "money", unknown=unknown)


def lost_words(lost: int) -> str:
    """What reports say of lost calls, if there are any."""
    return f"{plural(lost, 'call')} without an answer may be billed on top" if lost else ""


def costs_table(
    spent: Mapping[str, Usage],
    wasted: Mapping[str, Usage],
    attempts: int,
    agent: str = "Agent",
    *,
    untold: bool = False,
) -> Iterator[AnySection]:
    """Tokens and money by purse, billed and from the cache, and what attempts wasted."""
    every = [*spent.values(), *wasted.values()]
    cached = any(usage.cached_calls for usage in every)
    names = PURSES | {"agent": agent}
    rows = [_cost_row(names.get(purse, purse), usage, cached) for purse, usage in spent.items()]
    if wasted:
        label = f"Wasted on {plural(attempts, 'attempt')}"
        rows.append(_cost_row(label, Usage.total(wasted.values()), cached))
    if len(rows) > 1:
        label = f"In all, without the {agent.lower()}" if untold else "In all"
        rows.append(_cost_row(label, Usage.total(every), cached, strong=True))
    if rows:
        head = ["Paid for", "Calls:count", "Tokens in:count", "Tokens out:count", "Billed:money"]
        more = ["Calls cached:count", "Cached worth:money"] if cached else []
        unknown, nothing = (any(row.cells[4] == word for row in rows) for word in _NO_AMOUNT)
        lost = lost_words(sum(usage.lost_calls for usage in every))
        notes = {
            "A cost is unknown where the price of a model is, or if no answer came.": unknown,
            "Providers bill nothing for calls that they answer with an error.": nothing,
            f"{lost}.": lost,
            f"What the {agent.lower()} spends on its own models is not counted.": untold,
        }
        told = [note for note, holds in notes.items() if holds]
        yield table("costs", "Costs", [*head, *more], rows, notes=told)


_NO_AMOUNT = ("unknown", "nothing")


def _cost_row(label: str, usage: Usage, cached: bool, *, strong: bool = False) -> Row:
    unknown, nothing = _NO_AMOUNT
    cost: Cell = usage.cost
    if cost is None and (usage.calls or usage.tokens):
        cost = unknown
    elif usage.calls and not usage.tokens and not cost:
        cost = unknown if usage.lost_calls else nothing
    cells = [label, usage.calls, usage.prompt_tokens, usage.completion_tokens, cost]
    worth: list[Cell] = [usage.cached_calls, usage.cached_cost] if cached else []
    return Row(cells=[*cells, *worth], strong=strong)


def latency_table(spans: Mapping[str, Latency]) -> Iterator[AnySection]:
    """Percentiles of how long turns, calls and model calls took."""
    rows: list[list[Cell]] = []
    for name, span in spans.items():
        kind, _, purse = name.partition(".")
        model = f"Model call: {PURSES.get(purse, purse).lower()}"
        label = model if kind == "model" else SPANS.get(name, name)
        p50, p99 = known(span.p50.value), known(span.p99.value)
        rows.append([label, span.n, p50, *estimate_cells(span.p95), p99, known(span.mean)])
    if rows:
        head = ["Of", "Number:count", "p50:seconds", "p95:seconds"]
        more = ["Interval of p95:seconds:interval:wide", "p99:seconds", "Mean:seconds:wide"]
        yield table("latency", "Latency", [*head, *more], rows, detail=True)


def outcome_table(counts: Mapping[str, int], noun: str) -> Iterator[AnySection]:
    """How often each outcome occurred, in a fixed order."""
    order = [*(name for name in OUTCOMES if name in counts), *(set(counts) - set(OUTCOMES))]
    total = sum(counts.values())
    if total:
        head = ("Outcome:outcome", "Meaning:text:wide", f"{noun}:count", "Share:percent")
        rows = (
            [name, outcome_info(name).meaning, counts[name], counts[name] / total]
            for name in order
            if counts[name]
        )
        yield table("outcomes", "Outcomes", head, rows)


def estimate_columns(names: Iterable[str], *, wide: bool = False) -> list[Column]:
    """Two columns for each estimate: the figure, and its interval."""
    interval = Column(label="Interval", format="decimal", digits=2, interval=True, wide=wide)
    return [one for name in names for one in (Column(label=name, format="decimal"), interval)]


def estimate_cells(estimate: Estimate | None) -> list[Cell]:
    """A figure and the ends of its interval; one end where the interval has no other."""
    if estimate is None:
        return [None, None]
    low, high = known(estimate.low), known(estimate.high)
    ends: Cell = None if low is None else [low, high] if high is not None else [low]
    return [known(estimate.value), ends]
