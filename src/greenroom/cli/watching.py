"""Watching a job from another terminal until it is over."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import typer

from greenroom.cli.long_cells import OTHERS_PLAY, LongCellsTeller
from greenroom.cli.output import echo, print_json
from greenroom.trials.display import progress_bar

if TYPE_CHECKING:
    from greenroom.cli.following import Standing
    from greenroom.cli.operating import Operated
    from greenroom.store import JobRecord, Jobs

_WAIT_SECONDS = 60.0
"""So long others may take to go on with what a worker has left behind."""


def watch_until_over(
    kind: Operated, jobs: Jobs[Any, Any, Any], job: JobRecord, interval: float, *, json: bool
) -> None:
    """Show how a job stands until nobody works on it; with `json`, print it once."""
    from greenroom.cli.following import Follower

    follower = Follower(jobs, job)
    if json:
        print_json(_as_json(kind, job, follower.look()))
        return
    at_work, long = dict[str, str](), LongCellsTeller(kind, OTHERS_PLAY)
    paused, alone_since = False, time.monotonic()
    with progress_bar(job.name, job.planned) as display:
        while True:
            found = follower.look()
            now = {one.id: f"{one.host}/{one.pid}" for one in found.workers}
            if found.finished < job.planned or now:
                _tell_workers(at_work, now)
            at_work = now
            if found.paused != paused and now:
                paused = found.paused
                go_on = f"It is paused. Go on with: greenroom {kind.group} go-on {job.name}"
                echo(go_on if paused else "It goes on.", err=True)
            display.stand(found.finished, found.note(kind.figure))
            long.tell(found.long)
            if now:
                alone_since = time.monotonic()
            elif not found.waiting or time.monotonic() - alone_since > _WAIT_SECONDS:
                break
            time.sleep(interval)
    status = jobs.find(job.id).status
    echo(f"{job.name} is {status}: {found.finished} of {job.planned} {kind.cells} have a result")
    if status != "complete":
        raise typer.Exit(1)


def _tell_workers(before: dict[str, str], now: dict[str, str]) -> None:
    for key in now.keys() - before.keys():
        echo(f"{now[key]} works on it.", err=True)
    for key in before.keys() - now.keys():
        echo(f"{before[key]} does so no more.", err=True)


def _as_json(kind: Operated, job: JobRecord, found: Standing) -> dict[str, Any]:
    return {
        kind.name: job.name,
        "status": job.status,
        "paused": found.paused,
        "planned": job.planned,
        "finished": found.finished,
        **({kind.figure: found.mean} if kind.figure else {}),
        "cost": found.cost,
        "max_cost": found.max_cost,
        f"seconds_per_{kind.cells.removesuffix('s')}": found.long.usual,
        "workers": [
            {
                "host": one.host,
                "pid": one.pid,
                "started_at": one.started_at,
                "claimed": one.claimed,
                "longest_claim_seconds": one.longest,
            }
            for one in found.workers
        ],
        "taking_long": [
            {**kind.numbers(one.key), "worker": one.worker, "seconds": one.seconds}
            for one in found.long.cells
        ],
    }
