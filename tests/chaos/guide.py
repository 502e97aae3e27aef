"""A workflow that asks the provider for every answer, and reports what it used."""

from __future__ import annotations

import os
from typing import Any

from aiohttp import ClientSession

from greenroom import chat_workflow, workflow
from greenroom.workflows import report_usage


async def _ask(seed: int) -> None:
    body = {"messages": [{"role": "user", "content": "?"}], "seed": seed}
    url = f"{os.environ['CHAOS_PROVIDER']}/chat/completions"
    async with ClientSession() as session, session.post(url, json=body) as response:
        usage = (await response.json())["usage"]
    report_usage(prompt_tokens=usage["prompt_tokens"], completion_tokens=usage["completion_tokens"])


@workflow
async def guide(number: int) -> str:
    await _ask(number)
    return "odd" if number % 2 else "even"


@chat_workflow
async def talker(messages: list[dict[str, Any]], seed: int = 0) -> dict[str, Any]:
    await _ask(seed)
    return {"role": "assistant", "content": "Goodbye."}
