"""A workflow that is paid for by the call, for tests of budgets and signals.

As a program it plays a run with it that takes long. It logs each call that was paid for.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import anyio

from greenroom import chat_workflow
from greenroom.cli.app import main
from greenroom.workflows import report_usage

COST = 0.001


@chat_workflow
async def talker(messages: list[dict[str, Any]]) -> dict[str, Any]:
    await anyio.sleep(0.01)
    report_usage(cost=COST, prompt_tokens=100, completion_tokens=5)
    if log := os.environ.get("PAYING_LOG"):
        with Path(log).open("a") as lines:  # noqa: ASYNC230
            lines.write("paid\n")
    return {"role": "assistant", "content": "Anything else?"}


if __name__ == "__main__":
    run = ["run", "--agent-strategy", f"{__file__}:talker", "--name", "paid"]
    main([*run, "--num-trials", "50", *sys.argv[1:]])
