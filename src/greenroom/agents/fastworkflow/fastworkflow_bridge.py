"""The runtime bridge: FastWorkflow's agent resolves a command, and the environment executes it.

While a session is bound, the bridge replaces the execution of its resolved commands. FastWorkflow's
own wildcard route finds the name and parameters of a command without running a tool. The bridge
turns them into an action, steps the session's environment, and returns the observation as the
command's response. The rest of FastWorkflow works as before: clarifying commands, aborting, and
planning again when parameters are missing.

The bridge patches `workflow_agent._execute_workflow_query`, which the agent's tool calls. In
versions without it, it patches `CommandExecutor.invoke_command`.

Each session has its own environment, held weakly. The patches are removed with the last session.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import threading
import weakref
from collections.abc import Callable, Generator
from contextvars import ContextVar
from typing import Any

from greenroom.agents.fastworkflow.binding import Binding, StepCallback, render_obs_for_agent
from greenroom.agents.fastworkflow.commands import executor, output_of
from greenroom.agents.fastworkflow.folders import installed_version
from greenroom.errors import InputError

KNOWN_VERSIONS = "2.30 is tested, 3.6 is known to have the same entry points"

AGENT_MODULE = "fastworkflow.workflow_agent"
ENTRY_POINT = "_execute_workflow_query"
"""The function that the agent's tool calls for each command."""

_lock = threading.RLock()
_bindings: weakref.WeakKeyDictionary[Any, Binding] = weakref.WeakKeyDictionary()
_patches: list[tuple[Any, str, Any]] = []
_inside: ContextVar[object] = ContextVar("inside_the_entry_point", default=None)


@contextlib.contextmanager
def install_bridge(session: Any, binding: Binding) -> Generator[Binding]:
    """Bind a session to an environment while the block runs."""
    with _lock:
        _bindings[session] = binding
        try:
            if not _patches:
                _patch()
        except BaseException:
            del _bindings[session]
            raise
    # A session that is garbage-collected is unbound, too.
    forgotten = weakref.finalize(session, _unpatch_if_idle)
    try:
        yield binding
    finally:
        forgotten.detach()
        with _lock:
            _bindings.pop(session, None)
            _unpatch_if_idle()


def set_step_callback(session: Any, callback: StepCallback | None) -> None:
    """Set a callback for every step: its command, action, observation, reward, end and info."""
    _bindings[session].callback = callback


def check_entry_points() -> None:
    """Raise InputError unless this FastWorkflow can be patched."""
    owner = executor()
    invoke = getattr(owner, "invoke_command", None)
    takes_two = invoke is not None and len(inspect.signature(invoke).parameters) == 2
    if not takes_two or not hasattr(owner, "perform_action"):
        raise InputError(
            f"This FastWorkflow ({installed_version()}) cannot be bridged: its CommandExecutor has "
            "no invoke_command(chat_session, command). Install a version that is known: "
            f"{KNOWN_VERSIONS}."
        )


def _patch() -> None:
    check_entry_points()
    owner = executor()
    invoke = inspect.getattr_static(owner, "invoke_command")
    agent_module = importlib.import_module(AGENT_MODULE)
    entry = getattr(agent_module, ENTRY_POINT, None)
    bridged = _bridged_invocation(owner.invoke_command, alone=entry is None)
    _replace(owner, "invoke_command", classmethod(bridged), invoke)
    if entry is not None:
        _replace(agent_module, ENTRY_POINT, _bridged_entry(entry), entry)


def _bridged_invocation(original: Callable[..., Any], *, alone: bool) -> Callable[..., Any]:
    def invoke_command(_: Any, chat_session: Any, command: str) -> Any:
        binding = _bindings.get(chat_session)
        if binding is None or not (alone or _inside.get() is binding):
            return original(chat_session, command)
        if not command.strip():
            return original(chat_session, "")
        try:
            return binding.execute(chat_session, command)
        except Exception as problem:
            return output_of(chat_session, binding.failed(command, problem), success=False)

    return invoke_command


def _bridged_entry(entry: Callable[..., str]) -> Callable[..., str]:
    def execute_workflow_query(command: str, chat_session_obj: Any) -> str:
        binding = _bindings.get(chat_session_obj)
        if binding is None:
            return entry(command, chat_session_obj)
        before = _inside.set(binding)
        try:
            return entry(command, chat_session_obj)
        except Exception as problem:
            # FastWorkflow's own recovery would try the command again.
            return binding.failed(command, problem)
        finally:
            _inside.reset(before)

    return execute_workflow_query


def _replace(owner: Any, name: str, new: Any, old: Any) -> None:
    _patches.append((owner, name, old))
    setattr(owner, name, new)


def _unpatch_if_idle() -> None:
    with _lock:
        if len(_bindings):
            return
        while _patches:
            owner, name, old = _patches.pop()
            setattr(owner, name, old)


__all__ = [
    "AGENT_MODULE",
    "ENTRY_POINT",
    "KNOWN_VERSIONS",
    "Binding",
    "check_entry_points",
    "install_bridge",
    "render_obs_for_agent",
    "set_step_callback",
]
