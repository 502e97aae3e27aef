"""Hashes of content: equal for equal content, different for anything that is played or graded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.domains.content import content_hashes, digest, task_hash, task_set, what_changed
from greenroom.domains.pack_writer import pack_in_memory, write_pack
from greenroom.domains.packs import Pack, PackInfo, load_pack
from greenroom.domains.tasks import Action, Assertion, InitialState, SetUpCall, Task

if TYPE_CHECKING:
    from pathlib import Path

    from greenroom.domains.world import Record

TASK = Task(
    "Light the hall.",
    (Action("light", {"lamp": "hall"}),),
    ("10",),
    id="a",
    assertions=(Assertion("is_lit", {"lamp": "hall"}),),
    judged=("The agent is kind.",),
    initial=InitialState(calls=(SetUpCall("darken", {}, "user"),)),
)
CHANGES: dict[str, dict[str, Any]] = {
    "instruction": {"instruction": "Light the attic."},
    "an argument": {"actions": (Action("light", {"lamp": "attic"}),)},
    "who acts": {"actions": (Action("light", {"lamp": "hall"}, "user"),)},
    "what is compared": {"actions": (Action("light", {"lamp": "hall"}, compared=()),)},
    "outputs": {"outputs": ("11",)},
    "what is expected": {"assertions": (Assertion("is_lit", {"lamp": "hall"}, expected=False),)},
    "judged sentences": {"judged": ()},
    "basis": {"basis": ("database",)},
    "initial state": {"initial": None},
    "the user's tools": {"user_tools": ()},
    "documents": {"documents": ("doc_1",)},
    "ticket": {"ticket": "Dark."},
}


def lamps(*tasks: Task, tables: dict[str, dict[str, Record]] | None = None, **more: Any) -> Pack:
    fields: dict[str, Any] = {"policy": "Ask first.", **more}
    return pack_in_memory(
        PackInfo(name="lamps", version="1", source="tests", licence="MIT"),
        "lamps",
        tables=tables or {"lamps": {"hall": {"lit": False, "watts": 4}, "attic": {"lit": True}}},
        tasks={"test": list(tasks or [TASK])},
        **fields,
    )


@pytest.mark.parametrize("name", CHANGES)
def test_whatever_is_played_or_graded_changes_the_hash(name: str) -> None:
    assert task_hash(replace(TASK, **CHANGES[name])) != task_hash(TASK)


def test_labels_do_not() -> None:
    relabelled = replace(
        TASK,
        id="b",
        annotator="Ann",
        tags=("dark",),
        unscored={"notes": ["x"]},
        raw={"anything": 1},
        actions=(Action("light", {"lamp": "hall"}, id="first"),),
        assertions=(Assertion("is_lit", {"lamp": "hall"}, message="It should be lit."),),
        basis=("outputs", "database"),
    )
    assert task_hash(relabelled) == task_hash(TASK)


def test_equal_content_has_equal_hashes_however_it_was_packed(tmp_path: Path) -> None:
    pack = lamps()
    write_pack(tmp_path / "pack", [pack])
    turned = lamps(
        tables={"lamps": {"attic": {"lit": True}, "hall": {"watts": 4, "lit": False}}},
    )
    assert load_pack(tmp_path / "pack", "lamps").hashes == pack.hashes == turned.hashes


@pytest.mark.parametrize(
    ("part", "other"),
    [
        ("database", lamps(tables={"lamps": {"hall": {"lit": True}}})),
        ("database", lamps(user_tables={"hands": {"left": {}}})),
        ("policy", lamps(policy="Do not ask.")),
        ("policy", lamps(rules=["Be brief."])),
        ("tools", lamps(tool_infos=[{"type": "function", "function": {"name": "light"}}])),
        ("tools", lamps(user_tool_infos=[{"type": "function", "function": {"name": "look"}}])),
    ],
)
def test_each_part_has_a_hash_of_its_own(part: str, other: Pack) -> None:
    one, two = lamps().hashes, other.hashes
    assert one.whole != two.whole
    assert one.splits == two.splits
    assert [name for name in one.parts if one.parts[name] != two.parts[name]] == [part]


def test_documents_count(tmp_path: Path) -> None:
    write_pack(tmp_path / "pack", [lamps()])
    before = load_pack(tmp_path / "pack", "lamps").hashes
    (tmp_path / "pack" / "lamps" / "documents").mkdir()
    (tmp_path / "pack" / "lamps" / "documents" / "one.json").write_text("{}")
    after = load_pack(tmp_path / "pack", "lamps").hashes
    assert [name for name in before.parts if before.parts[name] != after.parts[name]] == [
        "documents"
    ]


def test_what_changed_names_tasks_and_parts() -> None:
    other = replace(TASK, id="b", instruction="Light the attic.")
    before = task_set(lamps(TASK, other), "test", [0, 1])
    after = task_set(lamps(TASK, replace(other, outputs=()), policy="No."), "test", [0, 1])
    assert what_changed(before, before, ["a", "b"]) == []
    assert what_changed(before, after, ["a", "b"]) == ["1 of its 2 tasks (b)", "policy"]
    unplayed = task_set(lamps(TASK, replace(other, outputs=())), "test", [0])
    first = task_set(lamps(TASK, other), "test", [0])
    assert what_changed(first, unplayed, ["a"]) == ["tasks that it does not play"]


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.slow
@given(st.dictionaries(st.text(), values, max_size=4))
def test_the_order_of_keys_does_not_count(record: dict[str, Any]) -> None:
    assert digest(dict(reversed(record.items()))) == digest(record)
    assert content_hashes(lamps(tables={"t": {"x": record}})) == content_hashes(
        lamps(tables={"t": {"x": dict(reversed(record.items()))}})
    )
