"""The tasks of a split, found by their instruction."""

from __future__ import annotations

from greenroom.domains.domain import Domain


class KnownTasks:
    """Finds the task that a text is about; of two with the same instruction, the first."""

    def __init__(self, domain: Domain, split: str) -> None:
        self.tasks = domain.tasks(split)
        self.place = f"the {len(self.tasks)} tasks of {domain.name}, split {split}"
        self._by_instruction: dict[str, int] = {}
        for index, task in enumerate(self.tasks):
            self._by_instruction.setdefault(task.instruction.strip(), index)
        self._by_instruction.pop("", None)
        self._longest_first = sorted(self._by_instruction, key=len, reverse=True)

    def named(self, text: str) -> int | None:
        """The task whose instruction a text is."""
        return self._by_instruction.get(text.strip())

    def within(self, text: str) -> int | None:
        """The task whose instruction occurs in a text: the longest, if one contains another."""
        found = next(
            (instruction for instruction in self._longest_first if instruction in text), ""
        )
        return self._by_instruction.get(found)
