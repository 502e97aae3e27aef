"""Simulated users, people who play the agent, and the world beside a thread."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from greenroom.domains.plugins import domain_names
from greenroom.playground.by_hand import act
from greenroom.playground.simulations import SimulateRequest, Simulation
from greenroom.playground.state import InPlayground, Playground
from greenroom.playground.thread_models import Thread
from greenroom.playground.thread_views import thread_view
from greenroom.playground.worlds import Place, ThreadWorld, place_of, thread_world
from greenroom.store.thread_records import TurnRecord
from greenroom.users import find_user_strategy, user_strategy_names

router = APIRouter()


class SendRequest(BaseModel):
    """The message to send; null for the one that the user would say."""

    model_config = ConfigDict(extra="forbid")

    text: str | None = Field(default=None, max_length=1_000_000)


class ActRequest(BaseModel):
    """What a person does in the agent's place: says something, or calls a tool."""

    model_config = ConfigDict(extra="forbid")

    version: int
    say: str | None = Field(default=None, max_length=1_000_000)
    tool: str | None = None
    arguments: dict[str, Any] = Field(default_factory=dict[str, Any])


class SimulatedUserKind(BaseModel):
    """A kind of simulated user."""

    name: str
    summary: str
    needs_model: bool


class SimulatedUsers(BaseModel):
    """Who can talk to a thread, and the domains whose tasks they can have."""

    items: list[SimulatedUserKind]
    domains: list[str]


@router.get("/simulated-users")
def list_simulated_users() -> SimulatedUsers:
    """The users of the benchmark that can talk to threads."""
    found = [find_user_strategy(name) for name in user_strategy_names()]
    return SimulatedUsers(
        items=[
            SimulatedUserKind(name=one.name, summary=one.summary, needs_model=one.needs_model)
            for one in found
            if not one.interactive
        ],
        domains=list(domain_names()),
    )


@router.post("/threads/{thread_id}/simulate")
async def simulate_user(
    playground: InPlayground, thread_id: str, wanted: SimulateRequest
) -> Simulation:
    """Let a simulated user think about its next message, or talk to the end."""
    return await playground.simulations.start(thread_id, wanted)


@router.get("/threads/{thread_id}/simulate")
async def get_simulation(playground: InPlayground, thread_id: str) -> Simulation:
    """How the simulated user of a thread stands."""
    await playground.in_store(playground.store.threads.find, thread_id)
    return playground.simulations.status(thread_id)


@router.post("/threads/{thread_id}/simulate/send")
async def send_simulated(
    playground: InPlayground, thread_id: str, wanted: SendRequest
) -> Simulation:
    """Send what the user would say, as it is or changed."""
    return await playground.simulations.send(thread_id, wanted.text)


@router.post("/threads/{thread_id}/simulate/stop")
async def stop_simulation(playground: InPlayground, thread_id: str) -> Simulation:
    """Stop the user; a turn that runs goes on to its end."""
    return playground.simulations.stop(thread_id)


@router.get("/threads/{thread_id}/world")
async def get_world(playground: InPlayground, thread_id: str) -> ThreadWorld:
    """What the turns of a thread changed in the database, record by record."""
    place, turns = await playground.in_store(_placed, playground, thread_id)
    return await thread_world(place, turns)


@router.post("/threads/{thread_id}/act")
async def act_as_agent(playground: InPlayground, thread_id: str, wanted: ActRequest) -> Thread:
    """Do something in the agent's place; it becomes part of the last answer."""
    thread = await act(
        playground,
        thread_id,
        wanted.version,
        say=wanted.say,
        tool=wanted.tool,
        arguments=wanted.arguments,
    )
    return await playground.in_store(thread_view, playground.store, thread)


def _placed(playground: Playground, thread_id: str) -> tuple[Place, list[TurnRecord]]:
    store = playground.store
    thread = store.threads.find(thread_id)
    found = store.turns.listed(thread.history.turns, whole=True)
    return place_of(store, thread), [found[key] for key in thread.history.turns if key in found]
