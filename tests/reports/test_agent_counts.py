"""What an agent says of itself and counts beyond the usual stands in every form of the report."""

from __future__ import annotations

import io
import json
from typing import Any

from rich.console import Console

from greenroom.reports.build import build_report
from greenroom.reports.console import print_report
from greenroom.reports.html import render_html
from greenroom.reports.markdown import render_markdown
from greenroom.store import EpisodeRecord, Store, open_store
from tests.reports import sample

NASTY = "<b>2.30</b> | *x*"


def counted(episode: EpisodeRecord, version: str, cost: float | None) -> EpisodeRecord:
    more: dict[str, Any] = {
        "facts": {"framework": version},
        "tallies": {
            "commands resolved": {"exact": 1000.0, "failed": 1.0},
            "model cost": {"agent": 0.5, "planner": cost},
            "nothing": {},
        },
    }
    return episode.model_copy(update=more)


def stored(store: Store) -> str:
    run = sample.run_record(2, 1, name="counted")
    store.runs.create(run)
    first, second = sample.played(2, 1)
    store.runs.add(run.id, [counted(first, NASTY, 0.25), counted(second, "3.6", None)])
    return run.name


def test_facts_are_gathered_and_tallies_summed_and_unknown_stays_unknown():
    store = open_store()
    report = build_report(store, store.runs.find(stored(store)))
    assert report.agent_facts == {"framework": [NASTY, "3.6"]}
    assert report.agent_tallies == {
        "commands resolved": {"exact": 2000.0, "failed": 2.0},
        "model cost": {"agent": 1.0, "planner": None},
    }


def test_every_form_of_the_report_shows_them():
    store = open_store()
    report = build_report(store, store.runs.find(stored(store)))
    out = io.StringIO()
    print_report(report, Console(file=out, width=110))
    markdown, page = render_markdown(report), render_html(report)
    for text in (out.getvalue(), markdown, page):
        for words in ("2,000", "unknown", "$1.00", "Framework", "and 3.6"):
            assert words in text
    assert "<b>2.30</b>" not in page
    assert "<b>2.30</b>" not in markdown
    assert json.loads(report.model_dump_json())["agent_tallies"]["model cost"]["planner"] is None


def test_agents_that_count_nothing_have_no_such_part():
    report = sample.full_report(4, 1)
    assert "What the agent counted" not in render_markdown(report)
    assert "What the agent counted" not in render_html(report)
