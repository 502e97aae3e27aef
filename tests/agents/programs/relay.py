"""An agent by JSON lines with nothing but the standard library: it relays to the run's model."""

from __future__ import annotations

import json
import os
import sys
import urllib.request
from typing import Any

Message = dict[str, Any]


def ask(messages: list[Message], tools: list[Any]) -> Message:
    body = json.dumps(
        {"model": os.environ["GREENROOM_MODEL"], "messages": messages, "tools": tools}
    )
    request = urllib.request.Request(
        f"{os.environ['OPENAI_BASE_URL']}/chat/completions",
        body.encode(),
        {
            "Authorization": f"Bearer {os.environ['OPENAI_API_KEY']}",
            "Content-Type": "application/json",
        },
    )
    with urllib.request.urlopen(request) as answer:
        return json.loads(answer.read())["choices"][0]["message"]


def send(value: Message) -> None:
    print(json.dumps(value), flush=True)


def main() -> None:
    stops_after_each_message = "--stop" in sys.argv
    messages: list[Message] = []
    tools: list[Any] = []
    for line in sys.stdin:
        got = json.loads(line)
        if "start" in got:
            start = got["start"]
            messages = [{"role": "system", "content": start["policy"]}, *start["messages"]]
            tools = start["tools"]
            continue
        messages.append({"role": "user", "content": got["user"]})
        while (reply := ask(messages, tools)).get("tool_calls"):
            messages.append(reply)
            for call in reply["tool_calls"]:
                send({"tool_call": {"id": call["id"], **call["function"]}})
                result = json.loads(sys.stdin.readline())["tool_result"]
                assert result["id"] == call["id"]
                name, content = call["function"]["name"], result["content"]
                messages.append(
                    {"role": "tool", "tool_call_id": call["id"], "name": name, "content": content}
                )
        messages.append(reply)
        send({"message": reply["content"]})
        if stops_after_each_message:
            return


main()
