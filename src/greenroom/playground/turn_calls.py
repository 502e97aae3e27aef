"""From a turn to a call of its workflow, and from the answer back to the turn."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, cast

from greenroom.errors import InputError
from greenroom.playground.conversation import messages_so_far
from greenroom.store.thread_records import Message, TurnRecord
from greenroom.util.json_values import as_dict, as_list
from greenroom.workflows.call.as_completion import AsCompletion
from greenroom.workflows.call.chat_session import replies_of, without_history
from greenroom.workflows.calls import MESSAGES, Answer, Call, Event, Profile, Target, calls_beside

if TYPE_CHECKING:
    from greenroom.playground.live_turns import TurnJob
    from greenroom.playground.state import Playground
    from greenroom.playground.turn_log import TurnLog


async def answered(playground: Playground, log: TurnLog, job: TurnJob) -> None:
    """Call the workflow; each piece of its answer goes to the log."""
    turn = job.turn
    address = await playground.workflows.check(turn.address or "")
    async with playground.targets.use(address) as target:
        said = turn.content.said
        wants_chat = (job.treat_as or _kind(target.profile)) == "chat"
        turn.treated_as = "chat" if wants_chat else "completion"
        inputs = dict(turn.content.inputs or {})
        if wants_chat or said:
            before = await playground.in_store(_messages, playground, job.before)
            inputs[MESSAGES] = [*before, *said]
        called: Target = target
        if wants_chat or said:
            _check_messages(target.profile, inputs[MESSAGES])
        if not wants_chat and target.profile.is_chat:
            called = AsCompletion(target)
        turn.sent = True
        call = Call(inputs=inputs, parameters=turn.parameters, session_id=turn.session_id)
        sent = [as_dict(one) for one in as_list(inputs.get(MESSAGES))]
        events = cast("AsyncGenerator[Event]", called.stream(call))
        async with aclosing(without_history(events, sent)) as pieces:
            async for event in pieces:
                if event.kind == "end":
                    _keep(turn, event.data, sent)
                log.tell(event)


def _messages(playground: Playground, ids: tuple[str, ...]) -> list[Message]:
    found = playground.store.turns.listed(ids, whole=True)
    return messages_so_far(found[key] for key in ids if key in found)


def _kind(profile: Profile) -> str:
    return "chat" if profile.is_chat else "completion"


def _check_messages(profile: Profile, messages: list[Message]) -> None:
    """Raise an InputError for messages that nobody would read."""
    if not messages:
        raise InputError("There is nothing to answer yet: write a message.")
    declared: dict[str, Any] = as_dict(as_dict(profile.schemas.inputs).get("properties"))
    if not profile.is_chat and declared and MESSAGES not in declared:
        raise InputError(
            f"'{profile.name}' takes no messages, so it cannot be treated as chat: treat it as a "
            f"completion, and give it {', '.join(declared)} in its inputs."
        )


def _keep(turn: TurnRecord, answer: Answer, sent: list[Message]) -> None:
    content = turn.content
    content.outputs = answer.outputs
    content.replies = replies_of(sent, answer.outputs)
    known = {one.get("id") for one in content.tool_calls}
    content.tool_calls += [dict(one) for one in answer.tool_calls if one.get("id") not in known]
    # Messages show their own calls; results that were told on the way are shown nowhere else.
    beside = {id(one) for one in calls_beside(answer.outputs, content.tool_calls)}
    content.tool_calls = [
        one for one in content.tool_calls if id(one) in beside or one.get("has_output")
    ]
    turn.seconds = answer.seconds
    turn.prompt_tokens, turn.completion_tokens = answer.prompt_tokens, answer.completion_tokens
    turn.cost, turn.trace_id = answer.cost, answer.trace_id
    turn.session_id = answer.session_id or turn.session_id
