"""The report as one page that needs nothing else: no network, no server, no other file."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

from greenroom.errors import InputError
from greenroom.reports import html_parts, html_tables
from greenroom.reports.html_data import task_scripts
from greenroom.reports.html_markup import Markup, join, json_script
from greenroom.reports.plain import HALF_CHARACTER
from greenroom.reports.report import RunReport
from greenroom.store.outcomes import OUTCOMES

if TYPE_CHECKING:
    from greenroom.reports.sections import Report

STYLES = ("base.css", "parts.css", "conversation.css")
SCRIPTS = ("dom.js", "tables.js", "conversation.js", "page.js")


def render_html(report: Report) -> str:
    """The report as a page: open it from a disk, send it, print it."""
    if not isinstance(report, RunReport):
        raise InputError("Only runs have a page: write .md or .json instead.")
    page = Template(_asset("page.html")).substitute(
        title=join(f"{report.run.name} – Greenroom"),
        styles=Markup("\n".join(map(_asset, STYLES))),
        scripts=Markup("\n".join(map(_asset, SCRIPTS))),
        name=join(report.run.name),
        facts=html_parts.facts(report),
        headline=html_parts.headline(report),
        cards=html_parts.cards(report),
        charts=html_parts.charts(report),
        grid=html_parts.outcome_grid(report),
        leaderboard=html_parts.leaderboard_table(report),
        errors=html_tables.error_breakdown(report),
        agent=html_parts.agent_counts(report),
        tasks=html_tables.task_table(report),
        setup=html_parts.setup(report),
        version=join(report.run.greenroom_version),
        words=_words(),
        data=Markup("\n".join(task_scripts(report))),
    )
    # Half a surrogate pair is no character and cannot be written to a file.
    return HALF_CHARACTER.sub("\ufffd", page)


def _words() -> Markup:
    """The words of outcomes, for what scripts show."""
    outcomes = {
        outcome: {"label": words.label, "symbol": words.symbol}
        for outcome, words in OUTCOMES.items()
    }
    return json_script(outcomes, id="outcome-words")


@cache
def _asset(name: str) -> str:
    return files("greenroom.reports").joinpath("html_assets", name).read_text(encoding="utf-8")
