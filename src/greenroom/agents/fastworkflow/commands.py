"""FastWorkflow's commands from the outside: how far one is understood, and what came of it."""

from __future__ import annotations

import importlib
import re
from typing import Any, Final

from greenroom.agents.fastworkflow.fastworkflow_tool_map import local_name

UNDECIDED: Final = frozenset(
    {"INTENT_AMBIGUITY_CLARIFICATION", "INTENT_MISUNDERSTANDING_CLARIFICATION"}
)
"""Stages in which FastWorkflow asks a model which command is meant."""


def fastworkflow() -> Any:
    """The package; imported only where it is needed, as it is heavy."""
    return importlib.import_module("fastworkflow")


def executor() -> Any:
    """What resolves and executes commands."""
    module: Any = importlib.import_module("fastworkflow.command_executor")
    return module.CommandExecutor


def response_of(output: Any) -> Any:
    """A command's response."""
    # One response a command since 3.0, a list of them before.
    single = getattr(output, "command_response", None)
    return single if single is not None else output.command_responses[0]


def output_of(
    session: Any, text: str, *, success: bool, name: str = "", parameters: Any = None
) -> Any:
    """A command's outcome as FastWorkflow takes it."""
    package = fastworkflow()
    response = package.CommandResponse(response=text, success=success)
    # Versions before 3.0 take the singular too.
    output = package.CommandOutput(command_response=response)
    workflow = session.get_active_workflow()
    if workflow is not None:
        output.workflow_name = workflow.folderpath.rpartition("/")[2]
        output.context = workflow.current_command_context_displayname
    output.command_name = name
    output.command_parameters = parameters or None
    return output


def stage_of(session: Any) -> str:
    """How far FastWorkflow is with understanding a command."""
    return getattr(session.cme_workflow.context.get("NLU_Pipeline_Stage"), "name", "")


def beginning_with_its_name(session: Any, command: str) -> str | None:
    """A command as FastWorkflow sees that it begins with an exact name; None if it does not."""
    # FastWorkflow knows a name by the space or the bracket behind it; agents write line breaks and
    # tags there as well.
    words = command.strip()
    registry = fastworkflow().RoutingRegistry
    own = registry.get_definition(session.app_workflow.folderpath)
    internal = registry.get_definition(session.cme_workflow.folderpath)
    name = first_word(words)
    known = {local_name(one).lower() for names in own.contexts.values() for one in names}
    if name in known:
        return f"{name} {words[len(name) :].strip()}".strip()
    spoken = "_".join(re.findall(r"\w+", words.lower()))
    general = {local_name(one).lower() for names in internal.contexts.values() for one in names}
    return words if spoken in general - {"wildcard"} else None


def first_word(command: str) -> str:
    """What stands where a command has its name."""
    found = re.match(r"\s*([\w/]*)", command)
    return found.group(1).lower() if found else ""


def misunderstood(session: Any, command: str) -> Any:
    """Have FastWorkflow take a command for one that it does not understand."""
    # What FastWorkflow does with a command that its intent models find to be none.
    package = fastworkflow()
    context = session.cme_workflow.context
    context["NLU_Pipeline_Stage"] = package.NLUPipelineStage.INTENT_MISUNDERSTANDING_CLARIFICATION
    context["command"] = command
    output = executor().perform_action(
        session.cme_workflow,
        package.Action(command_name="ErrorCorrection/you_misunderstood", command=command),
    )
    response_of(output).artifacts["command_handled"] = True
    return output


def tool_call_of(session: Any) -> tuple[object, int]:
    """The loop that the agent is in, and the number of its tool call there."""
    # The agent keeps a trajectory for each of its loops; every tool call adds to it first.
    agent = session.workflow_tool_agent
    trajectory = getattr(agent, "current_trajectory", None)
    if trajectory is None:
        trajectory = getattr(agent, "trajectory", None)
    if trajectory is None:
        return None, 0
    return trajectory, sum(key.startswith("tool_name_") for key in trajectory)
