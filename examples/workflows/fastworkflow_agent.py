"""Your own FastWorkflow workflow, run by FastWorkflow itself, as a chat workflow.

    fastworkflow examples fetch hello_world       # or a workflow of yours
    fastworkflow train examples/hello_world
    export FASTWORKFLOW_PATH=examples/hello_world
    greenroom serve fastworkflow_agent.py

The two env files of FastWorkflow lie beside the workflow's folder; they name the models and have
the keys. For models behind an address of your own, name them openai/... and set OPENAI_BASE_URL. As
in `fastworkflow run`, a message that begins with a slash is a command, and no agent is asked.
"""
# FastWorkflow and dspy carry no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import json
import os
from collections import OrderedDict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from threading import Lock
from typing import Any
from uuid import uuid4

import dspy
import fastworkflow
from dotenv import dotenv_values

from greenroom import chat_workflow, report_usage
from greenroom.errors import InputError
from greenroom.messages import Message

FOLDER = Path(os.environ.get("FASTWORKFLOW_PATH", "examples/hello_world")).resolve()
MOST_SESSIONS = 100

settings = {
    **dotenv_values(FOLDER.parent / "fastworkflow.env"),
    **dotenv_values(FOLDER.parent / "fastworkflow.passwords.env"),
}
if not settings or not (FOLDER / "_commands").is_dir():
    raise InputError(
        f"There is no FastWorkflow workflow at {FOLDER}, or no fastworkflow.env beside it: set "
        "FASTWORKFLOW_PATH to the folder that has _commands in it."
    )
if not any(FOLDER.glob("___command_info/*/threshold.json")):
    raise InputError(f"{FOLDER.name} is not trained yet: run 'fastworkflow train' first.")
fastworkflow.init(settings)
# With dspy's cache, all repeats of an evaluation would be the same.
dspy.configure_cache(enable_disk_cache=False, enable_memory_cache=False)


class Session:
    """A conversation: FastWorkflow keeps what was said and done in its execution context."""

    def __init__(self, earlier: list[Message]) -> None:
        key = uuid4().hex
        self.turn = Lock()  # one message at a time
        self.context: Any = fastworkflow.WorkflowExecutionContext(
            run_as_agent=True, session_key=key
        )
        self.context.bind_app_workflow(
            fastworkflow.Workflow.create(str(FOLDER), workflow_id_str=key)
        )
        said = [f"{message.role}: {message.text}" for message in earlier if message.text]
        if said:  # before we came in: a transcript out of a test set, or a client without sessions
            self.context.append_conversation_turn("\n".join(said))

    def process(self, words: str) -> tuple[str, dict[str, Any]]:
        """The agent's answer or question, and the models' usage."""
        with dspy.track_usage() as used:
            return self.context.process_turn(words).answer, used.get_total_tokens()


sessions: OrderedDict[str, Session] = OrderedDict()
opening = Lock()


def session_for(session_id: str | None, earlier: list[Message]) -> Session:
    """The session with this id, or a new one; the least recently used one is dropped."""
    if session_id is None:
        return Session(earlier)
    with opening:
        found = sessions.pop(session_id, None) or Session(earlier)
        sessions[session_id] = found
        if len(sessions) > MOST_SESSIONS:
            sessions.popitem(last=False)
        return found


@chat_workflow(name="fastworkflow-agent")
def converse(messages: list[Message], session_id: str | None = None) -> Iterator[Any]:
    """Runs the commands of a FastWorkflow workflow."""
    session = session_for(session_id, messages[:-1])
    traces: Queue[Any] = Queue()
    with session.turn, ThreadPoolExecutor(1) as thread:
        # FastWorkflow reports each command as it runs; the text comes at the end.
        session.context.set_transport_queues(command_trace_queue=traces)
        turn = thread.submit(session.process, messages[-1].text)
        turn.add_done_callback(traces.put)
        for trace in iter(traces.get, turn):
            if trace is not None and trace.command_name:
                yield from _as_messages(trace)
        answer, used = turn.result()
    for tokens in used.values():
        report_usage(
            prompt_tokens=tokens.get("prompt_tokens"),
            completion_tokens=tokens.get("completion_tokens"),
        )
    yield {"role": "assistant", "content": answer}


def _as_messages(trace: Any) -> Iterator[dict[str, Any]]:
    """A command as a tool call and its result."""
    call_id = f"call_{uuid4().hex[:12]}"
    function = {
        "name": trace.command_name,
        "arguments": json.dumps(trace.parameters or {}, default=str),
    }
    calls = [{"id": call_id, "type": "function", "function": function}]
    yield {"role": "assistant", "content": None, "tool_calls": calls}
    yield {"role": "tool", "tool_call_id": call_id, "content": trace.response_text}
