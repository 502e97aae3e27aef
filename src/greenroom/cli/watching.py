"""Watching a job from another terminal until it is over."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import typer

from greenroom.cli.output import echo, print_json
from greenroom.trials.display import progress_bar

if TYPE_CHECKING:
    from greenroom.cli.following import Standing
    from greenroom.cli.operating import Operated
    from greenroom.store import CellKey, JobRecord, Jobs


def watch_until_over(
    kind: Operated, jobs: Jobs[Any, Any, Any], job: JobRecord, interval: float, *, json: bool
) -> None:
    """Show how a job stands until nobody works on it; with `json`, print it once."""
    from greenroom.cli.following import Follower

    follower = Follower(jobs, job)
    if json:
        print_json(_as_json(kind, job, follower.look()))
        return
    shown, at_work, told = 0, dict[str, str](), set["CellKey"]()
    with progress_bar(job.name, job.planned) as advance:
        while True:
            found = follower.look()
            for _ in range(found.finished - shown):
                advance(found.note(kind.figure))
            shown = max(shown, found.finished)
            now = {one.id: f"{one.host}/{one.pid}" for one in found.workers}
            if shown < job.planned or now:
                _tell_workers(at_work, now)
            at_work = now
            for one in found.long:
                if one.key not in told:
                    echo(found.said_of(one, kind.place(one.key)), err=True)
            told |= {one.key for one in found.long}
            if not found.workers:
                break
            time.sleep(interval)
    status = jobs.find(job.id).status
    echo(f"{job.name} is {status}: {shown} of {job.planned} {kind.cells} have a result")
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
        f"seconds_per_{kind.cells.removesuffix('s')}": found.usual,
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
            for one in found.long
        ],
    }
