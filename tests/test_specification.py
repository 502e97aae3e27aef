"""The page of requirements: what it names exists, and what it says holds.

Every requirement names test functions, which show it by what happens. Each of them fails if the
code that its row names is broken. What has no better place is shown here.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from greenroom.benchmark.config import check_config
from greenroom.cli import tau_bench_run
from tests.broken_code import modules_of
from tests.conftest import ROOT, WHOLLY_SLOW
from tests.specification_page import ROWS, Row
from tests.specification_plugin import REPORT

_FUNCTION = re.compile(r"^ *(?:async )?def (\w+)", re.MULTILINE)


@cache
def places_of_tests() -> dict[str, list[Path]]:
    """The files with a test of each name."""
    found: dict[str, list[Path]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for name in _FUNCTION.findall(path.read_text()):
            found.setdefault(name, []).append(path.relative_to(ROOT / "tests"))
    return found


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.requirement[:40])
def test_a_requirement_names_its_place_and_the_tests_that_show_it(row: Row):
    assert row.requirement
    assert row.places, "no module is named"
    for place in row.places:
        assert modules_of(place), place
    assert row.tests, "no test is named"
    for test in row.tests:
        assert len(places_of_tests().get(test, [])) == 1, f"{test}: none, or several"


def test_no_requirement_has_two_rows():
    assert [one for one, rows in Counter(row.requirement for row in ROWS).items() if rows > 1] == []


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_what_shows_a_requirement_fails_without_the_code_of_it(tmp_path: Path):
    report = tmp_path / "report.json"
    places = {name: str(places_of_tests()[name][0]) for row in ROWS for name in row.tests}
    # Tests of wholly slow modules take too long to be played twice.
    names = {name for name, file in places.items() if file not in WHOLLY_SLOW}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-o", "timeout=180"]
    command += ["-p", "tests.specification_plugin", "-k", " or ".join(sorted(names))]
    files = sorted({f"tests/{places[name]}" for name in names})
    environment = {**os.environ, REPORT: str(report)}
    done = subprocess.run(
        [*command, *files], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert report.is_file(), done.stdout + done.stderr
    played = json.loads(report.read_text())
    wrong = [
        f"{row.requirement}: {test} {outcomes or 'was not played'}"
        for row in ROWS
        for test in row.tests
        if test in names
        for outcomes in [played.get(row.requirement, {}).get(test, [])]
        if not {"failed", "skipped"} & set(outcomes)
    ]
    assert wrong == []


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
