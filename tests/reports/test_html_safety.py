"""The page: complete in itself, and proof against whatever the data holds."""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import cache
from typing import Any, cast

import pytest

from greenroom.reports.build_run import run_report
from greenroom.reports.html import SCRIPTS, render_html
from greenroom.reports.report import RunData
from greenroom.reports.report import RunReport as Report
from greenroom.reports.sections import Text
from tests.reports import sample
from tests.reports.html_page import (
    Page,
    asset,
    block_data,
    evaluated,
    every_section,
    full_page,
    parsed,
)

EVIL = "\"'><script>alert(1)</script></script><!--<img src=x onerror=alert(1)>\u2028\u2029&lt;$name"
INLINE = {"mark", "div", "sup", "tspan"}
"""What depends on the length of a text, or on how it differs from another."""
FIXED = {
    "outcome", "outcomes", "status", "method", "convention", "conventions", "kind", "kinds",
    "by_kind", "absent", "party", "basis", "started_at", "created_at",
}  # fmt: skip


def with_texts(text: str, value: Any, key: str = "") -> Any:
    """The data with the same text in place of every text, and before every free key."""
    if key in FIXED:
        return value
    if isinstance(value, str):
        return text
    if isinstance(value, list):
        return [with_texts(text, item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        entries = cast("dict[Any, Any]", value).items()
        if key in ("kwargs", "config", "usage", "tokens", "outputs", "strict_outputs"):
            return {f"{text}{name}": with_texts(text, item) for name, item in entries}
        return {name: with_texts(text, item, str(name)) for name, item in entries}
    return value


@cache
def run_page(words: str) -> tuple[Report, str, Page]:
    data = sample.full_report(12, 4).model_dump()
    changed = {key: with_texts(words, data[key]) for key in RunData.model_fields}
    report = run_report(RunData.model_validate(changed))
    text = render_html(report)
    return report, text, parsed(text)


def assert_same_markup(page: Page, clean: Page, text: str) -> None:
    """Both pages have the same elements and attributes: their texts made none."""
    names, expected = (
        Counter(one.name for one in each.elements if one.name not in INLINE)
        for each in (page, clean)
    )
    assert names == expected
    allowed = {name for one in clean.elements for name in one.attributes}
    assert {name for one in page.elements for name in one.attributes} <= allowed
    assert not any(name.startswith("on") for name in allowed)
    assert text.count("</script>") == len(page.named("script"))
    assert "\u2028" not in "".join(one.text for one in page.named("script"))


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
    _, text, page = run_page(EVIL)
    assert_same_markup(page, run_page("said")[2], text)
    assert EVIL.replace("\u2028", " ").split("\u2029")[0].strip() in page.words


def test_no_text_of_an_evaluation_becomes_markup() -> None:
    text = render_html(evaluated(EVIL))
    assert_same_markup(parsed(text), parsed(render_html(evaluated("said"))), text)


def test_no_section_lets_its_texts_become_markup() -> None:
    text = render_html(every_section(EVIL))
    assert_same_markup(parsed(text), parsed(render_html(every_section("said"))), text)


def test_characters_that_no_page_has_are_replaced() -> None:
    text = render_html(every_section("a\x00b\ud83dc\x1bd\x7fe\nf\tg"))
    assert text.encode()
    assert not set(text) & {"\x00", "\x1b", "\x7f"}
    assert "a\ufffdb\ufffdc\ufffdd\ufffde\nf\tg" in text


OWN = {one.attributes["id"] or "" for one in parsed(render_html(evaluated())).having("id")}


@pytest.mark.parametrize("ids", [[EVIL] * 3, ["a", "a-title", "a", "a-2"], [*OWN], ["", "€", "Ä"]])
def test_anchors_are_apart_and_can_be_named(ids: list[str]) -> None:
    report = evaluated()
    text = Text(id="", title="Notes", text="said")
    sections = [text.model_copy(update={"id": one}) for one in ids]
    grid = report.section("cells")
    assert grid
    page = parsed(render_html(report.model_copy(update={"sections": [*sections, grid]})))
    found = [one.attributes["id"] or "" for one in page.having("id")]
    assert len(found) == len(set(found))
    assert all(re.fullmatch(r"[a-z0-9-]+", one) for one in found)
    linked = {one.attributes["href"] for one in page.named("a")}
    anchors = {f"#{one.attributes['id']}" for one in page.named("section")}
    assert len(anchors) == len(ids) + 1
    assert anchors <= linked


def test_hostile_data_reaches_the_scripts_as_it_is() -> None:
    report, _, page = run_page(EVIL)
    first = report.episodes[0]
    block = block_data(page)[first.task_index]
    cell = block["cells"][0]
    assert block["texts"][cell["parts"][0]["text"]] == EVIL
    said = [one for one in cell["items"] if "who" in one]
    assert block["texts"][said[0]["text"]] == EVIL
    call = next(one for one in cell["items"] if "tool" in one)
    assert call["tool"] == EVIL
    assert all(name.startswith(EVIL) for name in call["kwargs"])


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
    text = render_html(run_report(changed))
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
    (cell,) = block_data(parsed(text))[first.task_index]["cells"]
    (call,) = [one for one in cell["items"] if "tool" in one]
    assert call["kwargs"] == {
        "nan": None,
        "half": "\ufffd",
        "deep": [{"a": [1, 2]}],
    }
