"""The attempts of a job that gave no result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from greenroom.cli.output import echo, print_json, print_table

if TYPE_CHECKING:
    from greenroom.cli.operating import Operated
    from greenroom.store import JobRecord, Jobs
    from greenroom.store.job_rows import Attempt


def attempts_of(
    kind: Operated, jobs: Jobs[Any, Any, Any], job: JobRecord, item: int | None, *, json: bool
) -> None:
    """List the attempts of a job that gave no result; with an item, only those of it."""
    found = [
        one for one in jobs.attempts(job.id) if item is None or one.key[0] == item - kind.first
    ]
    if json:
        print_json([_plain(kind, one) for one in found])
        return
    if not found:
        echo(f"Every attempt of '{job.name}' gave a result.")
        return
    title = f"Attempts of {job.name} without a result"
    places = (kind.item.capitalize(), kind.trial.capitalize())
    headings = (*places, "Began", "Took", "Cost", "Why")
    print_table(
        title, headings, [_row(kind, one) for one in found], right=(*places, "Took", "Cost")
    )


def _plain(kind: Operated, one: Attempt) -> dict[str, Any]:
    return {
        **kind.numbers(one.key),
        "started_at": one.started_at,
        "seconds": one.seconds,
        "error": one.error,
        "usage": {purse: used.model_dump() for purse, used in one.usage.items()},
    }


def _row(kind: Operated, one: Attempt) -> list[str]:
    from greenroom.store import total_cost

    cost = total_cost(one.usage.values())
    return [
        *(str(number) for number in kind.numbers(one.key).values()),
        one.started_at[:19].replace("T", " "),
        f"{one.seconds:.1f} s",
        "unknown" if cost is None else f"${cost:.2f}",
        one.error,
    ]
