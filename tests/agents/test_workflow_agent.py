"""Chat workflows in the benchmark: played as the built-in strategy plays a model."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from greenroom.benchmark import check_config, play_run, reopen_run, start_run
from greenroom.domains.domain import Domain
from greenroom.errors import InputError
from greenroom.model_server import RunningServer, running_server
from greenroom.store import EpisodeRecord, RunRecord, Store, open_store
from greenroom.workflows import load_workflows
from greenroom.workflows.serve import create_app, running_app

APP = '''
from greenroom import chat_workflow, workflow
from greenroom.workflows import report_usage

@chat_workflow
async def relay(messages: list, tools: list | None = None) -> dict:
    """Passes everything on to a model."""
    import aiohttp
    body = {{"model": "{model}", "messages": messages, "tools": tools}}
    async with aiohttp.ClientSession() as client:
        async with client.post("{base}/chat/completions", json=body) as response:
            answer = await response.json()
    report_usage(prompt_tokens=answer["usage"]["prompt_tokens"], completion_tokens=1, cost=0.5)
    return answer["choices"][0]["message"]

@chat_workflow
async def several(messages: list) -> list:
    return [{{"role": "assistant", "content": "One."}}, {{"role": "assistant", "content": "Two."}}]

@chat_workflow
async def broken(messages: list) -> dict:
    raise RuntimeError("out of order")

@workflow
def shout(text: str) -> str:
    return text.upper()
'''


@pytest.fixture(scope="module")
def server(retail: Domain) -> Any:
    with running_server(retail) as running:
        yield running


def play(store: Store, **fields: Any) -> tuple[RunRecord, list[EpisodeRecord]]:
    config = check_config({"task_ids": [1, 2, 3, 4, 5, 6], **fields})
    run, prepared = start_run(store, config)
    anyio.run(partial(play_run, store, run, prepared))
    return run, sorted(store.runs.results(run.id), key=lambda episode: episode.task_index)


def workflow(address: str, **options: str) -> dict[str, Any]:
    return {"agent_strategy": "workflow", "agent_options": {"workflow": address, **options}}


@pytest.fixture
def app(tmp_path: Path, server: RunningServer) -> Path:
    file = tmp_path / "app.py"
    file.write_text(APP.format(model="oracle", base=server.api_base))
    return file


def test_an_openai_server_gets_the_same_rewards_as_with_the_built_in_strategy(
    server: RunningServer,
):
    store = open_store()
    _, built_in = play(
        store, agent_strategy="tool-calling", model="synthetic-0.5", api_base=server.api_base
    )
    _, own = play(store, **workflow(f"{server.api_base}#synthetic-0.5"))
    assert [e.reward for e in own] == [e.reward for e in built_in]
    assert {e.reward for e in own} == {0.0, 1.0}
    assert [e.steps for e in own] == [e.steps for e in built_in]
    assert all(e.usage["agent"].prompt_tokens > 0 for e in own)


def test_a_declared_workflow_is_given_the_tools_and_its_cost_is_counted(app: Path):
    _, episodes = play(open_store(), **workflow(f"{app}:relay"))
    assert [e.reward for e in episodes] == [1.0] * 6
    for episode in episodes:
        used = episode.usage["agent"]
        assert used.cost == pytest.approx(0.5 * used.calls)
        assert episode.facts["workflow"] == "relay"


def test_of_several_messages_the_last_is_said(app: Path):
    _, episodes = play(open_store(), **workflow(f"{app}:several"), task_ids=[1])
    assert episodes[0].steps[0].action.kwargs == {"content": "Two."}


def test_a_workflow_that_cannot_get_tools_is_marked_or_refused(
    app: Path, caplog: pytest.LogCaptureFixture
):
    _, (episode,) = play(open_store(), **workflow(f"{app}:several"), task_ids=[1])
    assert episode.facts["tools"] == "NOT GIVEN: the workflow has no argument 'tools'"
    assert "plays without the domain's tools" in caplog.text
    with running_app(create_app(*load_workflows(str(app)))) as address:
        _, (episode,) = play(open_store(), **workflow(f"{address}/relay"), task_ids=[1])
        assert (episode.reward, "tools" in episode.facts) == (1.0, False)
        with pytest.raises(InputError, match="declares no input 'tools'"):
            play(open_store(), **workflow(f"{address}/several"), task_ids=[1])


def test_the_policy_can_be_left_out(app: Path, server: RunningServer):
    _, episodes = play(open_store(), **workflow(f"{app}:relay", policy="0"), task_ids=[1])
    assert episodes[0].reward == 1.0
    assert episodes[0].messages is not None
    assert episodes[0].messages[0]["role"] == "system"


def test_a_workflow_that_raises_an_error_has_crashed(app: Path):
    _, (episode,) = play(open_store(), **workflow(f"{app}:broken"), task_ids=[1], max_retries=0)
    assert (episode.outcome, episode.reward, episode.attempts) == ("crashed", 0.0, 1)
    assert "out of order" in (episode.error or "")


def test_a_workflow_that_takes_a_seed_gets_one_for_each_trial(tmp_path: Path):
    file = tmp_path / "seeds.py"
    file.write_text(
        "from greenroom import chat_workflow\n"
        "@chat_workflow(parameters={'seed': 0})\n"
        "def seeded(messages: list, parameters: dict) -> dict:\n"
        "    return {'role': 'assistant', 'content': f'seed {parameters[\"seed\"]}'}\n"
    )
    _, episodes = play(open_store(), **workflow(f"{file}:seeded"), task_ids=[1], num_trials=3)
    said = {episode.steps[0].action.kwargs["content"] for episode in episodes}
    assert said == {f"seed {episode.seed}" for episode in episodes}
    assert len(said) == 3


def test_what_does_not_chat_is_refused_before_anything_is_played(app: Path):
    store = open_store()
    with pytest.raises(InputError, match=r"'shout' .* is not a chat workflow"):
        play(store, **workflow(f"{app}:shout"))


def test_a_workflow_has_to_be_named():
    with pytest.raises(InputError, match="--agent-option workflow="):
        play(open_store(), agent_strategy="workflow")


@pytest.mark.parametrize("text", ["[1]", "{", "x"])
def test_parameters_are_an_object(text: str):
    with pytest.raises(
        InputError,
        match=r"parameters( should be a JSON object|: Input should be a valid dictionary)",
    ):
        play(open_store(), **workflow("http://127.0.0.1:9", parameters=text))


def test_a_run_with_a_workflow_in_a_file_goes_on_from_another_folder(
    app: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    store = open_store()
    monkeypatch.chdir(app.parent)
    run, _ = start_run(store, check_config({"task_ids": [1], **workflow("app.py:relay")}))
    assert run.config["agent_options"] == {"workflow": f"{app}:relay"}
    monkeypatch.chdir("/")
    run, prepared = reopen_run(store, run.name)
    anyio.run(partial(play_run, store, run, prepared))
    assert [episode.outcome for episode in store.runs.results(run.id)] == ["success"]
