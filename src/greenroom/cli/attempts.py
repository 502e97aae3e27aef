"""The attempts of a job: those that gave no result, and what attempts said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from greenroom.cli.output import console, echo, print_json, print_table

if TYPE_CHECKING:
    from greenroom.cli.operating import Operated
    from greenroom.store import CellKey, JobRecord, Jobs
    from greenroom.store.job_rows import Attempt


_MOST_ROWS = 500


@dataclass(frozen=True)
class Chosen:
    """Which attempts: those of an item, or of one cell, as people count them; or all."""

    item: int | None
    trial: int | None

    def stored(self, kind: Operated) -> tuple[int | None, int | None]:
        """The item and the trial as the store counts them."""
        item, trial = self.item, self.trial
        return (
            None if item is None else item - kind.first,
            None if trial is None else trial - kind.first,
        )

    def holds(self, kind: Operated, key: CellKey) -> bool:
        """Whether a cell is one of them."""
        return all(
            wanted is None or wanted == one
            for wanted, one in zip(self.stored(kind), key, strict=True)
        )


def attempts_of(
    kind: Operated, jobs: Jobs[Any, Any, Any], job: JobRecord, chosen: Chosen, *, json: bool
) -> None:
    """List the attempts of a job that gave no result."""
    found = [one for one in jobs.attempts(job.id) if chosen.holds(kind, one.key)]
    if json:
        print_json([_plain(kind, one) for one in found])
        return
    if not found:
        echo(f"Every attempt of '{job.name}' gave a result.")
        return
    title = f"Attempts of {job.name} without a result"
    places = (kind.item.capitalize(), kind.trial.capitalize())
    headings = (*places, "Began", "Took", "Cost", "Why")
    rows = [_row(kind, one) for one in found[-_MOST_ROWS:]]
    print_table(title, headings, rows, right=(*places, "Took", "Cost"))
    if len(found) > len(rows):
        echo(
            f"These are the last {len(rows):,} of {len(found):,}: --json has all, and "
            f"--{kind.item} those of one {kind.item}."
        )


def logs_of(
    kind: Operated, jobs: Jobs[Any, Any, Any], job: JobRecord, chosen: Chosen, *, json: bool
) -> None:
    """Print what the attempts of a job said."""
    item, trial = chosen.stored(kind)
    found = jobs.logs.of(job.id, item=item, trial=trial)
    if json:
        print_json(
            [
                {
                    **kind.numbers(one.key),
                    "started_at": one.started_at,
                    "worker": one.worker,
                    "ended": one.ended,
                    "log": one.log,
                }
                for one in found
            ]
        )
        return
    out, nothing = console(), True
    for one in found:
        nothing = False
        began = one.started_at[:19].replace("T", " ")
        heading = f"{kind.place(one.key)}, begun {began} by {one.worker}: {one.ended}"
        out.print(heading[0].upper() + heading[1:], style="bold", markup=False, soft_wrap=True)
        # A console would take minutes for the logs of a large run.
        echo("\n".join(f"    {line}" for line in one.log.splitlines()))
    if nothing:
        echo(f"No attempt of '{job.name}' has said anything.")


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
