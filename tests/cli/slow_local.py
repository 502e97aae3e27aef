"""A run with a local model that answers slowly, for the test that does not wait for it.

The first argument is the command, `greenroom` or `run.py`, the second a folder for its result file.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from greenroom.cli import app, tau_bench_run
from greenroom.models import Provider, local


class Slow:
    def handle_chat_completions(self, request: dict[str, Any]) -> dict[str, Any]:
        time.sleep(60)
        return {"error": {"message": "too late"}}


def load(path: Path, context: int) -> Slow:
    return Slow()


if __name__ == "__main__":
    local.provider = Provider("local", lambda _: local.LocalTransport(Path("slow.gguf"), load=load))
    words = ["--agent-strategy", "act", "--model", "local/slow", "--task-ids", "1", "2", "3"]
    words += ["--max-episode-seconds", "1"]
    if sys.argv[1] == "run.py":
        more = ["--user-strategy", "scripted", "--max-concurrency", "3", "--log-dir", sys.argv[2]]
        tau_bench_run.main([*words, *more])
    app.main(["run", *words])
