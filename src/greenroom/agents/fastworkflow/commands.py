"""Access to FastWorkflow's commands: their stage, name and response."""

from __future__ import annotations

import importlib
import re
from typing import Any, Final

from greenroom.agents.fastworkflow.fastworkflow_tool_map import local_name

UNDECIDED: Final = frozenset(
    {"INTENT_AMBIGUITY_CLARIFICATION", "INTENT_MISUNDERSTANDING_CLARIFICATION"}
)
"""Stages in which FastWorkflow asks a model which command is meant."""


def fastworkflow(module: str = "") -> Any:
    """The package or one of its modules, imported on first use because it is heavy."""
    return importlib.import_module(f"fastworkflow.{module}" if module else "fastworkflow")


def executor() -> Any:
    """The class that resolves and executes commands."""
    return fastworkflow("command_executor").CommandExecutor


def response_of(output: Any) -> Any:
    """A command's response."""
    # One response per command since 3.0, a list before.
    single = getattr(output, "command_response", None)
    return single if single is not None else output.command_responses[0]


def output_of(
    session: Any, text: str, *, success: bool, name: str = "", parameters: Any = None
) -> Any:
    """A command's result in FastWorkflow's type."""
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
    """FastWorkflow's stage of understanding a command."""
    return getattr(session.cme_workflow.context.get("NLU_Pipeline_Stage"), "name", "")


def beginning_with_its_name(session: Any, command: str) -> str | None:
    """A command in the form that FastWorkflow matches by its exact name; None without one."""
    # FastWorkflow ends a name at a space or a bracket; agents also write line breaks and tags
    # there.
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
    """The text in the place of a command's name."""
    found = re.match(r"\s*([\w/]*)", command)
    return found.group(1).lower() if found else ""


def misunderstood(session: Any, command: str) -> Any:
    """Make FastWorkflow treat a command as not understood."""
    # FastWorkflow does the same when its intent models find no command.
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
    """The agent's current loop, and the number of its tool call there."""
    # The agent keeps a trajectory for each of its loops; every tool call adds to it first.
    agent = session.workflow_tool_agent
    trajectory = getattr(agent, "current_trajectory", None)
    if trajectory is None:
        trajectory = getattr(agent, "trajectory", None)
    if trajectory is None:
        return None, 0
    return trajectory, sum(key.startswith("tool_name_") for key in trajectory)
