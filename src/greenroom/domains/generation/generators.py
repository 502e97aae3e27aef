"""The hook with which a domain makes fresh tasks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from greenroom.domains.generation.profiles import Profile
from greenroom.errors import DataError, GreenroomError, UnknownName

if TYPE_CHECKING:
    from greenroom.domains.packs import Pack


@dataclass(frozen=True)
class TaskGenerator:
    """Makes fresh worlds and tasks of a domain."""

    make: Callable[[int, int, str], Pack]
    """Makes a pack from a seed, a number of tasks and a difficulty, and from nothing else."""
    difficulties: tuple[str, ...] = ("official",)
    """What may be asked for; the first is the default."""
    official: Profile = field(default_factory=dict[str, float])
    """The figures of published tasks of the domain, to compare generated ones with."""

    def __call__(self, seed: int, tasks: int, difficulty: str | None = None) -> Pack:
        """A pack with this many tasks."""
        chosen = self.difficulties[0] if difficulty is None else difficulty
        if chosen not in self.difficulties:
            raise UnknownName("difficulty", chosen, self.difficulties)
        try:
            pack = self.make(seed, tasks, chosen)
            made = len(pack.tasks())
        except GreenroomError:
            raise
        except Exception as error:
            raise DataError(
                f"The generator failed for seed {seed} and {tasks:,} tasks: "
                f"{type(error).__name__}: {error}."
            ) from error
        if made != tasks:
            raise DataError(f"The generator made {made:,} tasks, but {tasks:,} were asked for.")
        return pack
