"""The environments for verifiers (extra `verifiers`): tasks, an environment and a harness.

verifiers finds what it runs by the name of a module: `greenroom_verifiers` has these classes.

    vf-eval greenroom-verifiers -m gpt-4o-mini --env.taskset.domain retail

The environment speaks for the user. The harness asks the model that verifiers evaluates or trains,
in this process, and calls tools where the episode is: a thousand episodes start no program.
"""

# verifiers pins another version of MCP, so it is in no environment that types are checked in.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

import openai
import verifiers.v1 as vf
from openai import AsyncOpenAI
from pydantic import Field
from verifiers.v1.dialects.chat import message_to_wire
from verifiers.v1.runtimes import ProgramResult

from greenroom.agents.conversation import Unreadable
from greenroom.agents.tool_calls import NOT_MADE, CallTidier, action_of_call
from greenroom.training.env import TrainingEnv, Transition
from greenroom.training.shared import Training
from greenroom.util.characters import writable

REWARD = "reward"
"""The name of the reward on a trace."""
UNUSABLE_LIMIT = 5
"""How many replies in a row, with calls that nobody can read, end an episode: as in a run."""


class GreenroomConfig(vf.TasksetConfig):
    """Which conversations there are."""

    domain: str = "retail"
    """A domain: its name, or file.py:name."""
    tasks: list[int | str] | None = None
    """Only these tasks: places in the split, or ids."""
    user: str | None = None
    """Who the agent talks to; by default llm with a user_model, scripted without."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Further options of Training, such as user_model, user_api_base or task_split."""


class GreenroomData(vf.TaskData):
    """What a task says of itself: its place. The ground truth stays where it is."""

    task: int


class GreenroomTask(vf.Task[GreenroomData, vf.State, vf.TaskConfig]):
    """A conversation with a user about a task."""

    @property
    def key(self) -> str:
        """The domain and the place in the split."""
        return str(self.data.name)


class GreenroomTaskset(vf.Taskset[GreenroomTask, GreenroomConfig]):
    """The tasks of a domain."""

    def __init__(self, config: GreenroomConfig) -> None:
        super().__init__(config)
        # Views of a taskset are copies, and share this.
        self._opened: list[Training] = []

    @property
    def training(self) -> Training:
        """What all episodes share; it is opened when it is first needed."""
        if not self._opened:
            config = self.config
            opened = Training(config.domain, user=config.user, tasks=config.tasks, **config.options)
            self._opened.append(opened)
        return self._opened[0]

    def close(self) -> None:
        """Close the training."""
        while self._opened:
            self._opened.pop().close()

    def load(self) -> Iterator[GreenroomTask]:
        """Each task, with its policy as the system prompt."""
        context = self.training.context
        for index in self.training.tasks:
            policy = context.domain.policy_for(context.domain.task(index, context.split))
            data = GreenroomData(
                name=f"{context.domain.name}#{index}", system_prompt=policy, task=index
            )
            yield GreenroomTask(data, self.config.task)


class GreenroomHarnessConfig(vf.HarnessConfig):
    """The harness has no settings of its own."""


class GreenroomHarness(vf.Harness[GreenroomHarnessConfig]):
    """Asks the model with the tools of the domain, until it says something to the user."""

    APPENDS_SYSTEM_PROMPT: ClassVar[bool] = True
    SUPPORTS_RESUME: ClassVar[bool] = True
    EXECUTES_CODE: ClassVar[bool] = False
    NEEDS_CONTAINER: ClassVar[bool] = False

    async def session(
        self,
        ctx: Any,
        trace: Any,
        runtime: Any,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: Any,
        tool_interception_url: str | None = None,
    ) -> vf.HarnessSession:
        """One conversation, which is kept between the user's turns."""
        return _Conversation(
            self, ctx, trace, runtime, endpoint, secret, mcp_urls, data, tool_interception_url
        )

    async def launch(self, *_: Any, **__: Any) -> ProgramResult:
        """Never called: a session does the work."""
        raise NotImplementedError("The harness plays in sessions.")


class GreenroomEnvConfig(vf.EnvConfig):
    """Who plays: by default the harness of this module, in this process."""

    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class GreenroomEnv(vf.Env[GreenroomEnvConfig]):
    """Plays an episode: the user speaks, the agent answers, until the user stops."""

    def __init__(self, config: GreenroomEnvConfig) -> None:
        super().__init__(config)
        self._trials: Counter[int] = Counter()

    async def run(self, task: Any, agents: Any) -> None:
        """One episode; the reward is recorded on the agent's trace."""
        index = task.data.task
        trial = self._trials[index]
        self._trials[index] += 1
        with TrainingEnv(self.taskset.training) as env:
            _, info = await env.reset_async(options={"task": index, "trial": trial})
            async with agents.agent.interaction(task) as interaction:
                played = _PLAYED[interaction.trace.id] = _Played(env, info["seed"])
                try:
                    await _talk(interaction, played, info["messages"])
                finally:
                    del _PLAYED[interaction.trace.id]
                trace, last = interaction.trace, played.last
                if last is not None and last.truncated:
                    trace.stop("max_turns")
                # The conversation is scored and told when this block ends.
                trace.record_reward(REWARD, 0.0 if last is None else last.reward)
                ended = None if last is None else last.info.get("outcome")
                trace.info["outcome"] = ended or "invalid"

    async def stop(self) -> None:
        """Close what the episodes shared."""
        self.taskset.close()


class _Played:
    """An episode, for the harness of its agent."""

    def __init__(self, env: TrainingEnv, seed: int) -> None:
        self.env = env
        self.seed = seed
        self.said = ""
        self.gave_up = False
        self.last: Transition | None = None

    @property
    def over(self) -> bool:
        return self.last is not None and (self.last.terminated or self.last.truncated)

    async def step(self, action: Any) -> str:
        self.last = await self.env.step_async(action)
        return self.last.observation


_PLAYED: dict[str, _Played] = {}
"""The episodes that are played, by the ids of their traces."""


async def _talk(interaction: Any, played: _Played, opening: list[dict[str, Any]]) -> None:
    heard: Any = opening
    while True:
        segment = await interaction.turn(heard)
        if segment.terminated or played.over or played.gave_up:
            return
        said = {"name": "respond", "arguments": {"content": played.said}}
        heard = await played.step(said)
        if played.over:
            return


class _Conversation(vf.HarnessSession):
    """Asks the model in this process; verifiers records what goes through its endpoint."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._client: Any = AsyncOpenAI(base_url=self.endpoint, api_key=self.secret)
        self._tidy = CallTidier()
        system, _ = self.harness.resolve_prompt(self.data)
        self._messages: list[dict[str, Any]] = []
        if system:
            self._messages.append({"role": "system", "content": system})

    async def _run(self, messages: Any) -> ProgramResult:
        played = _PLAYED.get(self.trace.id)
        if played is None:
            return ProgramResult(1, "", "This harness plays in greenroom's environment alone.")
        self._messages += [message_to_wire(one) for one in messages or ()]
        try:
            await self._until_words(played)
        except openai.OpenAIError as error:
            # Where verifiers refused the question, at a limit, it says so on the trace.
            return ProgramResult(1, "", str(error))
        return ProgramResult(0, "", "")

    async def _until_words(self, played: _Played) -> None:
        played.said = ""
        unusable = 0
        while not played.over:
            if unusable == UNUSABLE_LIMIT:
                played.gave_up = True
                return
            answer = await self._client.chat.completions.create(
                model=self.ctx.model,
                messages=self._messages,
                tools=played.env.tools,
                seed=played.seed,
            )
            reply = answer.choices[0].message.model_dump(exclude_none=True)
            calls = self._tidy(reply.get("tool_calls") or ())
            if calls:
                reply["tool_calls"] = calls
            self._messages.append(reply)
            if not calls:
                played.said = reply.get("content") or ""
                return
            stepped = await self._call(played, calls, writable(reply.get("content") or ""))
            unusable = 0 if stepped else unusable + 1

    async def _call(self, played: _Played, calls: list[dict[str, Any]], aside: str) -> bool:
        """Make the calls; False if none of them can be read."""
        stepped = False
        for call in calls:
            name, arguments = call["function"]["name"], call["function"]["arguments"]
            if played.over:
                told = NOT_MADE
            else:
                try:
                    action = action_of_call(name, arguments)
                except Unreadable as problem:
                    told = f"Error: {problem}"
                else:
                    # What is written along with several calls counts once.
                    action = replace(action, aside="" if stepped else aside, joined=stepped)
                    told = await played.step(action)
                    stepped = True
            self._messages.append({"role": "tool", "tool_call_id": call["id"], "content": told})
        return stepped

    async def close(self) -> None:
        await super().close()
        await self._client.close()


__all__ = [
    "REWARD",
    "GreenroomConfig",
    "GreenroomData",
    "GreenroomEnv",
    "GreenroomEnvConfig",
    "GreenroomHarness",
    "GreenroomHarnessConfig",
    "GreenroomTask",
    "GreenroomTaskset",
]
