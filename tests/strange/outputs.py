"""What every output must be like, whatever the data is. Each check is stated once."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib import import_module
from typing import Any
from xml.etree import ElementTree
from zipfile import ZipFile

from markdown_it import MarkdownIt

from greenroom.reports.forms import FORMS, render
from greenroom.reports.report import ComparisonReport, RunReport
from greenroom.reports.sections import Report
from greenroom.util import terminal
from tests.cli.running import Result
from tests.strange.values import MARK

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_RICH = re.compile(r"\x1b\[[\d;]*m")
_FROM_DATA = "8;53"
"""In an escape sequence of the data alone."""
_PIPE = re.compile(r"(?<!\\)(?:\\\\)*\|")
_LOADING = ("href", "src", "action", "srcdoc", "style", "formaction", "data", "xlink:href")
_FOREIGN = {"img", "iframe", "object", "embed", "base", MARK}


def check_piped(text: str) -> None:
    """Nothing that is printed controls a terminal."""
    found = _CONTROLS.search(text)
    assert found is None, repr(text[max(0, found.start() - 80) : found.end() + 20])


def check_terminal(report: Report) -> None:
    """On a terminal there are styles of ours, and no other sequence."""
    out = io.StringIO()
    console = terminal._console_type()(  # pyright: ignore[reportPrivateUsage]
        file=out, force_terminal=True, width=100, markup=False, emoji=False, highlight=False
    )
    from greenroom.reports.console import print_report

    print_report(report, console, everything=True)
    shown = out.getvalue()
    assert not any(_FROM_DATA in style for style in _RICH.findall(shown))
    check_piped(_RICH.sub("", shown))


def strict_json(text: str) -> Any:
    """The value of a JSON text that every parser takes."""

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    text.encode()
    assert "\0" not in text
    return json.loads(text, parse_constant=refuse)


class Elements(HTMLParser):
    """Finds what the data made of a page, and the texts of its data blocks."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.foreign: list[str] = []
        self.blocks: list[str] = []
        self._script: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in _FOREIGN or MARK in tag:
            self.foreign.append(tag)
        for name, value in attrs:
            loads = name.startswith("on") or (
                name in _LOADING and not (value or "").startswith("#")
            )
            if MARK in name or (loads and MARK in (value or "")):
                self.foreign.append(f"{tag} {name}={value}")
        if tag in ("script", "style"):
            self._script = str(given.get("type") or tag)
            if self._script == "application/json":
                self.blocks.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style"):
            self._script = None

    def handle_comment(self, data: str) -> None:
        if MARK in data:
            self.foreign.append(f"<!--{data}-->")

    def handle_data(self, data: str) -> None:
        if self._script == "application/json":
            self.blocks[-1] += data
        elif self._script is not None and MARK in data:
            self.foreign.append(f"{self._script}: {data[:200]}")


def check_page(text: str) -> None:
    """No element, attribute, script or style of a page comes from the data."""
    text.encode()
    page = Elements()
    page.feed(text)
    page.close()
    assert not page.foreign, page.foreign[:5]
    for block in page.blocks:
        strict_json(block)
    left = re.search("[\x00-\x08\x0b\x0c\x0e-\x1f]", text)
    assert left is None, repr(text[max(0, left.start() - 60) : left.end()])


def check_markdown(text: str) -> None:
    """Tables keep their columns, and nothing in the document comes from the data."""
    text.encode()
    left = re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]", text)
    assert left is None, repr(text[max(0, left.start() - 60) : left.end()])
    for table in _tables(text):
        widths = {len(_PIPE.findall(line)) for line in table}
        assert len(widths) == 1, table
    page = Elements()
    page.feed(MarkdownIt("commonmark", {"html": True}).enable("table").render(text))
    page.close()
    assert not page.foreign, page.foreign[:5]


def _tables(text: str) -> Iterator[list[str]]:
    table: list[str] = []
    fenced = ""
    for line in [*text.split("\n"), ""]:
        fence = re.match(r"`{3,}", line)
        if fence and (not fenced or line == fenced):
            fenced = "" if fenced else fence[0]
        if not fenced and line.startswith("|"):
            table.append(line)
        elif table:
            yield table
            table = []


def check_xml(text: str) -> None:
    """A well-formed document of JUnit's elements alone."""
    known = {"testsuites", "testsuite", "testcase", "failure", "error", "skipped"}
    assert {element.tag for element in ElementTree.fromstring(text.encode()).iter()} <= known


def check_csv(text: str) -> list[dict[str, str]]:
    """Every line has as many cells as there are columns."""
    text.encode()
    csv.field_size_limit(2**30)
    rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    for row in rows:
        assert None not in row
        assert None not in row.values()
    return rows


def check_parquet(content: bytes) -> int:
    """A file that can be read; its number of rows."""
    arrow: Any = import_module("pyarrow")
    parquet: Any = import_module("pyarrow.parquet")
    return int(parquet.read_table(arrow.BufferReader(content)).num_rows)


def check_log(content: str | bytes) -> None:
    """A log of Inspect has samples and a header of strict JSON."""
    assert isinstance(content, bytes)
    with ZipFile(io.BytesIO(content)) as log:
        assert "header.json" in log.namelist()
        for name in log.namelist():
            strict_json(log.read(name).decode())


def check_every_form(report: Report) -> dict[str, str]:
    """Every form of a report can be written and read back; gives those that are texts."""
    check_terminal(report)
    found: dict[str, str] = {}
    for form in FORMS:
        if form == "junit" and isinstance(report, ComparisonReport):
            continue
        if form in ("tau-bench", "atif") and not isinstance(report, RunReport):
            continue
        if form == "inspect" and isinstance(report, ComparisonReport):
            continue
        content = render(report, form)
        if form == "inspect":
            check_log(content)
        elif isinstance(content, bytes):
            check_parquet(content)
        else:
            found[form] = content
    strict_json(found["json"])
    check_page(found["html"])
    check_markdown(found["markdown"])
    check_csv(found["csv"])
    for line in (found["jsonl"] + found.get("atif", "")).split("\n")[:-1]:
        strict_json(line)
    if "junit" in found:
        check_xml(found["junit"])
    if "tau-bench" in found:
        strict_json(found["tau-bench"])
    return found


def check_done(done: Result, command: tuple[object, ...] = ()) -> Result:
    """A command ended in words, and nothing that it printed controls a terminal."""
    assert "This is a bug" not in done.err, (command, done.err)
    assert "Traceback" not in done.err, (command, done.err)
    if "--json" in command and done.status != 2:
        strict_json(done.out)
    if "--format" not in command:
        check_piped(done.out)
    check_piped(done.err)
    return done
