"""The agenta SDK holds a conversation with a workflow; run by an interpreter of its own.

`python agenta_talk.py ADDRESS TEXT ...` says the texts one after the other, with all messages so
far, and prints the answers as JSON.
"""
# The SDK is not installed where types are checked.
# pyright: reportMissingImports=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUntypedFunctionDecorator=false
# pyright: reportUnknownArgumentType=false, reportFunctionMemberAccess=false

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import agenta as ag
from agenta.sdk.models.workflows import WorkflowInvokeRequest, WorkflowRequestData


async def main(address: str, *texts: str) -> None:
    ag.init()

    @ag.workflow(uri="agenta:custom:hook:v0", url=address, remote=True)
    async def remote(messages: Any = None) -> None:
        raise AssertionError("this runs elsewhere")

    messages: list[Any] = []
    for text in texts:
        messages.append({"role": "user", "content": text})
        data = WorkflowRequestData(inputs={"messages": messages}, parameters={})
        answer = await remote.invoke(request=WorkflowInvokeRequest(data=data))
        messages.append(answer.model_dump(mode="json")["data"]["outputs"])
    sys.stdout.write("\n" + json.dumps([one["content"] for one in messages[1::2]]) + "\n")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
