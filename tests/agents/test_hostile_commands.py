"""Agent commands that print without end, never answer, fork, spy or ask for what is not theirs."""

from __future__ import annotations

import json
import os
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import anyio
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from greenroom.agents.command.watcher import kill_marked
from greenroom.benchmark import check_config, play_run, start_run
from greenroom.domains.domain import Domain
from greenroom.errors import InputError
from greenroom.model_server import RunningServer, running_server
from greenroom.reports.build import build_report
from greenroom.reports.forms import render
from greenroom.store import EpisodeRecord, Store, open_store
from greenroom.workflows.serve import running_app
from tests.agents.test_command_agent import PROGRAMS

pytestmark = pytest.mark.slow

ROUNDS = 400
"""Looks, 50 ms apart, at what should end soon."""
BRIEF = """
class Brief:
    '''Says nothing of what they want.'''

    async def open(self, instruction):
        return "Hello."

    async def reply(self, content):
        return "Bye. ###STOP###"
"""


@pytest.fixture(scope="module")
def server(retail: Domain) -> Generator[RunningServer]:
    with running_server(retail) as running:
        yield running


@pytest.fixture
def store() -> Generator[Store]:
    opened = open_store()
    yield opened
    opened.close()


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folders of agents are made here, and none is left."""
    place = tmp_path / "folders"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place


def play(store: Store, kind: str, *words: object, **fields: Any) -> list[EpisodeRecord]:
    line = shlex.join([sys.executable, str(PROGRAMS / "hostile.py"), kind, *map(str, words)])
    options = {"agent_command": line, **fields.pop("options", {})}
    config = {"agent_strategy": "command", "agent_options": options, "task_ids": [5]} | fields
    run, prepared = start_run(store, check_config(config))
    anyio.run(play_run, store, run, prepared)
    return sorted(store.runs.results(run.id), key=lambda one: one.key)


def only(episodes: list[EpisodeRecord]) -> EpisodeRecord:
    (episode,) = episodes
    return episode


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("one_line", "a message of more than 1,048,576 bytes"),
        ("many_lines", "not a line of its protocol: "),
        ("many_errors", "printed more than 67,108,864 bytes"),
        ("empty_lines", "printed more than 67,108,864 bytes"),
        ("many_reports", "printed more than 67,108,864 bytes"),
        ("deaf", "left more than 16,777,216 bytes unread"),
    ],
)
def test_a_gigabyte_costs_no_memory(store: Store, kind: str, error: str, own_folders: Path) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    episode = only(play(store, kind))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before  # in kilobytes
    assert episode.outcome == "crashed"
    assert error in (episode.error or "")
    assert len(episode.printed) < 20_000
    assert grown < 100 << 10
    assert list(own_folders.iterdir()) == []


def test_one_that_never_answers_is_out_of_time(store: Store) -> None:
    episode = only(play(store, "silent", options={"turn_seconds": 0.5}))
    assert (episode.outcome, episode.reward) == ("max_time", 0.0)
    episode = only(play(store, "silent", max_episode_seconds=0.5))
    assert episode.outcome == "max_time"


def test_one_that_ends_without_a_word_has_given_up(store: Store) -> None:
    assert only(play(store, "ends")).outcome == "invalid"


def test_a_crash_tells_its_last_lines_without_secrets(store: Store, server: RunningServer) -> None:
    episode = only(play(store, "crash", model="oracle", api_base=server.api_base))
    assert (episode.outcome, episode.reward) == ("crashed", 0.0)
    assert episode.error is not None
    assert "ended with status 1" in episode.error
    assert "RuntimeError: no good: [hidden]" in episode.error
    assert episode.printed.startswith("about to fail\n")
    assert "greenroom-" not in episode.printed.replace("greenroom-agent", "")
    report = build_report(store, store.runs.find("command-retail-1"))
    assert any("no good" in note for note in report.notes)
    page = str(render(report, "html"))
    assert "What the agent printed" in page
    assert "about to fail" in page


def test_one_that_is_killed_has_crashed_and_the_signal_is_told(store: Store) -> None:
    episode = only(play(store, "killed"))
    assert (episode.outcome, episode.reward) == ("crashed", 0.0)
    assert "was ended by SIGKILL" in (episode.error or "")


def test_one_that_has_to_end_is_told_before_it_is_killed(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "told"
    assert only(play(store, "polite", file)).outcome == "failure"
    assert file.read_text() == "ended"


def test_half_a_line_is_none_and_is_kept(store: Store) -> None:
    episode = only(play(store, "half"))
    assert (episode.outcome, episode.steps) == ("invalid", [])
    assert episode.printed == '{"message": "Hel'


def test_an_object_over_several_lines_is_told_at_once(store: Store) -> None:
    episode = only(play(store, "pretty"))
    assert episode.outcome == "crashed"
    assert "each has to be on one line" in (episode.error or "")


@pytest.fixture
def strict() -> Generator[str]:
    """A provider that takes the roles it knows, and no others."""

    async def complete(request: Request) -> Response:
        messages = (await request.json())["messages"]
        if any(one["role"] not in ("system", "user") for one in messages):
            return JSONResponse({"error": {"message": "Invalid role."}}, 400)
        message = {"role": "assistant", "content": "Yes."}
        return JSONResponse({"choices": [{"message": message, "finish_reason": "stop"}]})

    with running_app(Starlette(routes=[Route("/{rest:path}", complete, methods=["POST"])])) as url:
        yield f"{url}/v1"


def test_a_question_that_no_provider_takes_counts_against_the_agent_alone(
    store: Store, strict: str
) -> None:
    asking = {"model": "m", "api_base": strict, "user_strategy": "scripted"}
    # After an answer: the agent is told, and may mend it.
    episode = only(play(store, "sloppy", "user", "robot", "user", **asking))
    assert episode.steps[0].action.kwargs["content"] == "[200, 400, 200]"
    episodes = play(store, "sloppy", "user", "robot", task_ids=[5, 6], **asking)
    assert [one.outcome for one in episodes] == ["crashed"] * 2
    assert "Invalid role." in (episodes[0].error or "")
    # Before any answer, nobody knows whose fault it is.
    with pytest.raises(InputError, match=r"status 400.*Invalid role"):
        play(store, "sloppy", "robot", **asking)


@pytest.mark.parametrize("words", [(), ("end",)])
def test_what_it_forked_ends_with_it(store: Store, tmp_path: Path, words: tuple[str, ...]) -> None:
    told = tmp_path / "pids.json"
    episode = only(play(store, "forks", told, *words))
    assert episode.outcome == "failure"
    for pid in json.loads(told.read_text()):
        assert _ends(pid), f"{pid} still runs"


def test_what_it_forked_ends_with_a_run_that_is_killed(tmp_path: Path, own_folders: Path) -> None:
    told = tmp_path / "pids.json"
    line = shlex.join([sys.executable, str(PROGRAMS / "hostile.py"), "forks", str(told), "hang"])
    start = "from greenroom.cli import main; main()"
    run = subprocess.Popen(
        [sys.executable, "-c", start, "run", "--agent-command", line, "--task-ids", "5"],
        env=os.environ | {"TMPDIR": str(own_folders)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while run.poll() is None and not told.exists():
        time.sleep(0.05)
    assert list(own_folders.iterdir()) != []
    run.kill()
    assert run.wait() == -signal.SIGKILL
    for pid in json.loads(told.read_text()):
        assert _ends(pid), f"{pid} still runs"
    for _ in range(ROUNDS):
        if not list(own_folders.iterdir()):
            break
        time.sleep(0.05)
    assert list(own_folders.iterdir()) == []


def test_what_it_has_left_may_write_to_its_end(store: Store) -> None:
    late = "import sys, time; time.sleep(0.1); print('Hello from the last one.')"
    code = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {late!r}])"
    line = shlex.join([sys.executable, "-c", code])
    options = {"agent_command": line, "agent_protocol": "text", "policy": False}
    episode = only(play(store, "", options=options))
    assert episode.steps[0].action.kwargs["content"] == "Hello from the last one."


def test_a_program_that_the_system_cannot_run_ends_the_run(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "nonsense"
    file.write_text("This is no program.")
    file.chmod(0o755)
    with pytest.raises(InputError, match="nonsense: Exec format error"):
        play(store, "", options={"agent_command": str(file)})


def test_only_processes_with_a_mark_of_ours_are_ever_killed() -> None:
    with pytest.raises(ValueError, match="at least 32 characters"):
        kill_marked("m")


def _ends(pid: int) -> bool:
    for _ in range(ROUNDS):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state in "ZX":  # dead, and nobody has looked yet
            return True
        time.sleep(0.05)
    return False


def test_it_finds_neither_the_task_nor_our_secrets(
    store: Store,
    retail: Domain,
    server: RunningServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MY_SECRET_TOKEN", "not-for-agents")
    monkeypatch.setenv("DATABASE_URL", "postgresql://me:not-for-agents@host/db")
    file = tmp_path / "seen.json"
    user = tmp_path / "brief.py"
    user.write_text(BRIEF)
    fields = {"model": "oracle", "api_base": server.api_base, "user_strategy": str(user)}
    episode = only(play(store, "looks", file, **fields))
    text = file.read_text()
    seen, task = json.loads(text), retail.task(5)
    assert "not-for-agents" not in text
    assert task.instruction not in text
    assert task.user_id not in text
    assert not any(f'"{output}"' in text for output in task.outputs)
    listed = ["result" in one for one in seen["mcp"]]
    assert listed == [True, True, True, False, False, False]
    assert "greenroom://policy" in seen["mcp"][0]
    assert seen["folder"] == seen["around"] == []
    start, said = map(json.loads, seen["lines"])
    assert said == {"user": episode.opening}
    known = {"mcp_url", "messages", "model", "model_base", "policy", "tools"}
    assert set(start["start"]) == known
    expected = {"HOME", "TMPDIR", "PATH", "GREENROOM_MCP_URL", "OPENAI_BASE_URL", "OPENAI_API_KEY"}
    assert expected <= seen["variables"].keys()
    assert seen["variables"]["HOME"] != os.environ["HOME"]


def test_another_model_and_another_episode_are_refused_and_told(
    store: Store, server: RunningServer, tmp_path: Path
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    episodes = play(
        store,
        "elsewhere",
        shared,
        model="oracle",
        api_base=server.api_base,
        num_trials=2,
        max_concurrency=2,
    )
    for episode in episodes:
        refused = json.loads(str(episode.steps[0].action.kwargs["content"]))
        assert refused == [
            [404, "model_not_found"],
            [401, "invalid_api_key"],
            [401, "invalid_api_key"],
            [401, "invalid_api_key"],
        ]
        assert episode.facts["model refused"] == "gpt-5, the run's is oracle"
        assert "agent" not in episode.usage
    report = build_report(store, store.runs.find("command-retail-1"))
    assert any("gpt-5" in fact.value for fact in report.facts)


def test_its_folder_is_removed_whatever_it_did_to_it(store: Store, own_folders: Path) -> None:
    assert only(play(store, "locked")).outcome == "failure"
    assert list(own_folders.iterdir()) == []
    assert Path("/etc/passwd").exists()
