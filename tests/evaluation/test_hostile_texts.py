"""Whatever texts and numbers come from test sets and workflows, every output can tell them.

Each evaluation is kept in both databases, and shown, exported and reported in all forms.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from greenroom import chat_workflow, workflow
from greenroom.api import evaluate
from greenroom.store import Store
from tests.cli.running import Greenroom

HOSTILE: list[str] = [
    "half \ud83d an emoji",
    "\udc00",
    "NUL \0 in it",
    "\x1b[31mred\x1b]0;title\x07",
    "[/b] [link=x]y[/link] :smile:",
    "<script>alert(1)</script> | `code` | **bold**",
    "a\u2028b\u202ec\r\nd\tend",
]
NUMBERS: list[Any] = [float("nan"), float("inf"), 2**70, -(2**70), 1e400, 0.1]


def deep(levels: int) -> Any:
    value: Any = "bottom"
    for _ in range(levels):
        value = [value]
    return value


@workflow
async def gives(case: str) -> Any:
    """Gives back hostile values by their number."""
    return VALUES[int(case)]


@chat_workflow
async def says(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Says a hostile text, or fails with it."""
    text = messages[-1]["content"]
    if text.startswith("fail: "):
        raise ValueError(text)
    return {"role": "assistant", "content": text}


VALUES: list[Any] = [*HOSTILE, *NUMBERS, {"\ud800\0": HOSTILE}, deep(200)]


def check_every_output(greenroom: Greenroom, name: str, folder: Path) -> None:
    """Show, export and report an evaluation in all forms: each is valid UTF-8 without controls."""
    assert json.loads(greenroom("evals", "list", "--json").out)
    shown = greenroom("evals", "show", name)
    assert shown.status == 0, shown.err
    rows = greenroom("evals", "show", name, "--row", 1)
    assert rows.status == 0, rows.err
    for text in (shown.out, rows.out, shown.err):
        text.encode()
        assert "\x1b" not in text
        assert "\0" not in text
    for form in ("json", "md", "html", "xml"):
        file = folder / f"report.{form}"
        written = greenroom(
            "evals", "show", name, *(("--junit", file) if form == "xml" else ("-o", file))
        )
        assert written.status == 0, written.err
        content = file.read_bytes().decode()
        assert "\x1b" not in content
        assert "\0" not in content
        if form == "json":
            json.loads(content)
        if form == "html":
            assert "<script>alert(1)" not in content
    file = folder / "results.jsonl"
    exported = greenroom("evals", "export", name, "-o", file)
    assert exported.status == 0, exported.err
    for line in file.read_bytes().decode().split("\n")[:-1]:
        json.loads(line)


@pytest.mark.slow
def test_hostile_values_pass_through_an_evaluation(
    store: Store, greenroom: Greenroom, tmp_path: Path
) -> None:
    rows = [
        {"case": str(number), "note": text, "expected": text, text: deep(50), "big": 2**70}
        for number, text in enumerate([*HOSTILE, *HOSTILE])
    ]
    store.test_sets.save("rows", rows)
    evaluate(gives, "rows", ["exact_match", "json_diff"], store=store, name="plain")
    check_every_output(greenroom, "plain", tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_pass_through_a_chat(
    store: Store, greenroom: Greenroom, tmp_path: Path, text: str
) -> None:
    rows = [{"q": text, "expected": text}, {"q": f"fail: {text}", "expected": text}]
    store.test_sets.save("rows", rows)
    evaluators = ["exact_match", "contains", "similarity", "last_message"]
    evaluate(says, "rows", evaluators, store=store, name="chat", max_retries=0)
    results = list(store.evaluations.results(store.evaluations.find("chat").id))
    assert results[0].outcome == "answered"
    check_every_output(greenroom, "chat", tmp_path)
