"""Workflows and test sets that the tests of evaluations share."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import httpx

from greenroom.store import Store

APP = '''
import asyncio
import time
from pathlib import Path

from greenroom import chat_workflow, workflow

CAPITALS = {"France": "Paris", "Peru": "Lima", "Chad": "N'Djamena"}


@chat_workflow
def guide(messages: list[dict]) -> dict:
    """Knows some capitals."""
    asked = messages[-1]["content"]
    found = next((CAPITALS[name] for name in CAPITALS if name in asked), "I do not know.")
    return {"role": "assistant", "content": found}


@workflow
def capital(country: str) -> str:
    """The capital of a country."""
    return CAPITALS.get(country, "unknown")


@workflow
def facts(country: str) -> dict:
    """The same, as an object."""
    return {"country": country, "capital": CAPITALS.get(country), "known": country in CAPITALS}


@workflow
def fragile(country: str) -> str:
    """Crashes for Peru."""
    if country == "Peru":
        raise ValueError("no such country: <b>Peru</b>")
    return CAPITALS.get(country, "unknown")


@workflow
async def slow(country: str) -> str:
    """Takes its time, until a file says that it may go on."""
    gate = Path(__file__).with_name("open")
    while not gate.exists():
        await asyncio.sleep(0.01)
    return CAPITALS.get(country, "unknown")


CALLS = []


@workflow
async def pausing(country: str) -> str:
    """Answers three times, then takes its time."""
    CALLS.append(country)
    return country if len(CALLS) <= 3 else await slow(country)


@workflow
async def paced(country: str) -> str:
    """Takes a moment for each."""
    await asyncio.sleep(0.05)
    return country


@workflow
async def stubborn(country: str) -> str:
    """Blocks its event loop."""
    time.sleep(1.0)
    return country
'''

ROWS = [
    {"country": "France", "correct_answer": "Paris"},
    {"country": "Peru", "correct_answer": "Lima"},
    {"country": "Chad", "correct_answer": "Abeche"},
]
CHATS: list[dict[str, Any]] = [
    {
        "messages": [{"role": "user", "content": f"What is the capital of {row['country']}?"}],
        "correct_answer": row["correct_answer"],
    }
    for row in ROWS
]


def write_app(folder: Path) -> str:
    """The file with the workflows."""
    path = folder / "app.py"
    path.write_text(APP, encoding="utf-8")
    return str(path)


def fill(store: Store) -> None:
    """Keep the test sets."""
    store.test_sets.save("countries", ROWS)
    store.test_sets.save("chats", CHATS)


def request(
    app: str, workflow: str, test_set: str = "countries", /, **changes: Any
) -> dict[str, Any]:
    """The body that starts an evaluation."""
    fields: dict[str, Any] = {
        "workflow": f"{app}:{workflow}",
        "test_set": test_set,
        "evaluators": [{"name": "exact_match"}],
    }
    return fields | changes


def finished(api: httpx.Client, key: str, *, status: str = "complete") -> dict[str, Any]:
    """The evaluation, once it has this status."""
    found: dict[str, Any] = {}
    until = time.monotonic() + 60
    while time.monotonic() < until:
        found = api.get(f"evaluations/{key}").raise_for_status().json()
        if found["status"] == status:
            return found
        time.sleep(0.02)
    raise AssertionError(f"it is not {status}: {found}")
