from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from greenroom.domains.tasks import Action
from greenroom.model_server.dspy_forms import Field
from greenroom.model_server.fastworkflow_commands import (
    exact_command,
    incomplete_command,
    is_loose,
    loose_command,
    parameter_value,
)

words = st.from_regex(r"[A-Za-z0-9#_@'-]([A-Za-z0-9#_@' -]{0,20}[A-Za-z0-9#_@'-])?", fullmatch=True)
values = st.one_of(words, st.lists(words, min_size=1))
actions = st.builds(
    Action,
    st.sampled_from(["light", "dim_all_lamps"]),
    st.dictionaries(st.sampled_from(["lamp", "lamp_id", "new_lamp_ids", "zip"]), values),
)


@given(actions)
def test_commands_say_what_they_are_read_as(action: Action) -> None:
    for command in (exact_command(action), loose_command(action)):
        for name, value in action.kwargs.items():
            kind = "list[str]" if isinstance(value, list) else "str"
            assert parameter_value(command, name, Field(kind)) == value
    assert is_loose(loose_command(action))
    assert not is_loose(exact_command(action))


@given(actions.filter(lambda action: bool(action.kwargs)))
def test_incomplete_commands_lack_one_value(action: Action) -> None:
    first, *others = action.kwargs
    command = incomplete_command(action)
    assert parameter_value(command, first, Field("str")) is None
    assert all(f"<{name}>" in command for name in others)


def test_objects_survive() -> None:
    people = [{"name": "Ann", "age": 7}]
    for wording in (exact_command, loose_command):
        command = wording(Action("book", {"people": people, "insured": True, "bags": 2}))
        assert parameter_value(command, "people", Field("list[dict[str, Any]]")) == people
        assert parameter_value(command, "insured", Field("bool")) is True
        assert parameter_value(command, "bags", Field("int")) == 2
