"""Rewinding is exact: the same world, the same observations, the same questions to the model."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from greenroom.agents import find_strategy
from greenroom.benchmark import check_config, episode_record, play_episode, prepare_run
from greenroom.benchmark.rewind import find_point, history_of, open_at, turn_starts
from greenroom.domains.domain import Domain, load_domain
from greenroom.domains.environment import Environment
from greenroom.domains.tasks import Action
from greenroom.domains.world import Changes
from greenroom.reports.tau_bench import read_tau_bench
from greenroom.store import EpisodeRecord, RunRecord
from greenroom.trajectories import NOTICE
from greenroom.users import ScriptedUser
from tests.benchmark.rewinding import FORMS, Played, chatty, played, played_on

RETAIL = load_domain("retail")

PLAIN = ["act", "react", "structured", "tool-calling"]

episodes = st.tuples(
    st.just(RETAIL),
    st.sampled_from(PLAIN),
    st.integers(0, 9),
    st.integers(0, 10_000),
)


def steps_told(messages: list[dict[str, Any]]) -> int:
    """How many steps an agent's conversation tells about."""
    unreadable = ("Error: the arguments are not a JSON object", NOTICE)
    return sum(
        not str(message["content"]).startswith(unreadable)
        for before, message in pairwise(messages)
        if message["role"] == "tool" or (message["role"], before["role"]) == ("user", "assistant")
    )


async def world_after(domain: Domain, before: Played, steps: int) -> str:
    """The hash of the world after so many steps, played on an environment of its own."""
    replies = [s.observation for s in before.record.steps[:steps] if s.action.name == "respond"]
    user = ScriptedUser(replies, opening=before.record.opening)
    environment = Environment(domain, user, max_steps=1000)
    await environment.reset(before.record.task_index)
    for step in before.record.steps[:steps]:
        await environment.step(Action(step.action.name, step.action.kwargs))
    return environment.world.hash()


RUN = RunRecord.model_construct(id="r", name="r")


@pytest.mark.slow
@given(episodes)
@settings(max_examples=40, deadline=None)
def test_every_step_of_an_episode_opens_with_its_world(
    drawn: tuple[Domain, str, int, int],
) -> None:
    domain, strategy, task, seed = drawn

    async def check() -> None:
        before = await played(domain, find_strategy(strategy), task, seed)
        over = len(before.record.steps)
        for step in range(1, over + 1):
            point = find_point(RUN, before.record, step=step)
            rewound = await open_at(domain, before.record, point, split="test", max_steps=30)
            assert rewound.differences == ()
            assert rewound.environment.world.hash() == await world_after(domain, before, step - 1)
            observed = [one.observation for one in rewound.environment.steps]
            assert observed == [one.observation for one in before.record.steps[: step - 1]]
            assert point.turn == before.record.steps[step - 1].turn

    anyio.run(check)


@pytest.mark.slow
@given(episodes)
@settings(max_examples=40, deadline=None)
def test_an_agent_goes_on_as_if_it_had_never_stopped(
    drawn: tuple[Domain, str, int, int],
) -> None:
    domain, strategy, task, seed = drawn

    async def check() -> None:
        before = await played(domain, find_strategy(strategy), task, seed)
        for start in turn_starts(before.record):
            if start >= 12:
                continue
            after = await played_on(before, start)
            # At the beginning of a turn the agent is asked, and it is asked what it was asked.
            questions = before.model.asked[-len(after.model.asked) :]
            assert after.model.asked == questions
            assert after.episode.messages == before.episode.messages
            assert after.record.steps == before.record.steps
            assert (after.record.outcome, after.world) == (before.record.outcome, before.world)

    anyio.run(check)


@pytest.mark.slow
@given(episodes)
@settings(max_examples=40, deadline=None)
def test_between_calls_that_were_made_at_once_the_others_are_left_out(
    drawn: tuple[Domain, str, int, int],
) -> None:
    domain, strategy, task, seed = drawn

    async def check() -> None:
        before = await played(domain, find_strategy(strategy), task, seed)
        for steps in range(len(before.record.steps)):
            after = await played_on(before, steps, seed=seed + 1)
            assert after.record.steps[:steps] == before.record.steps[:steps]
            if after.model.asked:
                told = after.model.asked[0]
                assert steps_told(told) == steps
                calls = sum(len(one.get("tool_calls") or []) for one in told)
                assert calls == sum(one["role"] == "tool" for one in told)

    anyio.run(check)


@given(episodes, st.sampled_from(PLAIN))
@settings(max_examples=30, deadline=None)
def test_another_agent_takes_over_with_the_conversation_in_its_own_form(
    drawn: tuple[Domain, str, int, int], other: str
) -> None:
    domain, strategy, task, seed = drawn

    async def check() -> None:
        before = await played(domain, find_strategy(strategy), task, seed)
        model = replace(before.model, form=FORMS[other])
        before.context = replace(before.context, strategy=find_strategy(other))
        before.model = model
        for start in turn_starts(before.record):
            if start >= 12:
                continue
            after = await played_on(before, start, own=False)
            assert after.record.steps[:start] == before.record.steps[:start]
            assert after.record.outcome != "crashed"

    anyio.run(check)


def test_the_turns_of_an_episode() -> None:
    before = anyio.run(played, RETAIL, find_strategy("tool-calling"), 5, 3)
    starts = turn_starts(before.record)
    assert starts[0] == 0
    for number, start in enumerate(starts, start=1):
        point = find_point(RUN, before.record, turn=number)
        assert (point.turn, point.steps) == (number, start)
    for wrong in (0, -1, len(starts) + 1):
        with pytest.raises(Exception, match="its turns are"):
            find_point(RUN, before.record, turn=wrong)


@pytest.mark.official
@pytest.mark.parametrize("env", ["airline", "retail"])
def test_published_episodes_open_at_every_turn(env: str, official_data: Path) -> None:
    """Their data has changed since: what differs is told, and the world is right."""
    name = {"airline": "gpt-4o-airline", "retail": "gpt-4.1-mini-retail"}[env]
    domain = load_domain(env, official_data)
    writing = [tool for tool in domain.tools if domain.tools[tool].writes]
    file = official_data / f"trajectories/{name}.json"
    episodes = read_tau_bench(file, write_tools=writing)[::9]

    async def check() -> int:
        opened = 0
        for episode in episodes:
            worlds = await worlds_of(domain, episode)
            for turn, start in enumerate(turn_starts(episode), start=1):
                point = find_point(RUN, episode, turn=turn)
                rewound = await open_at(domain, episode, point, split="test", max_steps=100)
                changes = rewound.environment.world.changes()
                assert (point.steps, changes) == (start, worlds[start])
                assert len(rewound.differences) <= start
                opened += 1
        return opened

    assert anyio.run(check) > len(episodes)


async def worlds_of(domain: Domain, episode: EpisodeRecord) -> list[Changes]:
    """What had changed in the world before each step, and after the last."""
    replies = [s.observation for s in episode.steps if s.action.name == "respond"]
    environment = Environment(domain, ScriptedUser(replies), max_steps=1000)
    await environment.reset(episode.task_index)
    found = [environment.world.changes()]
    for step in episode.steps:
        if environment.over:
            break
        await environment.step(Action(step.action.name, step.action.kwargs))
        found.append(environment.world.changes())
    return found


def test_a_few_shot_agent_keeps_its_examples(tmp_path: Path) -> None:
    file = tmp_path / "shots.jsonl"
    file.write_text("".join(f'{{"messages_display": "Example {n}"}}\n' for n in range(40)))
    options = {"few_shot_displays_path": str(file), "num_few_shots": 3}
    strategy = find_strategy("few-shot")

    async def check() -> None:
        before = await played(RETAIL, strategy, 5, 4, options=options)
        for start in turn_starts(before.record)[:3]:
            after = await played_on(before, start, trial=7)
            assert after.record.seed != before.record.seed
            assert after.model.asked[0] == before.model.asked[-len(after.model.asked)]

    anyio.run(check)


def test_a_chat_function_takes_over(tmp_path: Path) -> None:
    file = tmp_path / "clerk.py"
    file.write_text(
        "def clerk(messages, tools=None):\n"
        "    said = sum(m['role'] == 'assistant' for m in messages)\n"
        "    return {'role': 'assistant', 'content': f'Answer {said} of {len(messages)}'}\n"
    )
    config = check_config({"agent_strategy": f"{file}:clerk", "max_num_steps": 6})
    prepared = replace(prepare_run(config), user_strategy=chatty(1))

    async def check() -> None:
        async with prepared.opened() as context:
            episode = await play_episode(context, 5)
            record = episode_record(context.domain, episode, split="test")
            for steps in range(len(record.steps)):
                history = history_of(record, steps, own=True)
                after = await play_episode(replace(context, history=history), 5, trial=3)
                assert [one.action for one in after.steps] == [one.action for one in episode.steps]

    anyio.run(check)
