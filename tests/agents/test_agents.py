from __future__ import annotations

from pathlib import Path
from statistics import mean

import pytest

from greenroom.agents import find_strategy, strategy_names
from greenroom.agents.replay import load_recordings
from greenroom.agents.synthetic import SyntheticSettings, success_probability
from greenroom.benchmark import Episode, RunConfig, RunContext, play_episode
from greenroom.domains.domain import Domain
from greenroom.domains.environment import Environment
from greenroom.domains.tasks import Action, Task, respond
from greenroom.errors import DataError, InputError, UnknownName
from greenroom.users import ScriptedUser
from tests.agents.result_files import write_results
from tests.domains.small import TASKS, small_domain

pytestmark = pytest.mark.anyio


async def play_all(
    domain: Domain,
    name: str,
    options: dict[str, str] | None = None,
    *,
    split: str = "test",
    trials: int = 1,
) -> list[Episode]:
    config = RunConfig(agent_strategy=name, agent_options=options or {}, task_split=split)
    context = RunContext(domain, find_strategy(name), config)
    return [
        await play_episode(context, index, trial=trial)
        for trial in range(trials)
        for index in range(len(domain.tasks(split)))
    ]


def test_strategies_are_found_by_name() -> None:
    assert {"oracle", "synthetic", "replay"} <= set(strategy_names())
    with pytest.raises(UnknownName, match="Did you mean 'oracle'"):
        find_strategy("oracel")
    with pytest.raises(UnknownName, match="setting of the synthetic agent 'sucess'"):
        find_strategy("synthetic").check({"sucess": "1"})


async def test_the_oracle_solves_everything(retail: Domain) -> None:
    for domain in (small_domain(), retail):
        assert {episode.outcome for episode in await play_all(domain, "oracle")} == {"success"}


async def test_the_oracle_says_the_outputs_before_it_hands_over() -> None:
    handover = Action("transfer_to_human_agents", {"summary": "s"})
    domain = small_domain(Task("x", (handover, Action("light", {"lamp": "hall"})), ("42",)))
    (episode,) = await play_all(domain, "oracle")
    assert episode.reward == 1.0


@pytest.mark.official
@pytest.mark.parametrize(
    ("name", "split", "count"),
    [
        ("retail", "test", 115),
        ("retail", "train", 500),
        ("retail", "dev", 20),
        ("airline", "test", 50),
    ],
)
async def test_the_oracle_solves_the_official_tasks(
    request: pytest.FixtureRequest, name: str, split: str, count: int
) -> None:
    domain: Domain = request.getfixturevalue(f"official_{name}")
    episodes = await play_all(domain, "oracle", split=split)
    assert [episode.outcome for episode in episodes] == ["success"] * count


@pytest.mark.official
async def test_an_agent_that_does_nothing_scores_0_wherever_something_changes(
    official_retail: Domain, official_airline: Domain, retail: Domain
) -> None:
    for domain in (official_retail, official_airline, retail):
        idle = Domain(domain.edition, domain.pack)
        for index in range(len(idle.tasks())):
            environment = Environment(idle, ScriptedUser())
            await environment.reset(index)
            await environment.step(respond("Goodbye."))
            assert environment.reward is not None
            wants_nothing = not (idle.ground_truth(index).changes or idle.task(index).outputs)
            assert environment.reward.value == float(wants_nothing)


async def test_the_synthetic_agent_fails_whenever_it_means_to(retail: Domain) -> None:
    for domain in (small_domain(), retail):
        episodes = await play_all(domain, "synthetic", {"success": "0"}, trials=4)
        assert all(episode.reward == 0.0 for episode in episodes)
        episodes = await play_all(domain, "synthetic", {"success": "1"})
        assert all(episode.reward == 1.0 for episode in episodes)


@pytest.mark.official
async def test_it_can_fail_any_official_task(
    official_retail: Domain, official_airline: Domain
) -> None:
    for domain in (official_retail, official_airline):
        episodes = await play_all(domain, "synthetic", {"success": "0"}, trials=3)
        assert all(episode.reward == 0.0 for episode in episodes)


async def test_it_succeeds_as_often_as_it_is_told_to(retail: Domain) -> None:
    episodes = await play_all(retail, "synthetic", {"success": "0.7"}, trials=20)
    share = mean(episode.reward or 0.0 for episode in episodes)
    # 1,920 draws: five standard errors are 0.052.
    assert abs(share - 0.7) < 0.052


async def test_its_outcomes_are_a_function_of_seed_task_and_trial(retail: Domain) -> None:
    strategy = find_strategy("synthetic")

    async def outcomes(seed: int) -> list[float | None]:
        context = RunContext(retail, strategy, RunConfig(seed=seed))
        return [
            (await play_episode(context, index, trial=trial)).reward
            for trial in (1, 0)
            for index in range(30)
        ]

    assert await outcomes(1) == await outcomes(1)
    assert await outcomes(1) != await outcomes(2)


def test_the_chance_of_each_task_is_known() -> None:
    assert success_probability(SyntheticSettings(success=0.3), 1, 7) == 0.3
    spread = SyntheticSettings(success=0.6, spread=0.3)
    chances = [success_probability(spread, 1, task) for task in range(4000)]
    assert len(set(chances)) > 3900
    assert abs(mean(chances) - 0.6) < 0.03
    assert chances[5] == success_probability(spread, 1, 5)
    all_or_nothing = SyntheticSettings(success=0.5, spread=1)
    assert {success_probability(all_or_nothing, 1, task) for task in range(50)} == {0.0, 1.0}


@pytest.mark.parametrize("value", ["1.2", "-0.1", "often", "nan"])
def test_a_chance_is_a_number_from_0_to_1(value: str) -> None:
    with pytest.raises(
        InputError,
        match="The synthetic agent, setting success: Input should be",
    ):
        find_strategy("synthetic").check({"success": value})


async def test_a_recording_plays_again(tmp_path: Path) -> None:
    path = write_results(tmp_path)
    domain = small_domain(TASKS[0])
    options = {"file": str(path)}
    strategy = find_strategy("replay")
    context = RunContext(domain, strategy, RunConfig(agent_options=options))
    episode = await play_episode(context, 0)
    assert episode.opening == "Hello."
    assert [step.observation for step in episode.steps] == [
        "Which?",
        '{"lit": true, "watts": 5}',
        "Thanks ###STOP###",
    ]
    assert episode.reward == 1.0
    with pytest.raises(DataError, match="no episode of task 0, trial 5"):
        await play_episode(context, 0, trial=5)


def test_a_recording_must_be_named_and_be_one(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--agent-option file="):
        find_strategy("replay").check()
    path = tmp_path / "odd.json"
    path.write_text('[{"task_id": 1}]')
    with pytest.raises(DataError, match=r"is not a Tau Bench result file: 0\.reward"):
        load_recordings(path)


def test_actions_written_as_text_are_read_too(tmp_path: Path) -> None:
    path = write_results(tmp_path, protocol="react")
    (episode,) = load_recordings(path)
    assert [Action(step.name, step.kwargs) for step in episode.steps] == [
        respond("Which lamp?"),
        Action("light", {"lamp": "hall"}),
        respond("no JSON at all"),
    ]
    assert episode.steps[1].observation == '{"lit": true, "watts": 5}'
    assert episode.user_lines == ["Which?", "Thanks ###STOP###"]


def test_only_calls_that_ran_are_read(tmp_path: Path) -> None:
    path = write_results(tmp_path, protocol="parallel")
    (episode,) = load_recordings(path)
    assert [step.name for step in episode.steps] == ["light", "light", "light"]
    assert [step.kwargs for step in episode.steps] == [{"lamp": "a"}, {"lamp": "b"}, {}]
    assert [step.observation for step in episode.steps] == ["1", "2", None]
