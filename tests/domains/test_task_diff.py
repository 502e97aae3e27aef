"""The differences of task sets: which tasks, and which of their fields."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from greenroom.domains.task_diff import changed_lines, diff_tasks
from greenroom.domains.tasks import Action, Assertion, InitialState, SetUpCall, Task

ONE = Task("Light the hall.", (Action("light", {"lamp": "hall"}),), ("10",), id="one")
TWO = Task("Light the attic.", (), id="two", judged=("It is bright.",))


def test_tasks_are_paired_by_id() -> None:
    found = diff_tasks([ONE, TWO], [TWO, replace(ONE, outputs=(), basis=("database",))])
    (changed,) = found.changed
    assert (changed.name, changed.places) == ("one", (0, 1))
    assert changed.fields == {
        "outputs": (["10"], []),
        "basis": (["database", "outputs"], ["database"]),
    }
    assert found.equal == ("two",)
    assert not found.removed
    assert not found.added
    assert not found.is_same


def test_tasks_without_ids_are_paired_by_place() -> None:
    found = diff_tasks([replace(ONE, id=None), TWO], [ONE])
    assert (found.equal, found.removed) == (("0",), ("1",))


def test_tasks_of_one_side_alone_are_named() -> None:
    found = diff_tasks([ONE], [TWO])
    assert (found.removed, found.added, found.equal) == (("one",), ("two",), ())


def test_only_some_fields_are_compared_if_asked() -> None:
    assert diff_tasks([ONE], [replace(ONE, outputs=())], ["instruction"]).is_same


def test_lines_show_calls_as_they_are_written() -> None:
    old = replace(
        ONE,
        actions=(Action("look", {}, "user"), *ONE.actions),
        assertions=(Assertion("is_lit", {"lamp": "hall"}),),
        initial=InitialState(calls=(SetUpCall("darken", {"lamp": "hall"}, "user"),)),
    )
    new = replace(ONE, actions=(Action("light", {"lamp": "hall"}, compared=("lamp",)),))
    fields = diff_tasks([old], [new]).changed[0].fields
    assert {name: changed_lines(*values) for name, values in fields.items()} == {
        "actions": [
            "- user: look()",
            '- light(lamp="hall")',
            '+ light(lamp="hall"), compared: lamp',
        ],
        "assertions": ['- is_lit(lamp="hall") is true'],
        "initial": ['- calls: user: darken(lamp="hall")'],
    }
    assert changed_lines("One.\nTwo.", "One.\nThree.") == ["- Two.", "+ Three."]


tasks = st.lists(
    st.builds(Task, st.text(max_size=3), id=st.sampled_from("abcd"), ticket=st.text(max_size=1)),
    unique_by=lambda task: task.id,
)


@given(tasks, tasks)
def test_every_task_is_in_one_list_and_turning_the_sides_turns_the_difference(
    before: list[Task], after: list[Task]
) -> None:
    found, turned = diff_tasks(before, after), diff_tasks(after, before)
    assert sorted(task.id or "" for task in before) == sorted(
        [*found.equal, *found.removed, *(one.name for one in found.changed)]
    )
    assert (found.added, sorted(found.equal)) == (turned.removed, sorted(turned.equal))
    assert diff_tasks(before, before).is_same
