"""The report as one page that needs nothing else: no network, no server, no other file.

Each type of section has a macro of its name in `templates/sections.html.jinja`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from importlib.resources import files
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from greenroom.reports import tabular, texts
from greenroom.reports.html_charts import plot
from greenroom.reports.html_data import conversations
from greenroom.reports.html_limits import readable
from greenroom.reports.report import EvaluationData, RunData
from greenroom.reports.sections import AnySection, Chart, Evidence, Grid, Report, Table
from greenroom.reports.templates import Names, template
from greenroom.reports.texts import plural
from greenroom.store.outcomes import OUTCOMES, outcome_info
from greenroom.util.raw_json import plain

if TYPE_CHECKING:
    from markupsafe import Markup

Pieces = list[tuple[str, bool]]
"""A text in pieces, and whether each is marked."""

STYLES = ("tokens.css", "base.css", "sections.css", "conversation.css")
SCRIPTS = ("dom.js", "lists.js", "conversation.js", "page.js")
LONG = 20
"""Longer lists are cut on a screen, and can be searched."""

"""The colour of an outcome, by its style on a console."""

_OWN_IDS = (
    "main", "title", "theme", "outcome-words", "previous", "next", "close", "conversation",
    *(f"conversation-{part}" for part in ("title", "outcome", "trials", "why", "items", "aside")),
)  # fmt: skip
"""The ids of the page itself."""
_ENDINGS = ("", "-title", "-rows", "-grid", "-list", "-text", "-values", "-name", "-said")
"""What the ids within a section end in."""

_NO_CHARACTER = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_JSON_ESCAPES = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)
_POWER = re.compile(r"\^(\d+)")
_UNIT = re.compile(r"(?<=\d) (?=[%s](?:\W|$))")
_PIECE = re.compile(r"\w+|\s+|[^\w\s]")
_MOST_PIECES = 500
_ALIKE = 0.6


def render_html(report: Report, data: RunData | EvaluationData | None = None) -> str:
    """The report as a page: open it from a disk, send it, print it.

    `data` is what conversations are shown from. Reports of runs and evaluations bring it along.
    """
    if data is None and isinstance(report, (RunData, EvaluationData)):
        data = report
    shown = readable(report)
    links, blocks = conversations(shown, data)
    cells = len(data.episodes if isinstance(data, RunData) else data.results) if data else 0
    if len(links) < cells:
        note = (
            f"This page holds {len(links):,} of {plural(cells, 'conversation')}: what failed comes "
            "first. An export has them all."
        )
        shown = shown.model_copy(update={"notes": [*report.notes, note]})
    page = template("page.html.jinja", _words).render(
        report=shown, sections=list(placed(shown)), links=links, blocks=blocks
    )
    # Half a surrogate pair cannot be written to a file, and a page has no control characters.
    return _NO_CHARACTER.sub("\ufffd", page)


def placed(report: Report) -> Iterator[tuple[str, AnySection, bool]]:
    """The sections that the page shows: anchor, section, and whether it shares a row with another.

    Two small sections that follow each other stand side by side.
    """
    shown = [section for section in report.sections if _says_something(section)]
    taken = set(_OWN_IDS)
    beside = False
    for section, following in zip_longest(shown, shown[1:]):
        slug = re.sub(r"[^a-z0-9]+", "-", section.id.lower()).strip("-") or "section"
        anchor, number = slug, 2
        while not taken.isdisjoint(ids := {f"{anchor}{ending}" for ending in _ENDINGS}):
            anchor, number = f"{slug}-{number}", number + 1
        taken |= ids
        leads = not beside and _is_small(section) and following and _is_small(following)
        yield anchor, section, bool(beside or leads)
        beside = bool(leads)


def _is_small(section: AnySection) -> bool:
    if isinstance(section, Table):
        return len(section.columns) <= 4 and len(section.rows) <= 12
    return isinstance(section, Chart)


def _says_something(section: AnySection) -> bool:
    """Whether a section is worth its place: no chart of one bar, no leaderboard of one row."""
    if isinstance(section, Chart):
        points = [point for one in section.series for point in one.points]
        least = 1 if section.style == "scatter" else 2
        return len({point.x for point in points}) >= least
    if isinstance(section, Table):
        return not (len(section.rows) == 1 and section.rows[0].strong)
    return True


def _words() -> tuple[Names, Names]:
    filters = {
        "data": _json,
        "plural": texts.plural,
        "power": _power,
        "tone": texts.tone,
        "unbroken": _unbroken,
    }
    outcomes = {
        name: {"label": info.label, "symbol": info.symbol, "tone": texts.tone(name)}
        for name, info in OUTCOMES.items()
    }
    return filters, {
        "LONG": LONG,
        "cell_text": texts.cell_text,
        "chart_lines": tabular.chart_lines,
        "compared": compared,
        "figure_text": texts.figure_text,
        "group": _group,
        "groups": _groups,
        "outcome_counts": _outcome_counts,
        "outcome_info": outcome_info,
        "outcome_words": outcomes,
        "percent": texts.percent,
        "plot": plot,
        "scripts": _assets(SCRIPTS),
        "styles": _assets(STYLES),
    }


def _assets(names: tuple[str, ...]) -> str:
    folder = files("greenroom.reports").joinpath("html_assets")
    return "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in names)


def _json(value: Any) -> str:
    """Data for scripts: JSON that cannot end the element that it stands in."""
    text = json.dumps(plain(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.translate(_JSON_ESCAPES)


def _power(text: str) -> Markup:
    """Text in which `pass^2` has its exponent raised."""
    from markupsafe import Markup

    raised = Markup("<sup>{}</sup>")
    pieces = enumerate(_POWER.split(_unbroken(text)))
    return Markup("").join(raised.format(piece) if place % 2 else piece for place, piece in pieces)


def _unbroken(text: str) -> str:
    """Text in which a number stays on one line with its unit."""
    return _UNIT.sub("\u00a0", text)


def _outcome_counts(grid: Grid) -> list[tuple[str, int]]:
    """How often each outcome occurs in a grid, in a fixed order."""
    found = [outcome or "missing" for item in grid.items for outcome in item.outcomes]
    names = [*(name for name in OUTCOMES if name in found), *sorted(set(found) - set(OUTCOMES))]
    return [(name, found.count(name)) for name in names]


def _group(score: float | None) -> str:
    if score is None:
        return "no score"
    return "full score" if score >= 1 else "part of it" if score > 0 else "score 0"


def _groups(grid: Grid) -> list[tuple[str, int]]:
    """The groups of items by their scores, with their sizes."""
    found = [_group(item.score) for item in grid.items]
    names = ("full score", "part of it", "score 0", "no score")
    return [(name, found.count(name)) for name in names if name in found]


def compared(evidence: list[Evidence]) -> list[tuple[str, Pieces]]:
    """Evidence by its labels. What differs between the texts of the first two is marked."""
    found: dict[str, list[str]] = {}
    for one in evidence:
        found.setdefault(one.label, []).append(one.text)
    whole = ["\n".join(texts) for texts in found.values()]
    parts: list[Pieces] = [[(text, False)] for text in whole]
    if len(whole) >= 2:
        parts[:2] = _differing(_PIECE.findall(whole[0]), _PIECE.findall(whole[1])) or parts[:2]
    return [
        (label, [(text, differs) for text, differs in one if text])
        for label, one in zip(found, parts, strict=True)
    ]


def _differing(first: list[str], second: list[str]) -> list[Pieces] | None:
    """What differs between two texts; None where they have too little in common to compare."""
    if max(len(first), len(second)) > _MOST_PIECES:
        return None
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    if matcher.quick_ratio() < _ALIKE or matcher.ratio() < _ALIKE:
        return None
    steps = matcher.get_opcodes()
    return [
        [("".join(first[start:end]), name != "equal") for name, start, end, _, _ in steps],
        [("".join(second[start:end]), name != "equal") for name, _, _, start, end in steps],
    ]
