"""An agent by JSON lines with OpenAI's own package: by stream, or by the Responses API."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from openai import OpenAI

client = OpenAI()
model = os.environ["GREENROOM_MODEL"]


def send(value: dict[str, Any]) -> None:
    print(json.dumps(value), flush=True)


def called(call_id: str, name: str, arguments: str) -> str:
    send({"tool_call": {"id": call_id, "name": name, "arguments": arguments}})
    return json.loads(sys.stdin.readline())["tool_result"]["content"]


class Streaming:
    """Asks chat completions, and reads them as they come."""

    def __init__(self, start: dict[str, Any]) -> None:
        self.messages: list[Any] = [{"role": "system", "content": start["policy"]}]
        self.tools: Any = start["tools"]

    def turn(self, heard: str) -> str:
        self.messages.append({"role": "user", "content": heard})
        while True:
            with client.chat.completions.stream(
                model=model, messages=self.messages, tools=self.tools
            ) as stream:
                reply = stream.get_final_completion().choices[0].message
            calls: list[dict[str, Any]] = [
                {"id": one.id, "type": "function", "function": {"name": one.function.name,
                 "arguments": one.function.arguments}}
                for one in reply.tool_calls or []
            ]  # fmt: skip
            if not calls:
                self.messages.append({"role": "assistant", "content": reply.content})
                return reply.content or ""
            self.messages.append({"role": "assistant", "content": None, "tool_calls": calls})
            for one in calls:
                name, arguments = one["function"]["name"], one["function"]["arguments"]
                content = called(one["id"], name, arguments)
                self.messages.append(
                    {"role": "tool", "tool_call_id": one["id"], "name": name, "content": content}
                )


class Responding:
    """Asks the Responses API, which remembers the conversation."""

    def __init__(self, start: dict[str, Any]) -> None:
        self.policy: str = start["policy"]
        self.tools: Any = [{"type": "function", **one["function"]} for one in start["tools"]]
        self.last: str | None = None

    def turn(self, heard: str) -> str:
        given: Any = heard
        while True:
            answer = client.responses.create(
                model=model,
                instructions=self.policy,
                input=given,
                tools=self.tools,
                previous_response_id=self.last,
            )
            self.last = answer.id
            given = [
                {
                    "type": "function_call_output",
                    "call_id": item.call_id,
                    "output": called(item.call_id, item.name, item.arguments),
                }
                for item in answer.output
                if item.type == "function_call"
            ]
            if not given:
                return answer.output_text


def main() -> None:
    talk: Streaming | Responding | None = None
    for line in sys.stdin:
        got = json.loads(line)
        if "start" in got:
            talk = (Responding if "--responses" in sys.argv else Streaming)(got["start"])
        elif talk is not None:
            send({"message": talk.turn(got["user"])})


main()
