from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest

from greenroom.model_server import running_server
from greenroom.store import open_store
from tests.cli.running import Greenroom
from tests.domains.small import small_domain

APP = """\
from pathlib import Path
import time

from greenroom import chat_workflow, workflow
from greenroom.errors import OutsideFault
from greenroom.workflows import report_usage

CAPITALS = {"France": "Paris", "Italy": "Rome"}


@chat_workflow(parameters={"unknown": "I do not know."})
def capitals(messages, parameters):
    text = messages[-1]["content"]
    if Path("down").exists() and "Peru" in text:
        raise OutsideFault("no atlas at hand")
    found = next((city for land, city in CAPITALS.items() if land in text), None)
    return {"role": "assistant", "content": found or parameters["unknown"]}


@workflow
def slow(n: int) -> int:
    if n > 3:
        Path("ready").touch()
        time.sleep(0.2)
    return n


@workflow
def dear(n: int) -> int:
    report_usage(cost=0.5)
    return n
"""
ROWS = """\
question,expected
What is the capital of France?,Paris
What is the capital of Italy?,Rome
What is the capital of Peru?,Lima
"""
COMMAND = "from greenroom.cli import main; main()"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with an app and a test set, which the commands are run in."""
    found = tmp_path / "project"
    found.mkdir()
    monkeypatch.chdir(found)
    (found / "app.py").write_text(APP)
    (found / "cities.csv").write_text(ROWS)
    numbers = "".join(f"{json.dumps({'n': n, 'expected': n})}\n" for n in range(8))
    (found / "numbers.jsonl").write_text(numbers)
    return found


CITIES = ("eval", "app.py:capitals", "cities.csv", "-e", "exact_match")


def test_a_workflow_is_evaluated_and_every_result_can_be_looked_at(greenroom: Greenroom) -> None:
    done = greenroom(*CITIES, "--name", "cities")
    assert done.status == 0, done.err
    lines = done.out.splitlines()
    assert lines[:4] == [
        "cities",
        "67 % pass exact_match; 3 of 3 calls answered",
        "Chat workflow: app.py:capitals",
        "Test set: cities@1, 3 rows",
    ]
    assert re.search(r"exact_match +0\.667", done.out)
    assert "    asked What is the capital of Peru?" in lines
    assert "row 3, exact_match: not equal from character 1 on" in done.out
    assert "    compared I do not know." in lines
    assert "    against Lima" in lines
    assert "cities: 3/3 (exact_match 0.67)" in done.err

    row = greenroom("evals", "show", "cities", "--row", 3)
    assert row.out.splitlines()[:8] == [
        "cities, row 3",
        "question: What is the capital of Peru?",
        "expected: Lima",
        'Output: {"role":"assistant","content":"I do not know."}',
        "exact_match: 0, not passed",
        "    compared: I do not know.",
        "    against: Lima",
        "    reason: not equal from character 1 on",
    ]
    as_json = greenroom("evals", "show", "cities", "--row", 1, "--json").json
    assert as_json["row"]["expected"] == "Paris"
    assert as_json["results"][0]["row"] == 1
    assert as_json["results"][0]["scores"]["exact_match"]["compared"] == "Paris"
    shown = greenroom("evals", "show", "cities", "--failures", 0)
    assert "What did not pass" not in shown.out
    assert re.search(r"exact_match +0\.667", shown.out)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--row", 4), "There is no row 4: 'cities' has 3"),
        (("--row", 1, "--repeat", 2), "was given 1 times"),
        (("--repeat", 1), "--repeat goes with --row"),
    ],
)
def test_rows_that_there_are_not(
    greenroom: Greenroom, arguments: tuple[object, ...], words: str
) -> None:
    greenroom(*CITIES, "--name", "cities")
    result = greenroom("evals", "show", "cities", *arguments)
    assert result.status == 2
    assert words in result.err


def test_results_as_json(greenroom: Greenroom) -> None:
    done = greenroom(*CITIES, "-e", "any=contains:values=Paris", "--repeats", 2, "--json")
    assert done.status == 0
    assert done.err == ""
    found = done.json
    assert found["evaluation"]["test_set"] == "cities@1"
    assert found["evaluation"]["planned"] == 6
    exact, some = found["figures"]["evaluators"]
    assert exact["mean"]["value"] == pytest.approx(2 / 3)
    assert some["alias"] == "any"
    assert found["figures"]["cost"] is None
    assert found["gates"] == []


@pytest.mark.slow
def test_gates_set_the_exit_status(greenroom: Greenroom) -> None:
    gates = ("--gate", "exact_match>=0.9", "--gate", "errors<=0")
    near = greenroom(*CITIES, *gates, "--name", "near")
    assert near.status == 0
    assert "Gate INCONCLUSIVE exact_match>=0.9: exact_match.mean is 0.667" in near.out
    strict = greenroom(*CITIES, *gates, "--strict", "--json")
    assert strict.status == 1
    assert [gate["passed"] for gate in strict.json["gates"]] == [False, True]
    far = greenroom(*CITIES, "--gate", "exact_match>=0.999")
    assert far.status == 1
    assert "Gate FAILED exact_match>=0.999" in far.out

    assert greenroom("evals", "check", "near").status == 0
    assert greenroom("evals", "check", "near", "--strict").status == 1
    assert greenroom("evals", "check", "near", "--gate", "passed<=0.01").status == 1
    assert greenroom("evals", "show", "near").status == 0


def test_junit_xml_is_written(greenroom: Greenroom, folder: Path) -> None:
    wanted = (*CITIES, "--gate", "errors<=0", "--junit", "out/junit.xml", "--name", "cities")
    refused = greenroom(*wanted)
    assert (refused.status, "There is no directory out" in refused.err) == (2, True)
    assert greenroom("evals", "list", "--json").json == [], "told before the work"
    (folder / "out").mkdir()
    greenroom(*wanted)
    results, gates = ElementTree.parse(folder / "out/junit.xml").getroot()
    assert (results.attrib["tests"], results.attrib["failures"]) == ("3", "1")
    assert gates.attrib["tests"] == "1"
    exported = greenroom("evals", "export", "cities", "--format", "junit").out
    assert exported == (folder / "out/junit.xml").read_text()


def test_exports(greenroom: Greenroom, folder: Path) -> None:
    greenroom(*CITIES, "--repeats", 2, "--name", "cities")
    everything = greenroom("evals", "export", "cities").json
    assert [(one["row"], one["repeat"]) for one in everything["results"]] == [
        (row, repeat) for row in (1, 2, 3) for repeat in (1, 2)
    ]
    assert everything["results"][4]["inputs"]["expected"] == "Lima"
    lines = greenroom("evals", "export", "cities", "--format", "jsonl").out.splitlines()
    assert [json.loads(line) for line in lines] == everything["results"]
    written = greenroom("evals", "export", "cities", "--format", "markdown", "-o", "e.md")
    assert written.out == "Wrote e.md\n"
    page = (folder / "e.md").read_text().replace("\\_", "_")
    assert "| exact_match | 0.667 |" in page
    assert "- row 3, repeat 1: **exact_match.** not equal from character 1 on" in page
    assert "  - against: Lima" in page
    written = greenroom("evals", "export", "cities", "-o", "e.csv")
    assert (written.status, len((folder / "e.csv").read_text().splitlines())) == (0, 7)
    assert "cannot be printed" in greenroom("evals", "export", "cities", "--format", "parquet").err


@pytest.mark.slow
def test_evaluations_are_compared_row_by_row(greenroom: Greenroom, folder: Path) -> None:
    rows = "".join(f"What is the capital of France {n}?,Paris\n" for n in range(12))
    (folder / "many.csv").write_text(f"question,expected\n{rows}")
    many = ("eval", "app.py:capitals", "many.csv", "-e", "exact_match", "--json")
    greenroom(*many, "--name", "before")
    (folder / "app.py").write_text(APP.replace("Paris", "Lyon"))
    greenroom(*many, "--name", "after")
    shown = greenroom("compare", "before", "after", "--fail-on-regression")
    assert shown.status == 1
    assert shown.out.startswith("after is worse than before: exact_match 0.00 against 1.00")
    assert "after: 12 broke, 0 healed" in shown.out
    better = greenroom("compare", "after", "before", "--fail-on-regression", "--json")
    assert (better.status, better.json["comparisons"][0]["verdict"]) == (0, "better")
    greenroom(*CITIES, "--name", "cities")
    other = greenroom("compare", "before", "cities")
    assert (other.status, "their rows cannot be paired" in other.err) == (2, True)
    greenroom("run", "--end-index", 1, "--name", "played")
    mixed = greenroom("compare", "before", "played")
    assert (mixed.status, "is a run and" in mixed.err) == (2, True)


def test_slices_of_evaluations(greenroom: Greenroom) -> None:
    greenroom(*CITIES, "--name", "cities")
    shown = greenroom("evals", "show", "cities", "--by", "expected")
    assert "By expected" in shown.out
    assert "Unknown column 'colour'" in greenroom("evals", "show", "cities", "--by", "colour").err


def test_evaluations_are_listed_and_deleted(greenroom: Greenroom) -> None:
    assert "No evaluations yet" in greenroom("evals", "list").out
    greenroom(*CITIES, "--name", "cities")
    (listed,) = greenroom("evals", "list", "--json").json
    assert (listed["name"], listed["finished"], listed["planned"]) == ("cities", 3, 3)
    assert "cities@1" in greenroom("evals", "list").out
    assert greenroom("evals", "delete", "cities", "--yes").out == "Deleted cities\n"
    assert greenroom("evals", "list", "--json").json == []
    assert greenroom("testset", "list", "--json").json[0]["name"] == "cities"
    assert greenroom("evals", "show", "cities").status == 2


def test_errors_are_told_apart_and_made_good(greenroom: Greenroom, folder: Path) -> None:
    (folder / "down").touch()
    gate = ("--gate", "errors<=0", "--gate", "exact_match>=0.9")
    broken = greenroom(*CITIES, "--max-retries", 0, "--name", "cities", *gate)
    assert broken.status == 1
    assert "2 of 3 calls answered, 1 error" in broken.out
    assert "1 call without an answer: OutsideFault: no atlas at hand" in broken.out
    assert re.search(r"exact_match +1\.000", broken.out)
    assert "Make them again: greenroom evals resume cities" in broken.out
    assert "Error: OutsideFault: no atlas" in greenroom("evals", "show", "cities", "--row", 3).out

    (folder / "down").unlink()
    mended = greenroom("evals", "resume", "cities", "--junit", "j.xml")
    assert mended.status == 0, mended.out
    assert "3 of 3 calls answered" in mended.out
    assert "Gate passed errors<=0" in mended.out, "its gates are kept with it"
    assert (folder / "j.xml").exists()


def test_a_crash_of_the_workflow_scores_0_and_is_told(greenroom: Greenroom, folder: Path) -> None:
    app = folder / "crashing.py"
    app.write_text(
        "from greenroom import chat_workflow\n"
        "@chat_workflow\n"
        "def capitals(messages):\n"
        "    if 'Peru' in messages[-1]['content']:\n"
        "        raise KeyError('Peru')\n"
        "    return {'role': 'assistant', 'content': 'Paris'}\n"
    )
    shown = greenroom("eval", f"{app}:capitals", *CITIES[2:], "--name", "crashing")
    assert shown.status == 0
    assert "2 of 3 calls answered, 1 crashed" in shown.out
    assert "The workflow raised an error in 1 call, which score 0: KeyError: 'Peru'" in shown.out
    strict = greenroom("evals", "check", "crashing", "--gate", "exact_match>=0.6", "--strict")
    assert strict.status == 1
    assert greenroom("evals", "list", "--json").json[0]["status"] == "complete"


def test_nothing_answered_is_no_success(greenroom: Greenroom, folder: Path) -> None:
    away = greenroom("eval", "http://127.0.0.1:9", *CITIES[2:], "--as", "chat")
    assert away.status != 0
    (folder / "down.py").write_text(
        "from greenroom import chat_workflow\n"
        "from greenroom.errors import OutsideFault\n"
        "@chat_workflow\n"
        "def down(messages):\n"
        "    raise OutsideFault('no atlas')\n"
    )
    nothing = greenroom("eval", f"{folder / 'down.py'}:down", *CITIES[2:], "--max-retries", 0)
    assert nothing.status == 1
    assert "has a result" in nothing.err


def test_an_evaluation_goes_on_from_another_directory(
    greenroom: Greenroom, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "down").touch()
    greenroom(*CITIES, "--max-retries", 0, "--name", "cities")
    monkeypatch.chdir(tmp_path)
    assert greenroom("evals", "resume", "cities").status == 0
    assert open_store().evaluations.find("cities").status == "complete"


@pytest.mark.slow
def test_ctrl_c_ends_cleanly_and_says_how_to_go_on(greenroom: Greenroom, folder: Path) -> None:
    arguments = ("eval", "app.py:slow", "numbers.jsonl", "-e", "exact_match", "--name", "long")
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, *arguments, "--max-concurrency", "1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not (folder / "ready").exists() and process.poll() is None:
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert "of 8 calls are finished and stored. Go on with: greenroom evals resume long" in err
    assert "Traceback" not in err
    evaluation = open_store().evaluations.find("long")
    assert evaluation.status == "interrupted"
    assert 0 < len(open_store().evaluations.finished(evaluation.id)) < 8
    assert greenroom("evals", "resume", "long").status == 0
    assert open_store().evaluations.find("long").status == "complete"


def test_a_spent_budget_is_resumable(greenroom: Greenroom) -> None:
    dear = ("eval", "app.py:dear", "numbers.jsonl", "-e", "exact_match", "--name", "dear")
    spent = greenroom(*dear, "--max-cost", 1, "--max-concurrency", 1)
    assert spent.status == 3
    assert (
        "2 of 8 calls are finished and stored. Go on with: greenroom evals resume dear" in spent.err
    )
    done = greenroom("evals", "resume", "dear", "--max-cost", 10, "--json")
    assert done.status == 0
    assert done.json["figures"]["cost"] == 4.0


def test_parameters_are_read_by_the_workflows_schema(greenroom: Greenroom) -> None:
    greenroom(*CITIES, "--param", "unknown=7", "--name", "seven")
    assert (
        'Output: {"role":"assistant","content":"7"}'
        in greenroom("evals", "show", "seven", "--row", 3).out
    )


def test_simulated_users_and_models_as_workflows(greenroom: Greenroom, folder: Path) -> None:
    (folder / "goals.jsonl").write_text(
        json.dumps({"goal": "Light the hall.", "expected": "One moment"}) + "\n"
    )
    with running_server(small_domain()) as server:
        done = greenroom(
            "eval",
            f"{server.api_base}",
            "goals.jsonl",
            "--model",
            "oracle",
            "--user-model",
            "user",
            "--user-api-base",
            server.api_base,
            "--max-turns",
            2,
            "-e",
            "conversation_length:count=turns,min=2,max=2",
            "--name",
            "talk",
        )
    assert done.status == 0, done.err
    assert "1 of 1 call answered" in done.out
    shown = greenroom("evals", "show", "talk", "--row", 1).out
    assert "    user: Light the hall." in shown
    assert "    user: Yes, please go ahead." in shown


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("eval", "app.py:capitals", "cities.csv"), "Say how outputs are scored"),
        ((*CITIES, "--gate", "exact_mach>=1"), "Did you mean 'exact_match'"),
        (("eval", "app.py:none", "cities.csv", "-e", "exact_match"), "Unknown workflow 'none'"),
        (("eval", "app.py", "cities.csv", "-e", "exact_match"), "There are several workflows"),
        (("eval", "app.py:slow", "cities.csv", "-e", "exact_match"), "'slow' needs n"),
        (("eval", "app.py:capitals", "towns", "-e", "exact_match"), "Unknown test set 'towns'"),
        ((*CITIES, "--repeats", 0), "--repeats should be greater than or equal to 1, not 0"),
        (("evals", "resume", "nothing"), "Unknown evaluation 'nothing'"),
        (("eval", "http://127.0.0.1:9", "cities.csv", "-e", "exact_match"), "Nothing listens at"),
    ],
)
def test_what_is_wrong_is_told_before_anything_is_called(
    greenroom: Greenroom, arguments: tuple[object, ...], words: str
) -> None:
    result = greenroom(*arguments)
    assert result.status == 2
    assert result.err.startswith("error: ")
    assert words in result.err
    assert open_store().evaluations.all() == []


def test_a_name_is_used_once(greenroom: Greenroom) -> None:
    assert greenroom(*CITIES, "--name", "cities").status == 0
    again = greenroom(*CITIES, "--name", "cities")
    assert again.status == 2
    assert "There is an evaluation named 'cities' already" in again.err
