"""The environments for OpenEnv (extra `openenv`): a server, and a client for it.

    from greenroom.training.openenv_env import create_app

    app = create_app("retail")  # uvicorn app:app

    with ConversationClient(base_url="http://127.0.0.1:8000").sync() as env:
        result = env.reset(seed=7)
        result = env.step(ConversationAction(message="How can I help?"))

Each session, which is a connection by WebSocket, has an environment of its own. All share a domain,
models and a budget.
"""

# OpenEnv pins other versions than ours, so it is in no environment that types are checked in.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

from functools import partial
from typing import Any, Self
from uuid import uuid4

from openenv.core import EnvClient
from openenv.core.client_types import StepResult
from openenv.core.env_server import Action, Environment, Observation, State
from openenv.core.env_server import create_app as create_openenv_app
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from greenroom._version import __version__
from greenroom.training.env import TrainingEnv
from greenroom.training.shared import Training

try:
    from openenv.core.env_server.types import EnvironmentMetadata
except ImportError:  # pragma: no cover - where another version keeps it
    from openenv.core.env_server.interfaces import EnvironmentMetadata

MAX_SESSIONS = 1000
"""How many sessions a server has at once."""


class ConversationAction(Action):
    """Words for the user, or a call of a tool: one of both."""

    message: str | None = Field(default=None, description="What the user should read.")
    name: str | None = Field(default=None, description="The tool to call.")
    arguments: dict[str, Any] = Field(default_factory=dict, description="The tool's arguments.")

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.message is None) == (self.name is None):
            # OpenEnv writes errors as JSON, which those with an exception within are not.
            raise PydanticCustomError(
                "one_of_both", "give a message for the user, or a tool's name"
            )
        return self


class ConversationObservation(Observation):
    """What came of an action. Its `reward` and `done` are OpenEnv's."""

    text: str = Field(default="", description="What the user said, or what the tool answered.")
    source: str = Field(default="user", description="Who answered: user, or the tool's name.")
    failed: bool = Field(default=False, description="Whether the call failed.")
    truncated: bool = Field(default=False, description="Whether the steps have run out.")
    outcome: str | None = Field(default=None, description="How the episode ended, once it has.")
    policy: str | None = Field(default=None, description="After a reset: the agent's policy.")
    tools: list[dict[str, Any]] | None = Field(
        default=None, description="After a reset: the schemas of the tools."
    )
    messages: list[dict[str, Any]] | None = Field(
        default=None, description="After a reset: how the conversation begins."
    )


class ConversationState(State):
    """The state that OpenEnv shows: nothing of the task but its place."""

    task: int | None = None


class OpenEnvironment(Environment):
    """One session's environment."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, training: Training) -> None:
        super().__init__()
        self._env = TrainingEnv(training)
        self._state = ConversationState()

    async def reset_async(
        self, seed: int | None = None, episode_id: str | None = None, **options: Any
    ) -> ConversationObservation:
        """Begin an episode; `task` and `trial` name one."""
        given = {name: one for name, one in options.items() if one is not None}
        text, info = await self._env.reset_async(seed=seed, options=given)
        self._state = ConversationState(
            episode_id=episode_id or uuid4().hex, step_count=0, task=info["task"]
        )
        return ConversationObservation(
            text=text,
            policy=self._env.policy,
            tools=self._env.tools,
            messages=info["messages"],
        )

    async def step_async(
        self, action: ConversationAction, timeout_s: float | None = None, **_: Any
    ) -> ConversationObservation:
        """Say something to the user, or call a tool."""
        call = {"name": action.name, "arguments": action.arguments}
        spoken = {"name": "respond", "arguments": {"content": action.message}}
        step = await self._env.step_async(call if action.message is None else spoken)
        self._state.step_count += 1
        return ConversationObservation(
            text=step.observation,
            source=step.info["source"],
            failed=step.info["failed"],
            outcome=step.info.get("outcome"),
            reward=step.reward,
            done=step.terminated or step.truncated,
            truncated=step.truncated,
        )

    def reset(self, seed: int | None = None, episode_id: str | None = None, **options: Any) -> Any:
        """The same for code without an event loop."""
        return self._env.training.call(self.reset_async, seed, episode_id, **options)

    def step(self, action: Any, timeout_s: float | None = None, **_: Any) -> Any:
        """The same for code without an event loop."""
        return self._env.training.call(self.step_async, action, timeout_s)

    @property
    def state(self) -> ConversationState:
        """The episode's id, its steps, and the place of its task."""
        return self._state

    def get_metadata(self) -> EnvironmentMetadata:
        """What the server tells about itself."""
        domain = self._env.training.context.domain.name
        about = f"Conversations with simulated users in the domain {domain}."
        return EnvironmentMetadata(
            name=f"greenroom-{domain}", description=about, version=__version__
        )

    def close(self) -> None:
        """Forget the episode; the training stays open for other sessions."""
        self._env.close()


def create_app(env: Any = "retail", *, max_sessions: int = MAX_SESSIONS, **options: Any) -> Any:
    """An OpenEnv server of a domain, an ASGI application; the arguments are those of Training."""
    training = env if isinstance(env, Training) else Training(env, **options)
    return create_openenv_app(
        partial(OpenEnvironment, training),
        ConversationAction,
        ConversationObservation,
        env_name=f"greenroom-{training.context.domain.name}",
        max_concurrent_envs=max_sessions,
    )


class ConversationClient(EnvClient):
    """OpenEnv's client with these actions and observations; `.sync()` for code without a loop."""

    def _step_payload(self, action: ConversationAction) -> dict[str, Any]:
        return action.model_dump(exclude_none=True)

    def _parse_result(self, payload: dict[str, Any]) -> StepResult:
        reward, done = payload.get("reward"), bool(payload.get("done"))
        observation = ConversationObservation(
            **(payload.get("observation") or {}), reward=reward, done=done
        )
        return StepResult(observation=observation, reward=reward, done=done)

    def _parse_state(self, payload: dict[str, Any]) -> ConversationState:
        return ConversationState.model_validate(payload)


__all__ = [
    "MAX_SESSIONS",
    "ConversationAction",
    "ConversationClient",
    "ConversationObservation",
    "ConversationState",
    "OpenEnvironment",
    "create_app",
]
