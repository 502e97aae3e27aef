"""The agenta SDK calls a workflow at an address; run by an interpreter of its own.

`python agenta_call.py ADDRESS INPUTS PARAMETERS` prints, as JSON, what the SDK's remote workflow
answers.
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


async def main(address: str, inputs: dict[str, Any], parameters: dict[str, Any]) -> None:
    ag.init()

    @ag.workflow(uri="agenta:custom:hook:v0", url=address, remote=True)
    async def remote(messages: Any = None) -> None:
        raise AssertionError("this runs elsewhere")

    data = WorkflowRequestData(inputs=inputs, parameters=parameters)
    answer = await remote.invoke(request=WorkflowInvokeRequest(data=data))
    sys.stdout.write("\n" + json.dumps(answer.model_dump(mode="json")) + "\n")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3])))
