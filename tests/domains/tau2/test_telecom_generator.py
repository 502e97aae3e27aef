"""Telecom packs of our own: sound tasks in the official mix, the same for the same seed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from greenroom.domains.domain import Domain, load_domain
from greenroom.domains.generation import profile_tasks
from greenroom.domains.pack_writer import write_pack
from greenroom.domains.packs import Pack
from greenroom.domains.plugins import find_plugin, generate_pack
from greenroom.domains.tasks import Task
from greenroom.domains.tau2.telecom.figures import OFFICIAL_FIGURES
from greenroom.domains.validation import validate_tasks
from greenroom.errors import DataError, InputError
from tests.domains.tau2.telecom_play import TAU2_DATA


def domain_of(pack: Pack) -> Domain:
    plugin = find_plugin("telecom")
    return Domain(plugin.edition(pack.info.edition, plugin.check()), pack)


def is_sound(domain: Domain, task: Task) -> bool:
    """Whether the task's own calls meet its assertions, and doing nothing does not solve it."""
    worlds = domain.worlds(task)

    def met() -> bool:
        return all(
            domain.function(one.party, one.name)(worlds.of(one.party), **one.kwargs) is one.expected
            for one in task.assertions
        )

    solved = met() and "actions" not in task.basis
    followed = all(not domain.call(worlds, action).failed for action in task.actions)
    return followed and met() and not solved


@pytest.mark.slow
@pytest.mark.tau2_data
def test_official_figures_are_those_of_the_official_tasks() -> None:
    official = profile_tasks(load_domain("telecom", TAU2_DATA), "base")
    assert official == pytest.approx(OFFICIAL_FIGURES, abs=1e-4)


@pytest.mark.parametrize("seed", [1, 2])
def test_generated_tasks_are_sound_and_in_the_official_mix(seed: int) -> None:
    domain = domain_of(generate_pack("telecom", seed=seed, tasks=150))
    assert [task.id for task in domain.tasks() if not is_sound(domain, task)] == []
    assert validate_tasks(domain) == []
    assert len({task.id for task in domain.tasks()}) == 150
    assert len({task.instruction for task in domain.tasks()}) == 150
    assert profile_tasks(domain) == pytest.approx(OFFICIAL_FIGURES, rel=0.15)


@pytest.mark.slow
def test_two_thousand_of_two_thousand_are_sound() -> None:
    domain = domain_of(generate_pack("telecom", seed=9, tasks=2000))
    assert sum(is_sound(domain, task) for task in domain.tasks()) == 2000


def test_a_seed_gives_the_same_pack_again() -> None:
    first, second = (generate_pack("telecom", seed=4, tasks=20) for _ in range(2))
    other = generate_pack("telecom", seed=5, tasks=20)
    assert first.load_tables() == second.load_tables() != other.load_tables()
    assert first.tasks() == second.tasks() != other.tasks()


def test_hard_tasks_ask_more() -> None:
    hard = profile_tasks(domain_of(generate_pack("telecom", seed=1, tasks=60, difficulty="hard")))
    assert hard["writes"] > 1.4 * OFFICIAL_FIGURES["writes"]


def test_instructions_are_clean_sentences() -> None:
    for task in generate_pack("telecom", seed=6, tasks=150).tasks():
        text = task.instruction
        assert not re.search(r"[\[\]<>{}|]|  | [.,;:?]|\.\.|,\.|,,", text), text
        assert not re.search(r"[.?!] [a-z]", text), text


def test_a_pack_in_files_is_the_same(tmp_path: Path) -> None:
    pack = generate_pack("telecom", seed=3, tasks=12)
    write_pack(tmp_path / "pack", [pack])
    domain, read = domain_of(pack), load_domain("telecom", tmp_path / "pack")
    assert read.edition.max_steps == 200
    for mine, theirs in zip(domain.tasks(), read.tasks(), strict=True):
        assert mine == theirs
        assert is_sound(read, theirs)


@pytest.mark.slow
def test_a_pack_that_leaves_things_out_is_filled_in(tmp_path: Path) -> None:
    write_pack(tmp_path / "pack", [generate_pack("telecom", seed=3, tasks=12)])
    root = tmp_path / "pack" / "telecom"
    whole = load_domain("telecom", tmp_path / "pack").pack
    lines: dict[str, dict[str, object]] = json.loads((root / "db" / "lines.json").read_text())
    for line in lines.values():
        del line["data_refueling_gb"]
    (root / "db" / "lines.json").write_text(json.dumps(lines))
    for path in (root / "user_db").iterdir():
        path.unlink()
    (root / "user_db").rmdir()
    domain = load_domain("telecom", tmp_path / "pack")
    assert domain.pack.load_tables() == whole.load_tables()
    assert all(is_sound(domain, task) for task in domain.tasks())
    next(iter(lines.values()))["status"] = "Lost"
    (root / "db" / "lines.json").write_text(json.dumps(lines))
    with pytest.raises(DataError, match=r"lines\.0\.status: Input should be 'Active'"):
        load_domain("telecom", tmp_path / "pack").worlds()


def test_everybody_in_a_task_has_one_role_and_a_first_name_of_their_own() -> None:
    for task in generate_pack("telecom", seed=4, tasks=100).tasks():
        text = task.instruction
        introduced = re.findall(r"[Yy]our [a-z -]+ ([A-Z]\w+) ([A-Z]\w+)", text)
        introduced += re.findall(r"([A-Z]\w+) ([A-Z]\w+) from ", text)
        people = set(introduced)
        assert len(people) > 4
        assert len({first for first, _ in people}) == len(people), text


def test_the_built_in_pack() -> None:
    domain = load_domain("telecom")
    assert len(domain.tasks()) == 57
    assert all(is_sound(domain, task) for task in domain.tasks())
    assert domain.pack.info.name == "greenroom-telecom"
    names = {info["function"]["name"] for info in domain.user_tool_infos(domain.task(0))}
    assert len(names) == 30


@pytest.mark.parametrize("count", [0, 20_001])
def test_a_number_of_tasks_that_is_out_of_range(count: int) -> None:
    with pytest.raises(InputError, match="1 to 20,000 tasks"):
        generate_pack("telecom", seed=1, tasks=count)
