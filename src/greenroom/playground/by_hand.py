"""People in the agent's place: what they say or call becomes part of the thread's last answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from greenroom.benchmark.turns import history_from, step_messages, take_step
from greenroom.domains.environment import Step
from greenroom.domains.tasks import RESPOND, Action, respond
from greenroom.errors import Conflict, InputError, UnknownName
from greenroom.playground.conversation import messages_so_far
from greenroom.playground.turn_starts import RUNNING
from greenroom.playground.worlds import Place, place_of
from greenroom.store.thread_records import Message, ThreadRecord, TurnRecord, new_id
from greenroom.store.threads import CHANGED

if TYPE_CHECKING:
    from greenroom.playground.state import Playground


async def act(
    playground: Playground,
    thread_id: str,
    version: int,
    *,
    say: str | None,
    tool: str | None,
    arguments: dict[str, Any],
) -> ThreadRecord:
    """Say something to the user, or call a tool on the world of the thread."""
    if (say is None) == (tool is None):
        raise InputError("Say something, or call a tool: one of them.")
    place, thread, turns = await playground.in_store(_found, playground, thread_id, version)
    if not turns:
        raise InputError("The user speaks first: write what they say.")
    messages = messages_so_far(turns)
    history = history_from(messages)
    number = len(history.steps) + 1
    if say is not None:
        if not say.strip():
            raise InputError("An empty message cannot be sent: write something.")
        step = Step(respond(say), "", "user", done=False)
    else:
        assert tool is not None
        known = [info["function"]["name"] for info in place.domain.tool_infos]
        if tool not in known or tool == RESPOND:
            raise UnknownName("tool", tool, known)
        step = await take_step(
            place.domain, place.task_index, history, Action(tool, arguments), split=place.split
        )
    added = step_messages(number, step)
    thread = await playground.in_store(_kept, playground, thread, turns[-1], added)
    playground.changes.thread(thread.id, thread.board_id, thread.version)
    return thread


def _found(
    playground: Playground, thread_id: str, version: int
) -> tuple[Place, ThreadRecord, list[TurnRecord]]:
    store = playground.store
    thread = store.threads.find(thread_id)
    if thread.version != version:
        raise Conflict(CHANGED)
    found = store.turns.listed(thread.history.turns, whole=True)
    turns = [found[key] for key in thread.history.turns if key in found]
    if turns and turns[-1].status == "running":
        raise Conflict(RUNNING)
    return place_of(store, thread), thread, turns


def _kept(
    playground: Playground, thread: ThreadRecord, turn: TurnRecord, added: list[Message]
) -> ThreadRecord:
    content = turn.content.model_copy(
        deep=True, update={"replies": [*turn.content.replies, *added]}
    )
    changes: dict[str, Any] = {"id": new_id(), "edited": True, "content": content}
    if turn.status != "done":
        changes |= {"status": "done", "error": None}
    changed = turn.model_copy(update=changes)
    turns = [*thread.history.turns[:-1], changed.id]
    kept = thread.model_copy(update={"history": thread.history.changed(turns)})
    return playground.store.threads.change(thread.id, thread.version, lambda _: (kept, [changed]))
