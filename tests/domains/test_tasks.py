from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.domains.tasks import Action, Task, parse_tasks, select_tasks, task_places
from greenroom.errors import DataError, InputError


def test_a_task_round_trips_through_its_file_form() -> None:
    task = Task(
        instruction="Do it.",
        actions=(Action("cancel", {"id": "1"}),),
        outputs=("10",),
        user_id="u",
        annotator="3",
        id="a7",
        tags=("refund", "angry"),
        unscored={"nl_assertions": ["be kind"]},
    )
    assert parse_tasks([task.to_json()], "here") == (task,)
    assert task.unscored_count == 1


@pytest.mark.parametrize("basis", [(), ("database", "outputs"), ("actions",)])
def test_what_counts_round_trips(basis: tuple[Any, ...]) -> None:
    task = Task(instruction="Do it.", basis=basis)
    assert parse_tasks([task.to_json()], "here") == (task,)


def test_older_files_load_too() -> None:
    older = {
        "annotator": 0,
        "user_id": "u",
        "instruction": "Do it.",
        "actions": [{"name": "cancel", "arguments": {"id": "1"}}],
    }
    (task,) = parse_tasks([older], "here")
    assert task.annotator == "0"
    assert task.actions == (Action("cancel", {"id": "1"}),)
    assert task.outputs == ()


def test_outputs_that_are_numbers_become_text() -> None:
    (task,) = parse_tasks([{"instruction": "x", "outputs": [10, 2.5, "a"]}], "here")
    assert task.outputs == ("10", "2.5", "a")


@pytest.mark.parametrize(
    ("records", "place"),
    [
        ([{"instruction": "x", "actions": [{"kwargs": {"a": 1}}]}], "0.actions.0.name"),
        ([{"instruction": "x"}, {"instruction": 5}], "1.instruction"),
        ({"instruction": "x"}, "the file"),
        (["text"], "0"),
    ],
)
def test_a_broken_task_is_reported_with_its_place(records: Any, place: str) -> None:
    with pytest.raises(DataError, match=rf"^here: {place}: "):
        parse_tasks(records, "here")


@pytest.mark.parametrize(
    ("options", "chosen"),
    [
        ({}, [0, 1, 2, 3, 4]),
        ({"task_ids": [3, 1, 3]}, [3, 1]),
        ({"start_index": 2}, [2, 3, 4]),
        ({"start_index": 1, "end_index": 3}, [1, 2]),
        ({"end_index": 5}, [0, 1, 2, 3, 4]),
    ],
)
def test_selecting(options: dict[str, Any], chosen: list[int]) -> None:
    assert select_tasks(5, **options) == chosen


@pytest.mark.parametrize(
    "options",
    [
        {"task_ids": [5]},
        {"task_ids": [-1]},
        {"start_index": 5},
        {"start_index": 3, "end_index": 2},
        {"end_index": 6},
        {"start_index": -1},
    ],
)
def test_what_is_not_there_cannot_be_selected(options: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        select_tasks(5, **options)


@given(count=st.integers(1, 60), seed=st.integers())
def test_shuffling_is_a_function_of_the_seed_and_loses_nothing(count: int, seed: int) -> None:
    shuffled = select_tasks(count, shuffle_seed=seed)
    assert sorted(shuffled) == list(range(count))
    assert shuffled == select_tasks(count, shuffle_seed=seed)


def test_tasks_are_found_by_their_own_ids() -> None:
    tasks = [Task(id="task_001"), Task(id="[service]x|y[PERSONA:None]"), Task(id="7")]
    assert task_places(tasks, ["[service]x|y[PERSONA:None]", 0, "id:7"]) == [1, 0, 2]
    with pytest.raises(
        InputError, match=r"no task with the id 'task_01'\. Did you mean 'task_001'"
    ):
        task_places(tasks, ["task_01"])
    with pytest.raises(InputError, match="Give places, from 0"):
        task_places([Task()], ["task_01"])
