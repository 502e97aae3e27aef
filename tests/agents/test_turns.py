"""The harness owns the user's turn."""

from __future__ import annotations

import anyio
import pytest

from greenroom.agents import AgentStrategy, Stage
from greenroom.agents.turns import OutOfTurn, Turns
from greenroom.benchmark import Episode, RunContext, play_episode
from greenroom.domains import Action, respond
from greenroom.domains.domain import Domain
from greenroom.errors import EpisodeOver
from greenroom.models import ModelUnavailable
from greenroom.users import ScriptedUser

THINK = Action("think", {"thought": "Hm."})


class _Agent:
    """Plays by turns, with a function that makes them."""

    def __init__(self, taking: type[_Taker]) -> None:
        self._taking = taking

    async def play(self, stage: Stage) -> None:
        turns = Turns(stage)
        await turns.play(self._taking(turns).take)


class _Taker:
    def __init__(self, turns: Turns) -> None:
        self.turns = turns
        self.heard: list[str] = []
        type(self).last = self

    last: _Taker

    async def take(self, heard: str) -> str | None:
        self.heard.append(heard)
        return await self.answer(heard)

    async def answer(self, heard: str) -> str | None:
        raise NotImplementedError


def played(retail: Domain, taking: type[_Taker], *replies: str, **limits: int) -> Episode:
    strategy = AgentStrategy(
        "turns",
        lambda _: _Agent(taking),
        create_user=lambda _: ScriptedUser([*replies, "Bye. ###STOP###"], opening="Hello."),
    )
    context = RunContext(retail, strategy)
    if limits:
        config = context.config.model_copy(update={"max_num_steps": limits["max_steps"]})
        context = RunContext(retail, strategy, config)
    return anyio.run(play_episode, context, 5)


def test_an_agent_that_stops_after_each_message_hears_the_answer(retail: Domain) -> None:
    class OneMessage(_Taker):
        async def answer(self, heard: str) -> str:
            return f"You said: {heard}"

    episode = played(retail, OneMessage, "My name is Ann.")
    assert OneMessage.last.heard == ["Hello.", "My name is Ann."]
    assert [step.action for step in episode.steps] == [
        respond("You said: Hello."),
        respond("You said: My name is Ann."),
    ]
    assert episode.outcome == "failure"  # it did nothing, but it did not give up
    assert [one["role"] for one in OneMessage.last.turns.messages] == [
        *("user", "assistant", "user", "assistant", "user"),
    ]


def test_tools_are_called_within_a_turn_and_not_outside_of_it(retail: Domain) -> None:
    class Acting(_Taker):
        async def answer(self, heard: str) -> str:
            assert "Hm" not in await self.turns.step(THINK)
            with pytest.raises(OutOfTurn, match="end the turn"):
                await self.turns.step(respond("Hello?"))
            return "Done."

    episode = played(retail, Acting)
    assert [step.action.name for step in episode.steps] == ["think", "respond"]

    async def late() -> None:
        with pytest.raises(OutOfTurn, match="not the agent's turn"):
            await Acting.last.turns.step(THINK)

    anyio.run(late)


def test_calls_at_once_are_made_one_after_the_other(retail: Domain) -> None:
    class Parallel(_Taker):
        async def answer(self, heard: str) -> str:
            async with anyio.create_task_group() as group:
                for _ in range(8):
                    group.start_soon(self.turns.step, THINK)
            return "Done."

    assert len(played(retail, Parallel).steps) == 9


def test_a_turn_ends_when_no_step_is_left(retail: Domain) -> None:
    class Endless(_Taker):
        async def answer(self, heard: str) -> str:
            while True:
                await self.turns.step(THINK)

    episode = played(retail, Endless, max_steps=7)
    assert (episode.outcome, len(episode.steps)) == ("max_steps", 7)


def test_a_tool_that_ends_the_conversation_ends_the_turn(retail: Domain) -> None:
    class Transferring(_Taker):
        async def answer(self, heard: str) -> str:
            await self.turns.step(Action("transfer_to_human_agents", {"summary": "Help."}))
            await anyio.sleep_forever()
            raise AssertionError

    episode = played(retail, Transferring)
    assert [step.action.name for step in episode.steps] == ["transfer_to_human_agents"]
    assert episode.reward is not None


def test_an_agent_that_says_nothing_is_told_and_gives_up_in_the_end(retail: Domain) -> None:
    class Silent(_Taker):
        async def answer(self, heard: str) -> str:
            return " \n"

    episode = played(retail, Silent)
    assert (episode.outcome, episode.steps) == ("invalid", ())
    assert len(Silent.last.heard) == 5
    assert "it was empty" in Silent.last.heard[1]


def test_what_breaks_behind_a_door_ends_the_episode_whatever_the_agent_does(
    retail: Domain,
) -> None:
    class Swallowing(_Taker):
        async def answer(self, heard: str) -> str:
            self.turns.fail(ModelUnavailable("Nobody answers."))
            return "Sorry."

    class Crashing(_Taker):
        async def answer(self, heard: str) -> str:
            self.turns.fail(ModelUnavailable("Nobody answers."))
            raise RuntimeError("no answer")

    for taking in (Swallowing, Crashing):
        episode = played(retail, taking)
        assert episode.outcome == "infrastructure_error"
        assert episode.error == "ModelUnavailable: Nobody answers."


def test_what_breaks_while_the_user_speaks_ends_the_episode_before_the_next_turn(
    retail: Domain,
) -> None:
    class Speaking(_Taker):
        async def answer(self, heard: str) -> str:
            return "One moment."

    class Interrupted(ScriptedUser):
        async def reply(self, content: str) -> str:
            Speaking.last.turns.fail(ModelUnavailable("Nobody answers."))
            return "Go on."

    strategy = AgentStrategy(
        "turns",
        lambda _: _Agent(Speaking),
        create_user=lambda _: Interrupted([], opening="Hello."),
    )
    episode = anyio.run(play_episode, RunContext(retail, strategy), 5)
    assert episode.outcome == "infrastructure_error"
    assert Speaking.last.heard == ["Hello."]


def test_giving_up_is_no_action(retail: Domain) -> None:
    class GivingUp(_Taker):
        async def answer(self, heard: str) -> None:
            return None

    assert played(retail, GivingUp).outcome == "invalid"


def test_the_end_of_the_episode_passes_through(retail: Domain) -> None:
    class Late(_Taker):
        async def answer(self, heard: str) -> str:
            raise EpisodeOver("It is over.")

    assert played(retail, Late).outcome == "invalid"
