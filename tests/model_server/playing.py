"""A small agent and a small user that ask a server, in every protocol there is."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import aiohttp

from greenroom.domains.domain import Domain
from greenroom.domains.environment import Environment, SimulatedUser
from greenroom.domains.tasks import RESPOND, Action
from greenroom.users import ScriptedUser

Protocol = Literal["tools", "text", "react", "structured", "structured-text"]
Ask = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]
"""Sends a request and gives the assistant's message."""

ACT = 'At each step answer in this format:\nAction:\n{"name": ..., "arguments": ...}'
REACT = f"Thought:\n<a line of reasoning>\n{ACT}"


def action_format(arguments: dict[str, Any]) -> dict[str, Any]:
    """A response format for actions, as the agents that want JSON send it."""
    properties = {"thought": {"type": "string"}, "name": {"type": "string"}}
    schema = {
        "type": "object",
        "properties": {**properties, "arguments": arguments},
        "required": ["thought", "name", "arguments"],
    }
    return {"type": "json_schema", "json_schema": {"name": "action", "schema": schema}}


class Client:
    """Asks a server over HTTP; retries as a patient client does."""

    def __init__(self, session: aiohttp.ClientSession, api_base: str) -> None:
        self._session = session
        self._url = f"{api_base}/chat/completions"

    async def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        for _ in range(50):
            try:
                async with self._session.post(self._url, json=request) as response:
                    if response.status == 200:
                        message = (await response.json())["choices"][0]["message"]
                        if message["content"] or message.get("tool_calls"):
                            return message
                    elif response.status not in (429, 500):
                        raise AssertionError(await response.text())
            except (aiohttp.ClientError, ValueError, IndexError):
                continue
        raise AssertionError("no answer that can be used")


@dataclass
class Player:
    """An agent that does what the model says."""

    domain: Domain
    ask: Ask
    protocol: Protocol = "tools"
    model: str = "oracle"
    seed: int | None = None
    user: SimulatedUser = field(default_factory=ScriptedUser)
    messages: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    async def play(self, task_index: int) -> Environment:
        environment = Environment(self.domain, self.user)
        opening = await environment.reset(task_index)
        prompt = {"text": ACT, "react": REACT}.get(self.protocol, "")
        self.messages = [
            {"role": "system", "content": f"{self.domain.policy}\n{prompt}"},
            {"role": "user", "content": opening},
        ]
        while not environment.over:
            message = await self.ask(self._request())
            self.messages.append(message)
            if self.protocol == "tools":
                await self._call(environment, message)
            else:
                await self._do_what_is_written(environment, message["content"])
        return environment

    def _request(self) -> dict[str, Any]:
        request: dict[str, Any] = {"model": self.model, "messages": self.messages}
        if self.seed is not None:
            request["seed"] = self.seed
        if self.protocol == "tools":
            request["tools"] = self.domain.tool_infos
        if self.protocol == "structured":
            request["response_format"] = action_format({"type": "object"})
        if self.protocol == "structured-text":
            request["response_format"] = action_format({"type": "string"})
        return request

    async def _call(self, environment: Environment, message: dict[str, Any]) -> None:
        if not message.get("tool_calls"):
            step = await environment.step(Action(RESPOND, {"content": message["content"]}))
            self.messages.append({"role": "user", "content": step.observation})
            return
        (call,) = message["tool_calls"]
        try:
            arguments = json.loads(call["function"]["arguments"])
        except ValueError as error:
            observation = f"Error: the arguments are not JSON: {error}"
        else:
            step = await environment.step(Action(call["function"]["name"], arguments))
            observation = step.observation
        answer = {"role": "tool", "tool_call_id": call["id"], "content": observation}
        self.messages.append(answer)

    async def _do_what_is_written(self, environment: Environment, text: str) -> None:
        try:
            written = json.loads(text.rpartition("Action:")[2])
            arguments: Any = written["arguments"]
            if self.protocol == "structured-text":
                arguments = json.loads(arguments)
        except ValueError as error:
            self.messages.append({"role": "user", "content": f"Error: no JSON: {error}"})
            return
        step = await environment.step(Action(written["name"], arguments))
        prefix = "" if written["name"] == RESPOND else "API output: "
        self.messages.append({"role": "user", "content": prefix + step.observation})


@dataclass
class AskedUser:
    """A user whose words come from a model."""

    ask: Ask
    react: bool = False
    messages: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    async def open(self, instruction: str) -> str:
        form = "\nThought:\n<the thought>\n\nUser Response:\n<the words>" if self.react else ""
        prompt = f"You are a user.\n\nInstruction: {instruction}\n\nRules:\n- Be brief.{form}"
        self.messages = [{"role": "system", "content": prompt}]
        return await self.reply("Hi! How can I help you today?")

    async def reply(self, content: str) -> str:
        self.messages.append({"role": "user", "content": content})
        message = await self.ask({"model": "user", "messages": self.messages})
        self.messages.append(message)
        text: str = message["content"]
        if self.react:
            assert text.startswith("Thought: ")
            return text.partition("User Response:")[2].strip()
        return text
