from __future__ import annotations

import argparse
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from greenroom.benchmark.config import RunConfig, check_config
from greenroom.domains.packs import DEFAULT_SPLIT
from greenroom.errors import InputError, UnknownName
from greenroom.evaluation.config import EvaluationConfig, check_evaluation_config
from greenroom.options import (
    ModelRole,
    Reference,
    Settings,
    add_arguments,
    check_settings,
    options_of,
    role_models,
    stored_settings,
)

MODELS = [RunConfig, EvaluationConfig]


class Sample(Settings):
    """Settings of every kind."""

    former_names = {"old": "number"}  # noqa: RUF012

    number: int = Field(default=3, ge=1, description="A number.")
    on: bool = Field(default=True, description="A switch.")
    mode: Literal["fast", "slow"] = "fast"
    file: Path | None = None
    function: Reference | None = None
    planner: Annotated[str | None, ModelRole("planner")] = None


@pytest.mark.parametrize("model", MODELS)
def test_flags_and_python_names_are_the_same(model: type[BaseModel]) -> None:
    for option in options_of(model):
        flag = option.names[0].removeprefix("--").replace("-", "_")
        assert option.field == (f"{flag}s" if option.multiple else flag)
        assert option.help, f"{option.field} has no description"


@pytest.mark.parametrize("model", MODELS)
def test_no_flag_is_spelt_twice(model: type[BaseModel]) -> None:
    names = [name for option in options_of(model) for name in option.names]
    assert len(names) == len(set(names))


def test_defaults_are_those_of_the_domains() -> None:
    assert RunConfig().max_num_steps is None  # the domain's edition decides
    assert RunConfig().task_split == DEFAULT_SPLIT


@pytest.mark.parametrize(
    ("fields", "agent", "user"),
    [
        ({}, "oracle", "scripted"),
        ({"model": "gpt-4o"}, "tool-calling", "scripted"),
        ({"model": "local/smol", "user_model": "gpt-4o"}, "structured", "llm"),
        ({"model": "gpt-4o", "agent_strategy": "act", "user_strategy": "human"}, "act", "human"),
    ],
)
def test_who_plays_where_nobody_says(fields: dict[str, Any], agent: str, user: str) -> None:
    config = check_config(fields)
    assert (config.agent_strategy, config.user_strategy) == (agent, user)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"num_trials": 0}, "--num-trials should be greater than or equal to 1, not 0"),
        ({"transport": "pigeon"}, "--transport should be 'auto' or 'litellm', not 'pigeon'"),
        ({"agent_options": ["x"]}, "--agent-option takes NAME=VALUE, not 'x'"),
        ({"num_trails": 2}, "Unknown option 'num_trails'. Did you mean 'num_trials'"),
    ],
)
def test_what_is_wrong_is_told_in_a_line(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as told:
        check_config(fields)
    assert words in str(told.value)


def test_a_stored_evaluation_of_an_earlier_version_loads() -> None:
    config = check_evaluation_config(
        {
            "workflow": "app.py:answer",
            "workflow_model": "m",
            "test_set": "questions@1",
            "evaluators": ["exact_match"],
            "treat_as": None,
            "parameters": {"tone": "kind"},
            "inputs": ["question"],
            "said": "question",
            "row_limit": 3,
            "user_strategy": None,
            "gates": ["exact_match>=0.9"],
        }
    )
    assert (config.model, config.input_columns, config.message) == ("m", ["question"], "question")
    assert (config.rows, config.user_strategy) == (3, "scripted")
    assert config.parameters == {"tone": "kind"}


def test_a_stored_run_of_an_earlier_version_loads() -> None:
    stored = {
        "agent_strategy": "synthetic",
        "agent_options": {"success": "0.5"},
        "env": "retail",
        "data": None,
        "task_ids": [1, 2],
        "shuffle": False,
        "user_strategy": "scripted",
        "prices": None,
    }
    assert check_config(stored).task_ids == [1, 2]


def test_settings_are_checked_and_stored() -> None:
    settings = check_settings("the sample agent", Sample, {"number": "7", "on": "0"})
    assert (settings.number, settings.on) == (7, False)
    assert stored_settings(settings) == {"number": 7, "on": False}
    assert check_settings("the sample agent", Sample, {"old": "7"}).number == 7
    with pytest.raises(UnknownName, match="setting of the sample agent 'numbr'"):
        check_settings("the sample agent", Sample, {"numbr": 1})
    with pytest.raises(InputError, match="The sample agent, setting number: Input should be great"):
        check_settings("the sample agent", Sample, {"number": 0})


def test_what_was_given_is_not_repeated() -> None:
    with pytest.raises(InputError) as told:
        check_settings("the sample agent", Sample, {"number": "hush-hush"})
    assert "hush" not in str(told.value)


def test_paths_are_stored_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "app.py").touch()
    monkeypatch.chdir(tmp_path)
    settings = check_settings("x", Sample, {"file": "notes.txt", "function": "app.py:name"})
    assert stored_settings(settings) == {
        "file": str(tmp_path / "notes.txt"),
        "function": f"{tmp_path}/app.py:name",
    }

    class Plain(BaseModel):
        file: Path

    assert check_settings("x", Plain, {"file": "a"}).file == tmp_path / "a"


def test_roles_are_found_by_their_mark() -> None:
    assert role_models(Sample()) == {}
    assert role_models(Sample(planner="gpt-4o")) == {"planner": "gpt-4o"}


@given(
    number=st.integers(min_value=1),
    on=st.booleans(),
    mode=st.sampled_from(["fast", "slow"]),
)
def test_stored_settings_make_the_same_again(number: int, on: bool, mode: str) -> None:
    settings = check_settings("x", Sample, {"number": number, "on": on, "mode": mode})
    assert check_settings("x", Sample, stored_settings(settings)) == settings


def test_arguments_of_the_standard_library() -> None:
    parser = argparse.ArgumentParser()
    add_arguments(parser, options_of(Sample), defaults={"number": 9})
    assert parser.parse_args([]).number == 9
    given_flags = parser.parse_args(["--number", "4", "--no-on", "--mode", "slow"])
    assert (given_flags.number, given_flags.on, given_flags.mode) == (4, False, "slow")
    assert "A number. (default 9)" in parser.format_help()
