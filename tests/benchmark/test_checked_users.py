"""Runs and evaluations whose users are checked: what agents hear, and what is counted."""

from __future__ import annotations

import io
import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import anyio
import pytest
from aiohttp import web
from rich.console import Console

from greenroom import chat_workflow
from greenroom.agents import Stage
from greenroom.benchmark import check_config, play_run, reopen_run, start_run
from greenroom.benchmark.rewind_runs import start_rewind
from greenroom.domains import respond
from greenroom.domains.tasks import STOP
from greenroom.reports.build import build_report
from greenroom.reports.console import print_report
from greenroom.reports.html import render_html
from greenroom.reports.json_report import parse_report
from greenroom.reports.markdown import render_markdown
from greenroom.reports.report import EvaluationReport, RunReport
from greenroom.reports.tau_bench import read_tau_bench, tau_bench_rows, write_tau_bench
from greenroom.store import EpisodeRecord, Store, open_store
from tests.evaluation.evaluating import evaluated
from tests.models.stub_server import StubServer, answer_body, running_stub

pytestmark = pytest.mark.anyio

INVENTED, CORRECTED = "It is order #W0000001.", "I need help with an order."
TALLIES = {"drafts": {"checked": 4.0}, "drafts written anew": {"invented_fact": 1.0}}


class Asker:
    """An agent that asks twice."""

    async def play(self, stage: Stage) -> None:
        await stage.step(respond("Tell me more, please."))
        await stage.step(respond("I see. That is all done. Anything else?"))


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def kept() -> Any:
    store = open_store()
    yield store
    store.close()


def played(body: dict[str, Any], *, corrects: bool) -> str:
    """What the user's model says: at first it invents an order."""
    messages = body["messages"]
    if "Verdict: accept or reject" in messages[0]["content"]:
        return "Reason: fine\nVerdict: accept"
    last = messages[-1]["content"]
    if "all done" in last:
        return STOP
    if len(messages) > 3:
        return "There is no more to tell."
    return CORRECTED if corrects and "[A direction for you" in last else INVENTED


async def stubbed(corrects: bool) -> AsyncGenerator[StubServer]:
    async with running_stub() as stub:

        async def reply(request: web.Request) -> web.StreamResponse:
            return web.json_response(
                answer_body(played(await request.json(), corrects=corrects), usage=None)
            )

        stub.replies = [reply]
        yield stub


@pytest.fixture
async def model() -> AsyncGenerator[StubServer]:
    async for stub in stubbed(corrects=True):
        yield stub


@pytest.fixture
async def stubborn() -> AsyncGenerator[StubServer]:
    async for stub in stubbed(corrects=False):
        yield stub


def config(model: StubServer, **changes: Any) -> Any:
    fields: dict[str, Any] = {
        "agent_strategy": f"{__file__}:Asker",
        "user_strategy": "verify",
        "user_model": "user",
        "user_api_base": model.api_base,
        "end_index": 1,
    }
    return check_config(fields | changes)


async def run_of(store: Store, model: StubServer, **changes: Any) -> str:
    run, context = start_run(store, config(model, **changes))
    await play_run(store, run, context)
    return run.name


def episodes(store: Store, name: str) -> list[EpisodeRecord]:
    return list(store.runs.results(store.runs.find(name).id))


def report_of(store: Store, name: str) -> RunReport:
    return build_report(store, store.runs.find(name))


@pytest.mark.parametrize("user", ["verify", "reflection"])
async def test_agents_hear_the_corrected_message(kept: Store, model: StubServer, user: str) -> None:
    name = await run_of(kept, model, user_strategy=user)
    (episode,) = episodes(kept, name)
    assert episode.opening == CORRECTED
    assert episode.user_tallies == TALLIES
    assert episode.tallies == {}
    # Three messages, each with its review, and one more draft.
    assert episode.usage["user"].calls == len(model.asked) == 7
    assert kept.runs.find(name).config["user_options"] == {"checks": True}


async def test_every_form_of_the_report_shows_what_the_user_counted(
    kept: Store, stubborn: StubServer, tmp_path: Path
) -> None:
    name = await run_of(kept, stubborn, num_trials=2)
    (first, second) = episodes(kept, name)
    assert first.opening == second.opening == INVENTED
    report = report_of(kept, name)
    assert report.user_tallies == {
        "drafts": {"checked": 10.0},
        "drafts written anew": {"invented_fact": 4.0},
        "messages sent with a fault": {"invented_fact": 2.0},
    }
    assert report.agent_tallies == {}
    out = io.StringIO()
    print_report(report, Console(file=out, width=110))
    for text in (out.getvalue(), render_markdown(report), render_html(report)):
        assert "What the user counted" in text
        assert "messages sent with a fault" in text
        assert "Invented a fact" in text
        assert "What the agent counted" not in text
    again = parse_report(report.model_dump_json())
    assert again.user_tallies == report.user_tallies
    rows = tau_bench_rows(kept.runs.find(name), [first])
    write_tau_bench(tmp_path / "rows.json", rows)
    (read,) = read_tau_bench(tmp_path / "rows.json", write_tools=[])
    assert read.user_tallies == first.user_tallies


async def test_without_checks_it_is_as_it_was(kept: Store, model: StubServer) -> None:
    name = await run_of(kept, model, user_options={"checks": "false"})
    (episode,) = episodes(kept, name)
    assert (episode.opening, episode.user_tallies) == (INVENTED, {})
    assert episode.usage["user"].calls == 6
    assert kept.runs.find(name).config["user_options"] == {"checks": False}
    assert "What the user counted" not in render_markdown(report_of(kept, name))


async def test_a_run_that_goes_on_is_counted_as_one(kept: Store, model: StubServer) -> None:
    whole = await run_of(kept, model, num_trials=2, seed=3)
    run, context = start_run(kept, config(model, num_trials=2, seed=3))
    first, _ = episodes(kept, whole)
    kept.runs.add(run.id, [first])
    run, context = reopen_run(kept, run.name)
    await play_run(kept, run, context)
    for one, other in zip(episodes(kept, run.name), episodes(kept, whole), strict=True):
        assert (one.opening, one.steps) == (other.opening, other.steps)
        assert one.user_tallies == other.user_tallies
    assert report_of(kept, run.name).user_tallies == report_of(kept, whole).user_tallies


async def test_a_trial_from_a_turn_counts_what_its_own_user_drafts(
    kept: Store, model: StubServer
) -> None:
    name = await run_of(kept, model)
    started = await anyio.to_thread.run_sync(lambda: start_rewind(kept, name, 0, turn=2))
    await play_run(kept, started.run, started.context)
    (after,) = episodes(kept, started.run.name)
    assert after.opening == CORRECTED
    assert set(after.user_tallies) == {"drafts"}
    assert started.run.config["user_options"] == {"checks": True}


def test_an_episode_of_an_earlier_version_is_read() -> None:
    text = json.loads(EpisodeRecord.model_validate_json(OLD).model_dump_json())
    assert text["user_tallies"] == {}


OLD = json.dumps(
    {
        "task_index": 0,
        "trial": 0,
        "outcome": "success",
        "reward": 1.0,
        "task": {"instruction": "x", "user_id": "", "actions": [], "outputs": []},
        "started_at": "2025-01-01T00:00:00Z",
        "tallies": {"a": {"b": 1.0}},
    }
)


async def test_evaluations_with_simulated_users_count_and_show_the_same(
    kept: Store, model: StubServer
) -> None:
    heard: list[str] = []

    @chat_workflow(name="desk")
    def desk(messages: list[dict[str, Any]]) -> dict[str, Any]:
        heard.append(messages[-1]["content"])
        words = "Tell me more, please." if len(messages) < 2 else "It is all done."
        return {"role": "assistant", "content": words}

    def evaluate() -> Any:
        user = {"user_strategy": "verify", "user_model": "user", "user_api_base": model.api_base}
        return evaluated(kept, desk, [{"goal": "You want help."}], "role_order", **user)

    found = await anyio.to_thread.run_sync(evaluate)
    (result,) = found.results()
    assert heard == [CORRECTED, "There is no more to tell."]
    assert result.user_tallies == TALLIES
    evaluation = next(iter(kept.evaluations.all()))
    assert evaluation.config["user_options"] == {"checks": True}
    report = build_report(kept, evaluation)
    assert report.user_tallies == result.user_tallies
    assert "What the user counted" in render_markdown(report)
    again = parse_report(report.model_dump_json(), EvaluationReport)
    assert again.user_tallies == report.user_tallies
