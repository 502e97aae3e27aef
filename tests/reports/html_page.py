"""A page taken apart, as a browser does it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from importlib.resources import files
from typing import Any

from greenroom.reports.html import render_html
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


def task_data(page: Page) -> dict[int, dict[str, Any]]:
    return {
        int(one.attributes["data-task"] or ""): json.loads(one.text)
        for one in page.named("script")
        if "data-task" in one.attributes
    }


def asset(name: str) -> str:
    return files("greenroom.reports").joinpath("html_assets", name).read_text(encoding="utf-8")
