"""Generated tasks: sound, as hard as was asked for, and in words of their own."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from greenroom.domains.airline.generator.content import WORDING as AIRLINE
from greenroom.domains.domain import load_domain
from greenroom.domains.generation import (
    FIGURES,
    TaskGenerator,
    Wording,
    figures_apart,
    profile_tasks,
)
from greenroom.domains.pack_writer import write_pack
from greenroom.domains.packs import Pack
from greenroom.domains.plugins import find_generator, generate_pack
from greenroom.domains.retail.generator.content import WORDING as RETAIL
from greenroom.domains.tau2.telecom.generator.content import WORDING as TELECOM
from greenroom.domains.validation import solved_by_nothing, validate_tasks
from greenroom.errors import DataError, InputError, UnknownName
from tests.cli.running import Greenroom
from tests.domains.generation.measures import generated, recurring, words_without_names

KINDS = [("retail", "official"), ("retail", "hard"), ("airline", "official"), ("airline", "hard")]
ALL_KINDS = [*KINDS, ("telecom", "official"), ("telecom", "hard")]
SHARED = RETAIL.lists.keys() & AIRLINE.lists.keys()


def content(env: str, seed: int, tasks: int, difficulty: str) -> bytes:
    pack = generate_pack(env, seed=seed, tasks=tasks, difficulty=difficulty)
    parts: list[Any] = [pack.load_tables(), [task.to_json() for task in pack.tasks()], pack.policy]
    return orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)


@pytest.mark.slow
@pytest.mark.parametrize(("env", "difficulty"), ALL_KINDS)
@settings(max_examples=8)
@given(seed=st.integers(-(2**40), 2**40), tasks=st.integers(1, 40))
def test_every_seed_gives_a_sound_pack(env: str, difficulty: str, seed: int, tasks: int) -> None:
    domain = generated(env, seed=seed, tasks=tasks, difficulty=difficulty)
    assert len(domain.tasks()) == tasks
    assert validate_tasks(domain) == []


@pytest.mark.parametrize(("env", "difficulty"), ALL_KINDS)
def test_a_pack_is_a_function_of_seed_number_and_difficulty(env: str, difficulty: str) -> None:
    one = content(env, 5, 20, difficulty)
    assert one == content(env, 5, 20, difficulty)
    assert one != content(env, 6, 20, difficulty)
    assert one != content(env, 5, 20, "hard" if difficulty == "official" else "official")


@pytest.mark.parametrize("env", ["retail", "airline", "telecom"])
@pytest.mark.parametrize("seed", [1, 77])
def test_official_tasks_have_the_mix_of_the_official_ones(env: str, seed: int) -> None:
    domain = generated(env, seed=seed, tasks=250)
    official = find_generator(env).official
    assert official.keys() == FIGURES.keys()
    assert figures_apart(profile_tasks(domain), official) == []


def test_figures_that_are_apart_are_named() -> None:
    official = {"writes": 1.0, "outputs": 0.2, "refusals": 0.0, "corrections": 0.0}
    assert figures_apart(official, official) == []
    made = {"writes": 1.14, "outputs": 0.16, "refusals": 0.0, "corrections": 0.01}
    assert figures_apart(made, official) == ["outputs", "corrections"]


@pytest.mark.parametrize("env", ["retail", "airline"])
def test_refusing_is_all_there_is_to_do_in_tasks_that_nothing_solves(env: str) -> None:
    domain = generated(env, seed=5, tasks=115)
    idle = solved_by_nothing(domain)
    share = find_generator(env).official["nothing"]
    assert len(idle) == round(share * 115)
    tasks = [domain.task(index) for index in idle]
    assert all("refusal" in task.tags and "no change" in task.tags for task in tasks)
    assert validate_tasks(domain) == []


@pytest.mark.parametrize("env", ["retail", "airline"])
def test_hard_tasks_ask_for_more(env: str) -> None:
    figures = profile_tasks(generated(env, seed=1, tasks=120, difficulty="hard"))
    official = find_generator(env).official
    for name in official.keys() - {"nothing", "no_writes"}:
        assert figures[name] > official[name] * 1.15, name
    assert figures["nothing"] == 0
    assert figures["no_writes"] < official["no_writes"]


@pytest.mark.slow
@pytest.mark.parametrize(("env", "difficulty"), ALL_KINDS)
def test_two_seeds_share_few_words(env: str, difficulty: str) -> None:
    one, other = (generated(env, seed=s, tasks=250, difficulty=difficulty) for s in (1, 2))
    as_often, once = recurring(one, other)
    assert as_often < 0.12
    assert once < 0.08


@pytest.mark.parametrize(("env", "difficulty"), ALL_KINDS)
def test_two_seeds_share_few_words_between_names_and_numbers(env: str, difficulty: str) -> None:
    one, other = (generated(env, seed=s, tasks=100, difficulty=difficulty) for s in (41, 1041))
    as_often, once = recurring(one, other, words=words_without_names)
    assert as_often < (0.35 if env == "telecom" else 0.22)
    assert once < (0.22 if env == "telecom" else 0.15)


@pytest.mark.slow
@pytest.mark.parametrize(("env", "difficulty"), ALL_KINDS)
def test_two_thousand_tasks_are_sound_and_share_few_words(env: str, difficulty: str) -> None:
    domain = generated(env, seed=3, tasks=2000, difficulty=difficulty)
    assert len(domain.tasks()) == 2000
    assert validate_tasks(domain) == []
    other = generated(env, seed=4, tasks=2000, difficulty=difficulty)
    as_often, once = recurring(other, domain)
    assert as_often < 0.25
    assert once < 0.15
    if difficulty == "official":
        assert figures_apart(profile_tasks(domain), find_generator(env).official) == []
    # Doing nothing solves as many as of the official tasks, and none of the hard ones.
    share = find_generator(env).official["nothing"] if difficulty == "official" else 0
    assert len(solved_by_nothing(domain)) == round(share * 2000)


@pytest.mark.parametrize(("env", "difficulty"), KINDS)
def test_tags_tell_the_truth(env: str, difficulty: str) -> None:
    domain = generated(env, seed=4, tasks=80, difficulty=difficulty)
    for index, task in enumerate(domain.tasks()):
        writes = sum(domain.tools[action.name].writes for action in task.actions)
        sizes = {"no change": writes == 0, "one change": writes == 1, "several changes": writes > 1}
        assert [tag for tag in task.tags if tag in sizes] == [
            t for t, fits in sizes.items() if fits
        ]
        assert ("answer" in task.tags) == bool(task.outputs)
        ends = [action for action in task.actions if domain.tools[action.name].ends_episode]
        assert ("transfer" in task.tags) == bool(ends)
        assert not ends or task.actions[-1] in ends
        assert bool(domain.ground_truth(index).changes) == (writes > 0)
        assert "refusal" in task.tags or "pressure" not in task.tags


@pytest.mark.parametrize("env", ["retail", "airline", "telecom"])
def test_a_pack_survives_being_written_and_read(env: str, tmp_path: Path) -> None:
    pack = generate_pack(env, seed=2, tasks=12)
    write_pack(tmp_path / "pack", [pack])
    loaded = load_domain(env, tmp_path / "pack")
    assert loaded.pack.info == pack.info
    assert loaded.pack.load_tables() == pack.load_tables()
    assert [task.to_json() for task in loaded.tasks()] == [task.to_json() for task in pack.tasks()]
    assert validate_tasks(loaded) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("env", "wording", "difficulty"),
    [("retail", RETAIL, "hard"), ("airline", AIRLINE, "hard"), ("telecom", TELECOM, "official")],
)
def test_every_text_and_list_is_used(
    env: str, wording: Wording, difficulty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: set[str] = set()
    say = Wording.say

    def noted(self: Wording, rng: Random, text: str, **words: str) -> str:
        said.add(text)
        return say(self, rng, text, **words)

    monkeypatch.setattr(Wording, "say", noted)
    generated(env, seed=1, tasks=400, difficulty=difficulty)
    assert said == wording.texts.keys()
    every = " ".join(
        t for texts in (*wording.texts.values(), *wording.lists.values()) for t in texts
    )
    own = wording.lists.keys() - SHARED
    assert own <= set(re.findall(r"<(\w+)>", every))


@pytest.mark.parametrize("env", ["retail", "airline"])
def test_instructions_are_clean_sentences(env: str) -> None:
    for task in generated(env, seed=9, tasks=150, difficulty="hard").tasks():
        text = task.instruction
        assert not re.search(r"[\[\]<>{}|]|  | [.,;:?]|\.\.|,\.|,,", text), text
        assert not re.search(r"[.?!] [a-z]", text), text
        assert text[-1] in ".?"


def test_what_cannot_be_generated_is_told() -> None:
    with pytest.raises(UnknownName, match=r"Unknown difficulty 'brutal'.*easy, hard, official"):
        generate_pack("retail", seed=1, tasks=5, difficulty="brutal")
    with pytest.raises(InputError, match="1 to 200,000 tasks"):
        generate_pack("airline", seed=1, tasks=0)


def test_a_generator_that_fails_is_told() -> None:
    def broken(seed: int, tasks: int, difficulty: str) -> Pack:
        raise KeyError(difficulty)

    with pytest.raises(DataError, match=r"failed for seed 1 and 2 tasks: KeyError: 'official'"):
        TaskGenerator(broken)(1, 2)

    def lazy(seed: int, tasks: int, difficulty: str) -> Pack:
        return generate_pack("retail", seed=seed, tasks=tasks - 1)

    with pytest.raises(DataError, match="made 4 tasks, but 5 were asked for"):
        TaskGenerator(lazy)(1, 5)


def test_unsound_tasks_are_not_written(greenroom: Greenroom, tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text(
        "from greenroom.domains import (Action, DomainPlugin, PackInfo, Task, Toolset,\n"
        "    pack_in_memory)\n"
        "from greenroom.domains.generation import TaskGenerator\n"
        "def make(seed, tasks, difficulty):\n"
        "    info = PackInfo(name='b', version='1', source='x', licence='MIT')\n"
        "    task = Task('Do it.', (Action('fly'),))\n"
        "    return pack_in_memory(info, 'b', tables={'t': {}}, tasks={'test': [task] * tasks},\n"
        "        policy='')\n"
        "plugin = DomainPlugin('b', Toolset(), generate=TaskGenerator(make))\n"
    )
    result = greenroom("generate", "--env", broken, "--tasks", 3, "-o", tmp_path / "out")
    assert result.status == 2
    assert "made a task that is not sound, so nothing was written: task 0:" in result.err
    assert not (tmp_path / "out").exists()
