"""What a simulated user says next in a thread.

A user is made anew for each message, and remembers what the thread says. So people can edit the
thread in between, and nothing is lost when the server ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import SystemRandom
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field

from greenroom.benchmark.config import RunConfig
from greenroom.benchmark.context import user_model
from greenroom.benchmark.restoring import restore
from greenroom.benchmark.turns import history_from
from greenroom.domains.domain import load_domain
from greenroom.domains.environment import Environment, SimulatedUser
from greenroom.domains.tasks import STOP
from greenroom.errors import InputError, UnknownName
from greenroom.evaluation.simulated import Brief
from greenroom.messages import text_of
from greenroom.models import Ledger
from greenroom.options import checked
from greenroom.playground.episode_targets import SCHEME as EPISODE
from greenroom.playground.episode_targets import origin_of
from greenroom.playground.worlds import AGENT, Place, place_of
from greenroom.store import Usage
from greenroom.store.thread_records import ThreadRecord
from greenroom.trajectories import SpokenStep, write_conversation
from greenroom.trials import open_models, outside_fault
from greenroom.users import ScriptedUser, UserContext, find_user_strategy, user_strategy_names
from greenroom.users.taking_over import take_over
from greenroom.util.hosts import is_loopback
from greenroom.workflows.calls import called_tools

if TYPE_CHECKING:
    from greenroom.playground.state import Playground

MOST_TURNS = 200
_LONGEST_TEXT = 100_000
_MOST_STEPS = 1_000_000


class SimulateRequest(BaseModel):
    """Who talks to the thread, what they want, and how far to go."""

    model_config = ConfigDict(extra="forbid")

    user_strategy: str | None = None
    """A user of the benchmark: llm, react, verify, reflection, scripted, or an installed one.

    Without it that of the run, for a thread of an episode, or llm."""
    model: str | None = None
    """The user's model; its key is in the environment."""
    model_provider: str | None = None
    api_base: str | None = Field(default=None, max_length=2000)
    """An OpenAI-compatible server on this machine, with its /v1."""
    goal: str = Field(default="", max_length=_LONGEST_TEXT)
    persona: str = Field(default="", max_length=_LONGEST_TEXT)
    env: str | None = None
    """A domain: the user wants what its task says."""
    task: int | None = Field(default=None, ge=0)
    max_turns: int = Field(default=10, ge=1, le=MOST_TURNS)
    steps: Literal[1, "end"] = 1
    """1: what the user would say, to be looked at before it is sent. "end": talk to the end."""


@dataclass(frozen=True)
class Words:
    """What a user says, and whether that is the end."""

    text: str
    stops: bool
    done: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """The messages of what the user did before they spoke, in a domain where users act."""


async def next_words(
    playground: Playground,
    thread: ThreadRecord,
    messages: Sequence[dict[str, Any]],
    request: SimulateRequest,
    used: list[Usage],
) -> Words:
    """What a user says to the last answer of a thread; what it uses is added to `used`."""
    config, instruction, case = await playground.in_store(_brief, playground, thread, request)
    place = await playground.in_store(_place, playground, thread)
    opening, exchanges, last = _conversation(messages)
    strategy = find_user_strategy(config.user_strategy)
    ledger = Ledger()
    try:
        async with open_models(config) as pool:
            model, seed = None, SystemRandom().randrange(1 << 31)
            if strategy.needs_model:
                scope, settings = f"simulated {seed}", user_model(config)
                model = pool.model(settings, "user", ledger, scope=scope, seed=seed)
            own = strategy.check(config.user_options)
            edition = None if place is None else place.domain.edition
            words = (STOP,) if edition is None else edition.stop_words
            greeting = None if edition is None else edition.greeting
            user = strategy.create(
                replace(
                    case,
                    model=model,
                    seed=seed,
                    settings=own,
                    stop_words=words,
                    greeting=greeting,
                    persona=config.user_persona,
                )
            )
            environment = None if place is None else await _equipped(place, user, messages)
            with outside_fault("The simulated user"):
                if opening is None:
                    said = await user.open(instruction)
                else:
                    name, asks = strategy.name, strategy.needs_model
                    await take_over(
                        user, instruction, opening, exchanges, name=name, asks_model=asks
                    )
                    said = await user.reply(last)
    finally:
        used += ledger.usage().values()
    stops, text = any(word in said for word in words), said
    for word in words:
        text = text.replace(word, "")
    done = [] if environment is None else _call_messages(environment, messages)
    return Words(text.strip(), stops, done)


def _place(playground: Playground, thread: ThreadRecord) -> Place | None:
    """Where the user of a thread acts, if its domain gives users tools.

    The world of an agent's session is its own: there only callers act, by /call.
    """
    if thread.address.partition(":")[0] != EPISODE:
        return None
    place = place_of(playground.store, thread)
    return None if place.domain.edition.user_tools is None else place


async def _equipped(
    place: Place, user: SimulatedUser, messages: Sequence[dict[str, Any]]
) -> Environment:
    """The world of a thread, with tools for the user."""
    environment = Environment(
        place.domain, ScriptedUser(), split=place.split, max_steps=_MOST_STEPS
    )
    history = history_from(messages)
    if history.steps and not history.steps[-1].observation:
        history = replace(history, steps=history.steps[:-1])  # it is to be answered
    await restore(environment, place.task_index, history)
    environment.user = user
    environment.equip_user(place.domain.task(place.task_index, place.split), history.user_calls)
    return environment


def _call_messages(
    environment: Environment, messages: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    steps = [
        SpokenStep(call.action.name, dict(call.action.kwargs), call.observation)
        for call in environment.pending_calls
    ]
    made = write_conversation("", "", [], opening_calls=steps)[1:-1]
    # Each call of a thread has an id of its own.
    first = sum(len(called_tools(message)) for message in messages)
    for message in made:
        for call in message.get("tool_calls", [message]):
            key = "tool_call_id" if "tool_call_id" in call else "id"
            call[key] = f"user_{first}_{call[key]}"
    return made


def _conversation(
    messages: Sequence[dict[str, Any]],
) -> tuple[str | None, list[tuple[str, str]], str]:
    """The user's first words, what was said and replied since, and what is to be answered."""
    opening: str | None = None
    exchanges: list[tuple[str, str]] = []
    heard = ""
    for message in messages:
        text = text_of(message.get("content"))
        if message.get("role") == "user" and not called_tools(message):
            if opening is None:
                opening = text
            else:
                exchanges.append((heard, text))
            heard = ""
        elif message.get("role") == "assistant" and text:
            heard = f"{heard}\n\n{text}" if heard else text
    return opening, exchanges, heard


def check_request(request: SimulateRequest) -> None:
    """Raise an InputError for a user that cannot talk to threads."""
    name = request.user_strategy
    if name is not None:
        if name not in user_strategy_names():
            raise UnknownName("user strategy", name, user_strategy_names())
        if find_user_strategy(name).interactive:
            raise InputError(f"The {name} user is a person: write to the thread yourself.")
    if request.api_base and not is_loopback(_host(request.api_base)):
        raise InputError(
            f"api_base: '{request.api_base}' is not on this machine, and pages may send keys "
            "nowhere else. Name a provider instead."
        )
    if request.goal and request.task is not None:
        raise InputError("Give the user a goal, or a task of a domain: one of them.")


def _host(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def _brief(
    playground: Playground, thread: ThreadRecord, request: SimulateRequest
) -> tuple[RunConfig, str, UserContext]:
    """The user's configuration, what it wants, and which task or row that is."""
    scheme = thread.address.partition(":")[0]
    fields: dict[str, Any] = {}
    if scheme == EPISODE:
        kept = origin_of(playground.store, thread.address).run.config
        fields = {name: value for name, value in kept.items() if name.startswith("user_")}
    typed = {
        "user_strategy": request.user_strategy,
        "user_model": request.model,
        "user_model_provider": request.model_provider,
        "user_api_base": request.api_base,
    }
    given = {name: value for name, value in typed.items() if value}
    if given.get("user_strategy", fields.get("user_strategy")) != fields.get("user_strategy"):
        fields.pop("user_options", None)
    if "user_model" in given:
        fields.pop("user_model_provider", None)
        fields.pop("user_api_base", None)
    config = checked(RunConfig, {"user_strategy": "llm"} | fields | given)
    if find_user_strategy(config.user_strategy).needs_model and not config.user_model:
        raise InputError(f"The {config.user_strategy} user asks a language model: name it.")
    if request.goal.strip():
        return config, Brief(request.goal, request.persona).instruction, UserContext()
    if request.task is not None:
        task = load_domain(request.env or "retail").task(request.task)
        return config, task.instruction, UserContext(task_index=request.task, task_id=task.id)
    if scheme in (EPISODE, AGENT):
        place = place_of(playground.store, thread)
        task = place.domain.task(place.task_index, place.split)
        case = UserContext(task_index=place.task_index, task_id=task.id)
        return config, task.instruction, case
    if thread.brief:
        brief = Brief(str(thread.brief.get("goal")), str(thread.brief.get("persona") or ""))
        return config, brief.instruction, UserContext(row=thread.brief)
    raise InputError("Say what the user wants: a goal, or a task of a domain.")
