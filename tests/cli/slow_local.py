"""A run with a local model that answers slowly, for the test that does not wait for it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from greenroom.cli.app import main
from greenroom.models import Provider, local


class Slow:
    def handle_chat_completions(self, request: dict[str, Any]) -> dict[str, Any]:
        time.sleep(60)
        return {"error": {"message": "too late"}}


def load(path: Path, context: int) -> Slow:
    return Slow()


if __name__ == "__main__":
    local.provider = Provider("local", lambda _: local.LocalTransport(Path("slow.gguf"), load=load))
    run = ["run", "--agent-strategy", "act", "--model", "local/slow", "--task-ids", "1", "2", "3"]
    main([*run, "--max-episode-seconds", "1", "--name", "late"])
