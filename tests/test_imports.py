from __future__ import annotations

import sys
from pathlib import Path
from textwrap import dedent

import pytest

from greenroom.agents import AgentStrategy, find_strategy
from greenroom.domains.plugins import find_plugin
from greenroom.errors import InputError, UnknownName
from greenroom.evaluation.evaluators import make_evaluator
from greenroom.users import find_user_strategy
from greenroom.util.imports import absolute_target, load_module


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(dedent(text))
    return path


def test_a_data_class_with_postponed_annotations(folder: Path) -> None:
    write(
        folder,
        "scorer.py",
        """
        from __future__ import annotations
        from dataclasses import dataclass, field

        @dataclass
        class Rule:
            words: list[str] = field(default_factory=list)

        def kind(output: str) -> bool:
            return output in Rule(["yes"]).words
        """,
    )
    assert make_evaluator("scorer.py:kind").alias == "kind"


def test_a_file_imports_its_neighbours(folder: Path) -> None:
    (folder / "inner").mkdir()
    write(folder / "inner", "neighbour_of_app.py", "WORD = 'hello'")
    write(folder / "inner", "app.py", "from neighbour_of_app import WORD")
    assert load_module("inner/app.py").WORD == "hello"


def test_a_file_is_loaded_once_until_it_changes(folder: Path) -> None:
    path = write(folder, "app.py", "VALUE = object()")
    first = load_module("app.py")
    assert load_module(str(path)) is first
    assert sys.modules[first.__name__] is first
    path.write_text("VALUE = 2")
    assert load_module("app.py").VALUE == 2


@pytest.mark.parametrize("find", [find_strategy, find_user_strategy, find_plugin, make_evaluator])
def test_errors_have_file_and_line(folder: Path, find: object) -> None:
    assert callable(find)
    write(folder, "broken.py", "x = 1\nx = undefined")
    with pytest.raises(InputError, match=r"broken\.py, line 2: NameError"):
        find("broken.py:thing")
    with pytest.raises(InputError, match=r"There is no file missing\.py"):
        find("missing.py:thing")
    with pytest.raises(InputError, match="There is no module 'missing_module'"):
        find("missing_module:thing")


def test_the_only_agent_of_a_file_needs_no_name(folder: Path) -> None:
    write(folder, "agent.py", "async def polite(stage): ...")
    assert find_strategy("agent.py").name == "polite"
    assert find_strategy("agent:polite").name == "polite"
    write(folder, "two.py", "async def one(stage): ...\nasync def two(stage): ...")
    with pytest.raises(InputError, match=r"several in two\.py: write two\.py:NAME with one of one"):
        find_strategy("two.py")
    with pytest.raises(UnknownName, match="Did you mean 'two'"):
        find_strategy("two.py:tow")
    write(folder, "none.py", "NUMBER = 3")
    with pytest.raises(InputError, match=r"There is no agent strategy in none\.py"):
        find_strategy("none.py")
    with pytest.raises(InputError, match="is not usable as agent strategy: it is a int"):
        find_strategy("none.py:NUMBER")


def test_a_strategy_comes_before_what_could_be_made_one(folder: Path) -> None:
    write(
        folder,
        "agent.py",
        """
        from greenroom.agents import AgentStrategy

        class Player:
            async def play(self, stage): ...

        strategy = AgentStrategy("chosen", lambda context: Player())
        same = strategy
        """,
    )
    found = find_strategy("agent.py")
    assert isinstance(found, AgentStrategy)
    assert found.name == "chosen"
    assert find_strategy("agent.py:Player").name == "Player"


def test_targets_become_absolute(folder: Path) -> None:
    write(folder, "app.py", "")
    assert absolute_target("app.py") == f"{folder}/app.py"
    assert absolute_target("app.py:name") == f"{folder}/app.py:name"
    for other in ("oracle", "module:name", "missing.py:name", "http://localhost:8000/v1#model"):
        assert absolute_target(other) == other
