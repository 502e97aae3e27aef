"""Agents as commands: measured as the built-in strategy is, whatever they are written in."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import anyio
import pytest

import greenroom
from greenroom.benchmark import check_config, play_run, reopen_run, start_run
from greenroom.domains.domain import Domain
from greenroom.errors import InputError
from greenroom.model_server import RunningServer, running_server
from greenroom.models import BudgetExhausted
from greenroom.store import EpisodeRecord, RunRecord, Store, open_store
from tests.cli.running import Greenroom

PROGRAMS = Path(__file__).parent / "programs"
PRICES = {
    name: {"input_cost_per_token": 2e-6, "output_cost_per_token": 8e-6}
    for name in ("oracle", "synthetic-0.5", "user")
}


@pytest.fixture(scope="module")
def server(retail: Domain) -> Generator[RunningServer]:
    with running_server(retail) as running:
        yield running


@pytest.fixture
def store() -> Generator[Store]:
    opened = open_store()
    yield opened
    opened.close()


@pytest.fixture
def asking(server: RunningServer, tmp_path: Path) -> dict[str, Any]:
    """A configuration in which both parties ask the scripted models, at known prices."""
    prices = tmp_path / "prices.json"
    prices.write_text(json.dumps(PRICES))
    return {
        "model": "oracle",
        "api_base": server.api_base,
        "user_strategy": "llm",
        "user_model": "user",
        "user_api_base": server.api_base,
        "prices": str(prices),
        "end_index": 3,
    }


def command_of(program: str, *words: str) -> str:
    # Braces are quoted by shlex, which the command undoes.
    return shlex.join([sys.executable, str(PROGRAMS / program), *words])


def command(line: str, **options: Any) -> dict[str, Any]:
    return {"agent_strategy": "command", "agent_options": {"agent_command": line, **options}}


def written(folder: Path, code: str, **options: Any) -> dict[str, Any]:
    """The configuration of a small program in Python."""
    file = folder / "agent_program.py"
    file.write_text(code)
    return command(shlex.join([sys.executable, str(file)]), **options)


def play(store: Store, config: dict[str, Any]) -> tuple[RunRecord, list[EpisodeRecord]]:
    run, prepared = start_run(store, check_config(config))
    anyio.run(play_run, store, run, prepared)
    return run, sorted(store.runs.results(run.id), key=lambda one: one.key)


def seen(episodes: list[EpisodeRecord]) -> list[Any]:
    """All that has to be equal, whichever way a model was asked."""
    return [
        (
            one.outcome,
            one.reward,
            [(step.action.name, step.action.kwargs, step.observation) for step in one.steps],
            # A connection that breaks under load is tried again, and says nothing of the way.
            {
                purse: usage.model_dump(exclude={"retries", "lost_calls"})
                for purse, usage in one.usage.items()
            },
        )
        for one in episodes
    ]


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_twenty_tasks_are_played_alike_in_process_and_by_json_lines(
    store: Store, asking: dict[str, Any]
) -> None:
    asking |= {"model": "synthetic-0.5", "end_index": 20, "max_concurrency": 4}
    _, in_process = play(store, asking | {"agent_strategy": "tool-calling"})
    ways = {
        "lines": command(command_of("relay.py")),
        "lines, and it stops after each message": command(command_of("relay.py", "--stop")),
    }
    assert len(in_process) == 20
    assert {one.outcome for one in in_process} == {"success", "failure"}
    assert all((one.usage["agent"].cost or 0) > 0 for one in in_process)
    for way, fields in ways.items():
        _, episodes = play(store, asking | fields)
        assert seen(episodes) == seen(in_process), way


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize("words", [(), ("--responses",)])
def test_openais_own_package_plays_by_stream_and_by_the_responses_api(
    store: Store, asking: dict[str, Any], words: tuple[str, ...]
) -> None:
    _, in_process = play(store, asking | {"agent_strategy": "tool-calling"})
    _, episodes = play(store, asking | command(command_of("openai_relay.py", *words)))
    assert [one.outcome for one in episodes] == ["success"] * 3
    for one, other in zip(episodes, in_process, strict=True):
        assert [step.action for step in one.steps] == [step.action for step in other.steps]
        assert one.usage["agent"].calls == other.usage["agent"].calls
    if not words:
        assert seen(episodes) == seen(in_process)


# What an agent reports itself


REPORTING = """
import json, sys
for line in sys.stdin:
    if "user" in json.loads(line):
        used = {"prompt_tokens": 10, "completion_tokens": 2, "cost": 0.5}
        print(json.dumps({"usage": used}))
        print(json.dumps({"message": "Hello."}), flush=True)
"""


@pytest.mark.slow
def test_what_an_agent_reports_counts_and_ends_the_run_at_its_budget(
    store: Store, tmp_path: Path
) -> None:
    fields = written(tmp_path, REPORTING) | {"end_index": 4, "max_concurrency": 1}
    run, episodes = play(store, fields)
    assert [one.usage["agent"].cost for one in episodes] == [0.5] * 4
    assert episodes[0].usage["agent"].tokens == 12
    run, prepared = start_run(store, check_config(fields | {"max_cost": 1.0}))
    with pytest.raises(BudgetExhausted):
        anyio.run(play_run, store, run, prepared)
    assert len(list(store.runs.results(run.id))) == 2
    reopened, prepared = reopen_run(store, run.name, {"max_cost": 5.0})
    anyio.run(play_run, store, reopened, prepared)
    assert len(list(store.runs.results(run.id))) == 4


@pytest.mark.slow
def test_progress_says_that_calls_of_unknown_price_come_on_top(
    greenroom: Greenroom, tmp_path: Path
) -> None:
    file = tmp_path / "unpriced.py"
    file.write_text(REPORTING.replace(', "cost": 0.5', ""))
    line = shlex.join([sys.executable, str(file)])
    told = greenroom("run", "--agent-command", line, "--task-ids", 1, "--max-cost", 2)
    assert (told.status, "$0.00 or more of $2.00" in told.err) == (0, True), told.err


@pytest.mark.slow
def test_what_is_reported_after_the_last_message_counts(store: Store, tmp_path: Path) -> None:
    code = REPORTING.replace('print(json.dumps({"usage": used}))', "pass")
    _, episodes = play(
        store,
        written(tmp_path, code + '\nprint(json.dumps({"usage": used}))\n') | {"task_ids": [1]},
    )
    assert episodes[0].usage["agent"].cost == 0.5


async def paying(stage: Any) -> None:
    """An agent with a client of its own, in this process."""
    greenroom.report_usage(prompt_tokens=3, completion_tokens=4, cost=0.25)
    from greenroom.domains import respond

    await stage.step(respond("Hello."))


def test_an_agent_in_this_process_reports_by_report_usage(store: Store) -> None:
    result = greenroom.run(agent=paying, tasks=[1], store=store, show_progress=False)
    usage = next(result.episodes()).usage["agent"]
    assert (usage.calls, usage.tokens, usage.cost) == (1, 7, 0.25)
    assert result.figures.total_cost == 0.25


@pytest.mark.slow
def test_the_cost_of_a_command_that_reports_nothing_is_unknown(
    greenroom: Greenroom, tmp_path: Path
) -> None:
    file = tmp_path / "quiet.py"
    file.write_text(REPORTING.replace('print(json.dumps({"usage": used}))', "pass"))
    line = shlex.join([sys.executable, str(file)])
    told = greenroom("run", "--agent-command", line, "--task-ids", 1, "--json").json
    assert told["metrics"]["total_cost"] is None
    assert told["metrics"]["costs_are_told"] is False
    shown = greenroom("runs", "show", "command-retail-1").out
    (cost,) = [line for line in shown.splitlines() if line.split()[:2] == ["Cost", "unknown"]]
    assert "the agent does not tell what it costs" in cost


# The command line


def test_a_program_that_is_not_there_is_told_before_anything_is_played(
    greenroom: Greenroom, tmp_path: Path
) -> None:
    plain = tmp_path / "agent.txt"
    plain.write_text("not executable")
    for line, why in (
        ("no-such-program --fast", "'no-such-program', was not found"),
        (str(plain), "is not executable"),
        ("'unclosed", "cannot be read"),
        (" ", "is empty"),
        ("cat {task}", "names {task}. It may name {mcp_url}, {model}, {model_base}"),
        ("cat {model_base}", "names {model_base}: name its model by --model"),
    ):
        result = greenroom("run", "--agent-command", line)
        assert result.status == 2, line
        assert why in result.err
        assert result.err.startswith("error: ")
    assert greenroom("runs", "list", "--json").json == []


def test_variables_are_passed_by_name_alone(
    greenroom: Greenroom, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret-of-mine")
    for words, why in (
        (("--agent-env", "NO_SUCH_THING"), "names NO_SUCH_THING, which is not set"),
        (("--agent-env", "A=B"), "without values"),
        (("--agent-env", "OPENAI_API_KEY", "--model", "oracle"), "leads to the run's model"),
    ):
        result = greenroom("run", "--agent-command", "cat", *words)
        assert (result.status, why in result.err) == (2, True), result.err


def test_files_and_folders_of_a_command_are_kept_as_absolute_paths(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "my agent.py").write_text("")
    (tmp_path / "run").mkdir()
    given = "python 'my agent.py' --fast run ./run --at=./run --config='my agent.py' ~/run --no=x ."
    _, prepared = start_run(store, check_config(command(given)))
    kept = prepared.config.agent_options["agent_command"]
    file, folder = tmp_path / "my agent.py", tmp_path / "run"
    assert shlex.split(kept) == [
        *("python", str(file), "--fast", "run", str(folder)),
        *(f"--at={folder}", f"--config={file}", str(folder), "--no=x", str(tmp_path)),
    ]


@pytest.mark.parametrize("agent", ["command", "a2a", "framework"])
def test_a_key_that_the_model_lacks_is_told_before_anything_is_played(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, agent: str
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)

    def never(messages: list[Any], model: Any) -> str:
        raise AssertionError

    fields: dict[str, Any] = {
        "command": {"agent_command": f"touch '{tmp_path / 'played'}'"},
        "a2a": {"agent": "a2a", "agent_options": {"url": "http://127.0.0.1:9"}},
        "framework": {"agent": greenroom.from_callable(never)},
    }[agent]
    with pytest.raises(InputError, match="OpenAI wants a key: set OPENAI_API_KEY"):
        greenroom.run(tasks=[1], model="gpt-4o", store=store, show_progress=False, **fields)
    assert not (tmp_path / "played").exists()


@pytest.mark.slow
def test_several_variables_are_passed_and_all_others_are_not(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, greenroom: Greenroom
) -> None:
    for name in ("FIRST", "SECOND", "THIRD"):
        monkeypatch.setenv(name, f"value-of-{name}")
    monkeypatch.setenv("SHORT", "e")
    monkeypatch.setenv("NO_PROXY", "example.org")
    file = tmp_path / "told.py"
    file.write_text(
        "import os, sys\nprint(*sorted(os.environ), file=sys.stderr)\n"
        "print(os.environ.get('SECOND'), file=sys.stderr)\n"
        "print(os.environ['HOME'] == os.getcwd(), os.environ['NO_PROXY'], file=sys.stderr)\n"
        "print('Hello.')"
    )
    line = shlex.join([sys.executable, str(file)])
    words = ("--agent-env", "FIRST,SHORT,HOME,NO_PROXY", "--agent-env", "SECOND")
    words += ("--agent-protocol", "text")
    assert greenroom("run", "--agent-command", line, *words, "--task-ids", 1).status == 0
    (episode,) = store.runs.results(store.runs.find("command-retail-1").id)
    names, value, places = episode.printed.splitlines()
    # What was named is passed as it is; the episode's addresses are beside the proxies.
    assert places == "False [hidden],127.0.0.1,localhost"
    assert {"FIRST", "SECOND", "HOME", "PATH", "GREENROOM_TURN"} <= set(names.split())
    assert "THIRD" not in names
    assert "OPENAI_AGENTS_DISABLE_TRACING" in names
    assert value == "[hidden]"  # what was passed may be a secret


@pytest.mark.slow
def test_an_interrupted_run_goes_on_with_its_command(store: Store, tmp_path: Path) -> None:
    fields = written(tmp_path, REPORTING) | {"end_index": 3}
    run, prepared = start_run(store, check_config(fields))
    reopened, prepared = reopen_run(store, run.name)
    anyio.run(play_run, store, reopened, prepared)
    assert [one.outcome for one in store.runs.results(run.id)] == ["failure"] * 3


@pytest.mark.slow
def test_a_command_plays_from_python(store: Store, tmp_path: Path) -> None:
    fields = written(tmp_path, REPORTING)["agent_options"]
    result = greenroom.run(tasks=[1], store=store, show_progress=False, **fields)
    assert result.run.agent_strategy == "command"
    assert next(result.episodes()).outcome == "failure"
