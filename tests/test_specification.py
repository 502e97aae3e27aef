"""The page of requirements: what it names exists, and what it says holds.

Every requirement names test functions, which show it by what happens. What has no better place is
shown here.
"""

from __future__ import annotations

import importlib
import re
from functools import cache

import pytest

from greenroom.benchmark.config import check_config
from greenroom.cli import tau_bench_run
from tests.conftest import ROOT

PAGE = ROOT / "docs/specification.md"
ROWS = [
    line
    for line in PAGE.read_text().splitlines()
    if line.startswith("| ") and not line.startswith(("| ---", "| Requirement"))
]


@cache
def names_of_tests() -> set[str]:
    texts = (path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    return {name for text in texts for name in re.findall(r"def (test_\w+)\(", text)}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[2:40])
def test_a_requirement_names_its_place_and_the_tests_that_show_it(row: str):
    _, requirement, where, shown, _ = re.split(r"(?<!\\)\|", row)
    assert requirement.strip()
    places = [one for one in re.findall(r"`([^`]+)`", where) if not one.startswith("--")]
    assert places or "](" in where, "no module is named"
    for place in places:
        assert next((ROOT / "src/greenroom").glob(place.rstrip("/")), None), place
    tests = re.findall(r"`([^`]+)`", shown)
    assert tests, "no test is named"
    assert set(tests) <= names_of_tests()


def test_there_are_requirements_of_both_specifications():
    assert len(ROWS) > 40


def test_every_flag_that_the_specification_names_is_taken():
    words = (
        "--agent-strategy fastworkflow --env retail --model m --model-provider p --user-model u "
        "--user-model-provider p --user-strategy llm --max-concurrency 3 --task-ids 1,2,3 "
        "--temperature 0.5 --max-steps 9 --use-reasoning false --clear-cache false "
        "--bridge decision-only --workflow-path here --max-retries 3 --log-dir results"
    )
    flags = vars(tau_bench_run.parse(words.split()))
    assert (flags.pop("log_dir"), flags.pop("clear_cache")) == ("results", "false")
    config = check_config({name: value for name, value in flags.items() if value is not None})
    assert (config.model_provider, config.max_num_steps, config.max_retries) == ("p", 9, 3)
    assert (config.task_ids, config.temperature, config.max_concurrency) == ([1, 2, 3], 0.5, 3)
    assert config.agent_options == {
        "use_reasoning": "false",
        "bridge": "decision-only",
        "workflow_path": "here",
    }
    assert vars(tau_bench_run.parse(["--provider", "openai"]))["model_provider"] == "openai"


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("fastworkflow_adapter", {"FastWorkflowAgent", "strategy"}),
        ("fastworkflow_bridge", {"install_bridge", "set_step_callback", "render_obs_for_agent"}),
        ("fastworkflow_tool_map", {"ToolMap"}),
    ],
)
def test_the_modules_of_the_specification_have_its_names(module: str, names: set[str]):
    found = importlib.import_module(f"greenroom.agents.fastworkflow.{module}")
    assert names <= set(dir(found))
