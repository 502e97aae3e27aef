"""Who the agent talks to: a model at the address that the environment names, asked blockingly."""

from __future__ import annotations

import json
import os
from enum import Enum
from functools import partial
from typing import Any
from urllib.request import Request, urlopen

import anyio.to_thread


class UserStrategy(Enum):
    HUMAN = "human"
    LLM = "llm"
    REACT = "react"
    VERIFY = "verify"
    REFLECTION = "reflection"


class ModelUser:
    def __init__(self, model: str) -> None:
        self._model = model
        self._messages: list[dict[str, Any]] = []
        self.total_cost = 0.0

    async def open(self, instruction: str) -> str:
        self._messages = [{"role": "system", "content": f"You are a customer.\n{instruction}"}]
        return await self.reply("Hi! How can I help you today?")

    async def reply(self, content: str) -> str:
        self._messages.append({"role": "user", "content": content})
        message = await anyio.to_thread.run_sync(partial(_ask, self._model, self._messages))
        self._messages.append(message)
        self.total_cost += 0.001
        return message["content"]


def _ask(model: str, messages: list[dict[str, Any]]) -> dict[str, Any]:
    request = Request(
        f"{os.environ['OPENAI_API_BASE']}/chat/completions",
        json.dumps({"model": model, "messages": messages}).encode(),
        {"Content-Type": "application/json"},
    )
    with urlopen(request) as response:
        return json.load(response)["choices"][0]["message"]
