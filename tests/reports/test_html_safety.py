"""The page: complete in itself, and proof against whatever the data holds."""

from __future__ import annotations

import math
import re
from functools import cache
from typing import Any, cast

from greenroom.reports.build_run import run_report
from greenroom.reports.html import SCRIPTS, render_html
from greenroom.reports.report import RunData
from greenroom.reports.report import RunReport as Report
from tests.reports import sample
from tests.reports.html_page import Page, asset, full_page, parsed, task_data

EVIL = "\"'><script>alert(1)</script></script><!--<img src=x onerror=alert(1)>\u2028\u2029&lt;$name"
FIXED = {
    "outcome", "outcomes", "status", "method", "convention", "conventions", "kind", "kinds",
    "by_kind", "absent", "started_at", "created_at",
}  # fmt: skip


def with_evil_texts(value: Any, key: str = "") -> Any:
    """The data with an attack in every text and every free key."""
    if key in FIXED:
        return value
    if isinstance(value, str):
        return EVIL
    if isinstance(value, list):
        return [with_evil_texts(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        entries = cast("dict[Any, Any]", value).items()
        if key in ("kwargs", "config", "usage", "tokens", "outputs", "strict_outputs"):
            return {f"{EVIL}{name}": with_evil_texts(item) for name, item in entries}
        return {name: with_evil_texts(item, str(name)) for name, item in entries}
    return value


@cache
def evil_page() -> tuple[Report, str, Page]:
    data = sample.full_report(12, 4).model_dump()
    changed = {key: with_evil_texts(data[key], "") for key in RunData.model_fields}
    report = run_report(RunData.model_validate(changed))
    text = render_html(report)
    return report, text, parsed(text)


def test_the_page_asks_nothing_of_the_network() -> None:
    text, page = full_page()
    assert "http://" not in text
    assert "https://" not in text
    assert not re.search(r"url\(|@import|\bfetch\(|XMLHttpRequest|WebSocket|\bimport\(", text)
    for one in page.elements:
        assert one.name not in (
            "img",
            "iframe",
            "object",
            "embed",
            "base",
            "form",
            "video",
            "audio",
        )
        for attribute in ("src", "href", "action", "data", "srcset", "poster"):
            target = one.attributes.get(attribute)
            assert target is None or target == "data:," or target.startswith("#"), one


def test_the_page_forbids_itself_everything_but_its_own_styles_and_scripts() -> None:
    _, page = full_page()
    (policy,) = [one for one in page.named("meta") if "http-equiv" in one.attributes]
    assert policy.attributes["http-equiv"] == "Content-Security-Policy"
    rules = (policy.attributes["content"] or "").split("; ")
    assert rules[:4] == [
        "default-src 'none'",
        "style-src 'unsafe-inline'",
        "script-src 'unsafe-inline'",
        "img-src data:",
    ]


def test_no_text_of_the_data_becomes_markup() -> None:
    _, text, page = evil_page()
    clean = parsed(render_html(sample.full_report(12, 4)))
    assert {one.name for one in page.elements} == {one.name for one in clean.elements}
    for name in ("script", "style", "svg", "a", "tr"):
        assert len(page.named(name)) == len(clean.named(name)), name
    allowed = {name for one in clean.elements for name in one.attributes}
    assert {name for one in page.elements for name in one.attributes} <= allowed
    assert not any(name.startswith("on") for name in allowed)
    assert "\u2028" not in "".join(one.text for one in page.named("script"))
    assert text.count("</script>") == len(page.named("script"))
    assert EVIL.replace("\u2028", " ").split("\u2029")[0].strip() in page.words


def test_hostile_data_reaches_the_scripts_as_it_is() -> None:
    report, _, page = evil_page()
    data = task_data(page)
    first = report.episodes[0]
    block = data[first.task_index]
    assert block["tasks"][0]["instruction"] == EVIL
    assert block["episodes"][0]["opening"] == EVIL
    assert block["episodes"][0]["steps"][0]["name"] == EVIL
    assert all(name.startswith(EVIL) for name in block["episodes"][0]["steps"][0]["kwargs"])


def test_the_script_never_reads_data_as_markup() -> None:
    script = "".join(asset(name) for name in SCRIPTS)
    for danger in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "srcdoc",
    ):
        assert danger not in script


def test_keys_in_a_configuration_are_hidden() -> None:
    config = {
        "model": "m",
        "max_tokens": 5,
        "nested": [{"api_key": "opensesame"}],
        "auth_token": "abracadabra",
    }
    report = sample.one_trial_report()
    changed = report.model_copy(update={"run": report.run.model_copy(update={"config": config})})
    text = render_html(changed)
    assert "opensesame" not in text
    assert "abracadabra" not in text
    assert "synthetic (m)" in text


def test_odd_values_in_arguments_do_not_break_the_data() -> None:
    report = sample.one_trial_report()
    first = report.episodes[0]
    step = first.steps[0]
    kwargs = {"nan": math.nan, "half": "\ud83d", "deep": [{"a": (1, 2)}]}
    changed = step.model_copy(update={"action": step.action.model_copy(update={"kwargs": kwargs})})
    episode = first.model_copy(update={"steps": [changed]})
    text = render_html(report.model_copy(update={"episodes": [episode]}))
    assert text.encode()
    data = task_data(parsed(text))[first.task_index]
    assert data["episodes"][0]["steps"][0]["kwargs"] == {
        "nan": None,
        "half": "\ufffd",
        "deep": [{"a": [1, 2]}],
    }
