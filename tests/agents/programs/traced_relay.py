"""An agent by text with OpenTelemetry of its own: its span is between the turn and what it asks."""

from __future__ import annotations

import json
import os
import sys
import urllib.request
from pathlib import Path
from typing import Any

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.propagate import extract, inject
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

Message = dict[str, Any]


def post(address: str, body: Message, **headers: str) -> Message:
    sent = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        **headers,
    }
    inject(sent)
    request = urllib.request.Request(address, json.dumps(body).encode(), sent)
    with urllib.request.urlopen(request) as answer:
        return json.loads(answer.read())


def rpc(method: str, **params: Any) -> Message:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    address = os.environ["GREENROOM_MCP_URL"]
    return post(address, body, **{"MCP-Protocol-Version": "2025-06-18"})["result"]


def ask(messages: list[Message], tools: list[Message]) -> Message:
    address = f"{os.environ['OPENAI_BASE_URL']}/chat/completions"
    body = {"messages": messages, "tools": tools}
    key = {"Authorization": f"Bearer {os.environ['OPENAI_API_KEY']}"}
    return post(address, body, **key)["choices"][0]["message"]


def take_turn(heard: str) -> str:
    kept = Path.home() / "messages.json"
    messages: list[Message] = json.loads(kept.read_text()) if kept.exists() else []
    if not messages:
        policy, _, heard = heard.rpartition("\n\n---\n\n")
        messages = [{"role": "system", "content": policy}]
    messages.append({"role": "user", "content": heard})
    tools: list[Message] = []
    for one in rpc("tools/list")["tools"]:
        function = {"name": one["name"], "parameters": one["inputSchema"]}
        tools.append({"type": "function", "function": function})
    while (reply := ask(messages, tools)).get("tool_calls"):
        messages.append(reply)
        for call in reply["tool_calls"]:
            arguments = json.loads(call["function"]["arguments"])
            result = rpc("tools/call", name=call["function"]["name"], arguments=arguments)
            content = result["content"][0]["text"]
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})
    messages.append(reply)
    kept.write_text(json.dumps(messages))
    return reply["content"]


def main() -> None:
    provider = TracerProvider(resource=Resource({"service.name": "the-agent"}))
    provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter()))
    around = extract({"traceparent": os.environ["TRACEPARENT"]})
    with provider.get_tracer("agent").start_as_current_span("think", context=around):
        words = take_turn(sys.stdin.read())
    provider.shutdown()
    print(words)


main()
