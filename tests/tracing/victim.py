"""A process that plays a run and is killed in the middle of it."""

from __future__ import annotations

import os
import signal
import sys
import time

import anyio

from greenroom.benchmark import check_config, play_run, start_run
from greenroom.store import EpisodeRecord, open_store

SENT_BY_THEN = 1.0


def main(last: int) -> None:
    config = check_config({"agent_strategy": "oracle", "end_index": 5, "max_concurrency": 1})
    store = open_store()
    run, prepared = start_run(store, config, name="victim")

    def watch(record: EpisodeRecord) -> None:
        if record.task_index == last:
            time.sleep(SENT_BY_THEN)
            os.kill(os.getpid(), signal.SIGKILL)

    anyio.run(lambda: play_run(store, run, prepared, on_result=watch))


if __name__ == "__main__":
    main(int(sys.argv[1]))
