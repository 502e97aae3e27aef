"""An agent by text, a process for each turn: tools by MCP, the run's model by plain HTTP."""

from __future__ import annotations

import argparse
import json
import os
import sys
import urllib.request
from pathlib import Path
from typing import Any

Message = dict[str, Any]


def post(address: str, body: Message, **headers: str) -> Message:
    request = urllib.request.Request(
        address,
        json.dumps(body).encode(),
        {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            **headers,
        },
    )
    with urllib.request.urlopen(request) as answer:
        return json.loads(answer.read())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--mcp", required=True)
    parser.add_argument("--model-base", required=True)
    parser.add_argument("--model", required=True)
    options = parser.parse_args()

    def rpc(method: str, **params: Any) -> Message:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return post(options.mcp, body, **{"MCP-Protocol-Version": "2025-06-18"})["result"]

    def ask(messages: list[Message], tools: list[Message]) -> Message:
        body = {"model": options.model, "messages": messages, "tools": tools}
        key = {"Authorization": f"Bearer {os.environ['OPENAI_API_KEY']}"}
        answer = post(f"{options.model_base}/chat/completions", body, **key)
        return answer["choices"][0]["message"]

    kept = Path.home() / "messages.json"
    heard = sys.stdin.read()
    if os.environ["GREENROOM_TURN"] == "1":
        policy, _, heard = heard.rpartition("\n\n---\n\n")
        messages: list[Message] = [{"role": "system", "content": policy}]
    else:
        messages = json.loads(kept.read_text())
    messages.append({"role": "user", "content": heard})
    tools = [
        {
            "type": "function",
            "function": {
                "name": one["name"],
                "description": one["description"],
                "parameters": one["inputSchema"],
            },
        }
        for one in rpc("tools/list")["tools"]
    ]
    while (reply := ask(messages, tools)).get("tool_calls"):
        messages.append(reply)
        for call in reply["tool_calls"]:
            name, arguments = call["function"]["name"], json.loads(call["function"]["arguments"])
            result = rpc("tools/call", name=name, arguments=arguments)
            content = result["content"][0]["text"]
            messages.append(
                {"role": "tool", "tool_call_id": call["id"], "name": name, "content": content}
            )
    messages.append(reply)
    kept.write_text(json.dumps(messages))
    print(reply["content"])


main()
