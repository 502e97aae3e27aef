"""Workflows that ask the provider for every answer, and report what they used."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from aiohttp import ClientSession

from greenroom import chat_workflow, workflow
from greenroom.workflows import report_usage

PROVIDER = "CHAOS_PROVIDER"
CHILD = str(Path(__file__).with_name("guide_child.py"))


def _question(seed: int) -> tuple[str, dict[str, Any]]:
    asked = {"messages": [{"role": "user", "content": "?"}], "seed": seed}
    return f"{os.environ[PROVIDER]}/chat/completions", asked


def _report(answer: dict[str, Any]) -> None:
    usage = answer["usage"]
    report_usage(prompt_tokens=usage["prompt_tokens"], completion_tokens=usage["completion_tokens"])


async def _ask(seed: int) -> None:
    url, asked = _question(seed)
    async with ClientSession() as session, session.post(url, json=asked) as response:
        _report(await response.json())


@workflow
async def guide(number: int) -> str:
    await _ask(number)
    return "odd" if number % 2 else "even"


@workflow
async def apart(number: int) -> str:
    """Asks from a process of its own."""
    url, asked = _question(number)
    command = (sys.executable, "-I", CHILD, url, json.dumps(asked))
    child = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    Path(f"child-{number}").write_text(str(child.pid))  # noqa: ASYNC240
    out, _ = await child.communicate()
    if child.returncode:
        raise RuntimeError(f"its process ended with {child.returncode}")
    _report(json.loads(out))
    return "odd" if number % 2 else "even"


@chat_workflow(parameters={"seed": 0})
async def talker(
    messages: list[dict[str, Any]], tools: list[dict[str, Any]], parameters: dict[str, Any]
) -> dict[str, Any]:
    await _ask(parameters["seed"])
    return {"role": "assistant", "content": "Goodbye."}
