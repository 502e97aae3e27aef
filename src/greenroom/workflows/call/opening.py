"""From what a person types to a workflow: an address, app.py:name, package.module:name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from greenroom.errors import InputError, UnknownName
from greenroom.models.retries import RetryPolicy
from greenroom.util.framework_hints import advice
from greenroom.util.imports import load_module, split_target
from greenroom.util.json_values import as_dict
from greenroom.workflows.call.addresses import is_address
from greenroom.workflows.call.as_completion import AsCompletion
from greenroom.workflows.call.client import WorkflowClient
from greenroom.workflows.call.connection import TIMEOUT
from greenroom.workflows.call.discovery import find_workflow
from greenroom.workflows.call.local import LocalTarget
from greenroom.workflows.calls import MESSAGES, Answer, Call, Profile, Target
from greenroom.workflows.declare.workflow import Workflow


async def open_target(
    address: str,
    *,
    model: str | None = None,
    token: str | None = None,
    as_completion: bool = False,
    timeout: float = TIMEOUT,  # noqa: ASYNC109 - one answer's, not this function's
    max_retries: int = 3,
    guarded: bool = False,
) -> Target:
    """The workflow at an address, in a file (app.py:name) or in a module (package.app:name).

    `model` names one of an OpenAI-compatible server's models. `as_completion` treats a chat
    workflow as a completion: a text goes in, a text comes out. `guarded` is for addresses that come
    from pages (see Connection). Close the target after use.
    """
    target: Target
    if is_address(address):
        found = await find_workflow(address, token=token, model=model, guarded=guarded)
        target = WorkflowClient(
            found.profile,
            wire=found.wire,
            token=token,
            timeout=timeout,
            retry=RetryPolicy(max_retries=max_retries),
            guarded=guarded,
        )
    else:
        target = _local(address, model)
    return AsCompletion(target) if as_completion and target.profile.is_chat else target


def check_takes_messages(profile: Profile) -> None:
    """Raise an InputError if a workflow that is to chat declares inputs and no messages."""
    declared = as_dict(as_dict(profile.schemas.inputs).get("properties"))
    if declared and MESSAGES not in declared:
        raise InputError(
            f"'{profile.name}' takes no messages, so it cannot be treated as chat: leave out "
            f"--as chat. It takes {', '.join(declared)}."
        )


def call_workflow(
    address: str,
    *,
    messages: Sequence[Mapping[str, Any]] | str | None = None,
    inputs: Mapping[str, Any] | None = None,
    parameters: Mapping[str, Any] | None = None,
    session_id: str | None = None,
    model: str | None = None,
    token: str | None = None,
) -> Answer:
    """Call a workflow once, from plain code; a text stands for one message of the user.

    For many calls open a target: it keeps its connections.
    """
    import anyio

    given = dict(inputs or {})
    if messages is not None:
        text = isinstance(messages, str)
        given["messages"] = [{"role": "user", "content": messages}] if text else list(messages)
    call = Call(
        inputs=given,
        parameters=None if parameters is None else dict(parameters),
        session_id=session_id,
    )

    async def called() -> Answer:
        target = await open_target(address, model=model, token=token)
        try:
            return await target.call(call)
        finally:
            await target.close()

    return anyio.run(called)


def _local(address: str, model: str | None) -> Target:
    if model is not None:
        raise InputError(f"A model is named for an address, and '{address}' is none.")
    workflows = load_workflows(address)
    if len(workflows) > 1:
        names = ", ".join(one.name for one in workflows)
        raise InputError(
            f"There are several workflows in {address}: name one, as in "
            f"{address}:{workflows[0].name}. It has {names}."
        )
    return LocalTarget(workflows[0], address=address)


def load_workflows(*targets: str) -> list[Workflow]:
    """The workflows of each target, in the order of the files; none twice.

    A target is a Python file or a module, with `:name` for one of its workflows.
    """
    found: list[Workflow] = []
    for target in targets:
        source, name = split_target(target, "workflow")
        chosen = _chosen(load_module(source), source, name)
        found += [one for one in chosen if not any(one is known for known in found)]
    return found


def _chosen(module: ModuleType, source: str, name: str | None) -> list[Workflow]:
    declared = {key: one for key, one in vars(module).items() if isinstance(one, Workflow)}
    if name is None:
        unique = list({id(one): one for one in declared.values()}.values())
        if unique:
            return unique
        raise InputError(
            f"There is no workflow in {source}."
            + (
                advice(vars(module))
                or " Write above a function:\n  from greenroom import chat_workflow\n"
                "  @chat_workflow"
            )
        )
    if name in declared:
        return [declared[name]]
    by_name = [one for one in declared.values() if name in (one.name, one.slug)]
    if by_name:
        return by_name[:1]
    if told := advice({name: getattr(module, name, None)}):
        raise InputError(f"'{name}' of {source} is not declared as a workflow.{told}")
    if callable(getattr(module, name, None)):
        raise InputError(
            f"'{name}' of {source} is not declared as a workflow. Write above it: @workflow, or "
            "@chat_workflow if it takes messages and answers with messages."
        )
    raise UnknownName("workflow", name, declared)
