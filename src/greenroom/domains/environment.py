"""The environment of an episode: reset, step until it is over, then read the reward."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from greenroom.domains.editions import DONE, MAX_STEPS
from greenroom.domains.packs import DEFAULT_SPLIT
from greenroom.domains.past import agent_is_next
from greenroom.domains.reward import Reward, score
from greenroom.domains.steps import Step, Trajectory, UserCall
from greenroom.domains.tasks import RESPOND, Action
from greenroom.errors import EpisodeOver
from greenroom.tracing import names, spans

if TYPE_CHECKING:
    from greenroom.domains.domain import Domain
    from greenroom.domains.tasks import Task
    from greenroom.domains.tools import ToolInfo, ToolResult
    from greenroom.domains.world import World
    from greenroom.domains.worlds import Worlds


class SimulatedUser(Protocol):
    """The user that the agent talks to.

    A user who acts has a method `equip(tools: UserTools)`, too. It is called before `open` in a
    domain that gives users tools; a task may offer none of them. One who can join a conversation
    has `take_over(instruction, opening, exchanges)`. It takes the place of `open`, with an empty
    opening, where a task's history ends with the user's message.
    """

    async def open(self, instruction: str) -> str:
        """Begin a conversation about the instruction; return the user's first message."""
        ...

    async def reply(self, content: str) -> str:
        """Answer what the agent said; STOP anywhere in the answer ends the conversation."""
        ...


class UserTools:
    """The user's side of an environment: the tools that they may call before they answer."""

    __slots__ = ("_call", "infos", "past")

    def __init__(
        self,
        infos: list[ToolInfo],
        call: Callable[[Action], UserCall],
        past: Sequence[tuple[UserCall, ...]] = (),
    ) -> None:
        self.infos = infos
        """The schemas of the tools that the user is told about."""
        self.past = past
        """For a user who takes over: what was called before each message of the user."""
        self._call = call

    async def call(self, name: str, arguments: Mapping[str, Any], *, joined: bool = False) -> str:
        """Call a tool; return the observation. Raises EpisodeOver if no step is left.

        `joined` says that the call stands in the same message as the one before it.
        """
        return self._call(Action(name, arguments, party="user", joined=joined)).observation


class Environment:
    """A domain with a simulated user, for one episode at a time.

    `step` reports an agent's mistakes in the observation, as Tau Bench does. When the episode is
    done, `reward` holds its score; an episode that runs out of steps has none and counts as 0.
    """

    def __init__(
        self,
        domain: Domain,
        user: SimulatedUser,
        *,
        split: str = DEFAULT_SPLIT,
        max_steps: int | None = None,
    ) -> None:
        self.domain = domain
        self.user = user
        self.split = split
        self.max_steps = domain.edition.max_steps if max_steps is None else max_steps
        self.task_index = -1
        self.task: Task | None = None
        self.worlds: Worlds = domain.worlds()
        self.opening = ""
        self.opening_calls: tuple[UserCall, ...] = ()
        self.steps: list[Step] = []
        self.done = False
        self.reward: Reward | None = None
        self._acted: list[UserCall] = []

    @property
    def world(self) -> World:
        """The agent's world."""
        return self.worlds.agent

    @property
    def policy(self) -> str:
        """The policy that the agent follows in this episode."""
        return self.domain.policy if self.task is None else self.domain.policy_for(self.task)

    @property
    def over(self) -> bool:
        """No further step is possible: the conversation has ended or the steps have run out."""
        return self.done or self.used_steps >= self.max_steps or self.too_many_errors

    @property
    def used_steps(self) -> int:
        """How many steps have been taken, as the edition counts them."""
        if not self.domain.edition.counts_messages:
            return len(self.steps)
        # The calls of a message are one step, and their results are one. What the agent says and
        # the answer are one each. An agent that works alone speaks first, and nothing answers
        # when it ends the episode.
        solo = self.domain.edition.solo
        opened = bool(self.opening) and not solo
        ended = solo and bool(self.steps) and self.steps[-1].action.name == DONE
        return opened - ended + 2 * self._message_count

    @property
    def too_many_errors(self) -> bool:
        """So many calls of either party failed that the episode ends."""
        most = self.domain.edition.max_errors
        return most is not None and self.error_count >= most

    @property
    def error_count(self) -> int:
        """How many calls of either party failed."""
        # It is asked several times a step, so it makes no trajectory.
        made = [*self.opening_calls, *self.steps, *self._acted]
        nested = [call for step in self.steps for call in step.user_calls]
        return sum([call.failed for call in made]) + sum([call.failed for call in nested])

    @property
    def pending_calls(self) -> tuple[UserCall, ...]:
        """What the user did since the last message."""
        return tuple(self._acted)

    @property
    def _message_count(self) -> int:
        """How many messages of the agent, and of the user with calls, there are so far."""
        made = [*self.opening_calls, *self.steps, *self._acted]
        nested = [call for step in self.steps for call in step.user_calls]
        return sum([not one.action.joined for one in (*made, *nested)])

    @property
    def trajectory(self) -> Trajectory:
        """The episode so far."""
        return Trajectory(self.opening, self.opening_calls, tuple(self.steps))

    async def reset(self, task_index: int) -> str:
        """Begin an episode of a task; return the user's first message.

        It is empty where the task's history ends so that the agent speaks next.
        """
        self.task = self.domain.task(task_index, self.split)
        self.task_index = task_index
        self.worlds = self.domain.worlds(self.task)
        self.opening, self.opening_calls = "", ()
        self.steps = []
        self.done = False
        self.reward = None
        self._acted = []
        if self.domain.edition.solo:
            self.opening = self.domain.brief(self.task)
            return self.opening
        self.equip_user(self.task)
        take_over = getattr(self.user, "take_over", None)
        if agent_is_next(self.task) and take_over is not None:
            # The user has spoken, and hears the agent next.
            done = take_over(self.task.instruction, "", [])
            if inspect.isawaitable(done):
                await done
            return ""
        # A user who acts until the steps are used up never comes to speak.
        with suppress(EpisodeOver):
            self.opening = await self.user.open(self.task.instruction)
        self.opening_calls = self._taken()
        return self.opening

    def equip_user(self, task: Task, past: Sequence[tuple[UserCall, ...]] = ()) -> None:
        """Give the user the tools of a task; `past` is what they called so far."""
        infos = self.domain.user_tool_infos(task)
        equip = getattr(self.user, "equip", None)
        edition = self.domain.edition
        if edition.user_tools is None or edition.solo or equip is None:
            return
        worlds = self.worlds

        def call(action: Action) -> UserCall:
            if self.worlds is not worlds:
                raise EpisodeOver("The user calls a tool of an episode that is over.")
            return self._call_of_user(action)

        equip(UserTools(infos, call, past))

    async def step(self, action: Action) -> Step:
        """Carry out one action of the agent."""
        if self.task is None:
            raise EpisodeOver("Reset the environment before its first step.")
        self._check_open()
        if action.party != "agent":  # whatever an agent says, these are its own calls
            action = replace(action, party="agent")
        if action.name == RESPOND:
            step = await self._respond(action)
        elif action.name == DONE and self.domain.edition.solo:
            step = Step(action, "", DONE, done=True)
        else:
            tool = self.domain.tools.get(action.name)
            result = self._called(action)
            ends = tool is not None and tool.ends_episode
            step = Step(
                action, result.observation, action.name, ends, result.problem, result.failed
            )
            if result.failed:
                self._sync()
        self.steps.append(step)
        if step.done and not (self.domain.edition.counts_messages and self.over):
            self.done = True
            self.reward = self._graded(self.task)
        return step

    def _graded(self, task: Task) -> Reward:
        domain, grade = self.domain, self.domain.edition.grade
        if grade is not None:
            return grade(domain, self.task_index, self.split, self.trajectory, self.worlds)
        truth = domain.ground_truth(self.task_index, self.split)
        return score(domain, task, truth, self.worlds, self.trajectory)

    def _check_open(self) -> None:
        if not self.over:
            return
        if self.done:
            reason = "it is done"
        elif self.too_many_errors:
            reason = f"{self.error_count} calls failed"
        else:
            reason = f"its {self.max_steps} steps are used up"
        raise EpisodeOver(f"The episode of task {self.task_index} is over: {reason}.")

    def _call_of_user(self, action: Action) -> UserCall:
        self._check_open()
        result = self._called(action)
        if result.failed:
            self._sync()
        call = UserCall(action, result.observation, result.problem, result.failed)
        self._acted.append(call)
        return call

    def _sync(self) -> None:
        # A rule that fails was told as the result of the call.
        with suppress(Exception):
            self.domain.sync(self.worlds)

    def _called(self, action: Action) -> ToolResult:
        """What a tool answers."""
        # An environment that nobody traces, such as one that works out a plan, makes no traces.
        if spans.active is None or not spans.active.within():
            return self.domain.call(self.worlds, action)
        attributes = {
            names.OPERATION: "execute_tool",
            names.TOOL: action.name,
            names.TOOL_TYPE: "function",
            names.PARTY: action.party,
        }
        with spans.opened(f"execute_tool {action.name}", attributes) as span:
            result = self.domain.call(self.worlds, action)
            span.set({names.TOOL_FAILED: result.failed})
            if spans.active.captures:
                arguments = spans.content(dict(action.kwargs))
                span.set({names.TOOL_ARGUMENTS: arguments, names.TOOL_RESULT: result.observation})
            return result

    def _taken(self) -> tuple[UserCall, ...]:
        """What the user did since the last message."""
        taken, self._acted = tuple(self._acted), []
        return taken

    async def _respond(self, action: Action) -> Step:
        content = action.kwargs.get("content")
        if not isinstance(content, str):
            text = "Error: respond needs the argument 'content', a text."
            return Step(action, text, "user", done=False, invalid=text)
        if self.domain.edition.solo:
            text = f"Error: nobody is there to answer. Call a tool, or {DONE} to end."
            return Step(action, text, "user", done=False, invalid=text)
        try:
            reply = await self.user.reply(content)
        except EpisodeOver:  # raised by a call of the user when no step was left
            return Step(action, "", "user", done=False, user_calls=self._taken())
        stops = self.domain.edition.stops(reply)
        return Step(action, reply, "user", done=stops, user_calls=self._taken())


__all__ = ["MAX_STEPS", "Environment", "SimulatedUser", "Step", "UserCall", "UserTools"]
