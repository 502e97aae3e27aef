"""The figures that generated tasks are compared with are those of the official tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from greenroom.domains.airline import plugin as airline
from greenroom.domains.domain import Domain, load_domain
from greenroom.domains.generation import FIGURES, Profile, TaskGenerator, profile_tasks
from greenroom.domains.retail import plugin as retail
from greenroom.domains.tasks import Task
from tests.conftest import TAU2_DATA
from tests.domains.generation.measures import generated

# The tasks, by reading: what is asked for and forbidden, pressed for, and corrected half-way.
RETAIL_REFUSALS = (
    *(10, 11, 12, 13, 19, 25, 27, 28, 31, 32, 33, 34, 36, 37, 38, 39, 40, 46, 47, 50),
    *(56, 57, 59, 62, 63, 65, 66, 69, 71, 72, 76, 77, 81, 82, 83, 99, 100),
)
RETAIL_PRESSURE = (10, 11, 12, 25, 31, 32, 46, 47, 50, 59, 62, 63, 82, 83)
RETAIL_CORRECTIONS = (
    *(5, 6, 7, 8, 9, 18, 21, 22, 24, 45, 46, 47, 67, 68, 71, 72, 84, 91, 92, 96, 99),
)
AIRLINE_REFUSALS = (
    *(0, 1, 8, 9, 10, 12, 13, 14, 15, 17, 18, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 31),
    *(35, 36, 37, 38, 39, 40, 41, 42, 47, 48, 49),
)
AIRLINE_PRESSURE = (12, 17, 18, 23, 24, 25, 31, 35, 36, 37, 39, 40, 41, 42, 47, 48, 49)
AIRLINE_CORRECTIONS = (9, 45, 46)


@pytest.mark.official
def test_the_figures_of_the_official_retail_tasks(official_retail: Domain) -> None:
    read = {
        "refusals": len(RETAIL_REFUSALS) / 115,
        "pressure": len(RETAIL_PRESSURE) / 115,
        "corrections": len(RETAIL_CORRECTIONS) / 115,
    }
    check(official_retail, retail.generate, read)


@pytest.mark.official
def test_the_figures_of_the_official_airline_tasks(official_airline: Domain) -> None:
    read = {
        "refusals": len(AIRLINE_REFUSALS) / 50,
        "pressure": len(AIRLINE_PRESSURE) / 50,
        "corrections": len(AIRLINE_CORRECTIONS) / 50,
    }
    check(official_airline, airline.generate, read)


def check(domain: Domain, generator: TaskGenerator | None, read: Profile) -> None:
    assert generator is not None
    assert generator.official.keys() == FIGURES.keys()
    measured = {**profile_tasks(domain, "test"), **read}
    assert measured == pytest.approx(dict(generator.official), abs=5e-5)


@pytest.mark.official
@pytest.mark.parametrize("seed", [3, 8])
def test_shop_and_airline_tasks_are_distributed_like_the_official_ones(
    official_retail: Domain, official_airline: Domain, seed: int
) -> None:
    for official in (official_retail, official_airline):
        made = generated(official.name, seed=seed, tasks=230)
        assert apart(official, "test", made) == []


@pytest.mark.slow
@pytest.mark.tau2_data
def test_telecom_tasks_are_distributed_like_the_official_ones() -> None:
    made = generated("telecom", seed=3, tasks=230)
    assert apart(load_domain("telecom", TAU2_DATA), "base", made) == []


def apart(official: Domain, split: str, made: Domain) -> list[str]:
    """What is distributed otherwise: more than 15 % of the tasks would need another number."""
    count: dict[str, Callable[[Domain, Task], int]] = {
        "changes": lambda domain, task: sum(
            tool.writes
            for action in task.actions
            if (tool := domain.edition.tool(action.party, action.name)) is not None
        ),
        "actions": lambda domain, task: len(task.actions),
        "outputs": lambda domain, task: len(task.outputs),
    }
    found: list[str] = []
    for name, number_of in count.items():
        there, here = (
            Counter(number_of(domain, task) for task in tasks)
            for domain, tasks in ((official, official.tasks(split)), (made, made.tasks()))
        )
        shares = {
            number: there[number] / there.total() - here[number] / here.total()
            for number in there | here
        }
        if sum(map(abs, shares.values())) / 2 > 0.15:
            found.append(f"{name}: {shares}")
    return found
