"""Where workflows are, and the copies that FastWorkflow may write into.

FastWorkflow writes into the folder of the workflow that it runs and into its own installed package.
Here it gets copies of both, in a temporary place, and neither is touched.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from greenroom.agents.fastworkflow.workflow_from_tools import workflow_from_tools
from greenroom.errors import InputError
from greenroom.util.owned_folders import OwnedFolder

COMMAND_INFO = "___command_info"
"""What FastWorkflow learns about a workflow: its commands, and trained intent models."""
WORKFLOWS = "workflows"
"""The folder of copies. They are side by side: FastWorkflow imports modules by their parent."""
INTERNAL = "fastworkflow_internal_workflows"
_GLOBAL_CONTEXT = "global"

INSTALL = "pip install 'greenroom[fastworkflow]'"

_NOT_COPIED = shutil.ignore_patterns("__pycache__", "___*", ".git")


def temporary_folder() -> OwnedFolder:
    """A place for copies, until this process ends."""
    return OwnedFolder("greenroom-fastworkflow-")


def package_folder() -> Path:
    """The folder of the installed FastWorkflow; raise InputError if it is missing."""
    spec = find_spec("fastworkflow")
    if spec is None or spec.origin is None:
        raise InputError(f"The fastworkflow agent needs FastWorkflow: {INSTALL}")
    return Path(spec.origin).parent


def models_folder(workflow: str, context: str) -> Path:
    """Where the intent models of a context of a workflow are, if it has any."""
    return Path(workflow, COMMAND_INFO, context.replace("*", _GLOBAL_CONTEXT))


def installed_version() -> str:
    """The version of the installed FastWorkflow; raise InputError if it is missing."""
    try:
        return version("fastworkflow")
    except PackageNotFoundError:
        raise InputError(f"The fastworkflow agent needs FastWorkflow: {INSTALL}") from None


def find_workflow(
    env: str, given: Path | None = None, tool_infos: Sequence[Mapping[str, Any]] = ()
) -> Path:
    """The workflow's folder: the one that is given, FastWorkflow's own, or one for the tools."""
    if given is not None:
        return _checked(given.expanduser().resolve())
    if env == "retail":
        return _checked(package_folder() / "examples" / "retail_workflow")
    return workflow_from_tools(env, tool_infos)


def _checked(folder: Path) -> Path:
    if not (folder / "_commands").is_dir():
        raise InputError(
            f"{folder} is no FastWorkflow workflow: it has no folder _commands with a Python file "
            "for each command."
        )
    return folder


def place_copies(workflow: Path, folder: Path, artifacts: Path | None = None) -> Path:
    """Copy a workflow, its intent models if there are any, and FastWorkflow's internal workflows.

    The result is the copy of the workflow.
    """
    copies = folder / WORKFLOWS
    shutil.copytree(workflow, copies / workflow.name, ignore=_NOT_COPIED)
    if artifacts is not None:
        shutil.copytree(artifacts, copies / workflow.name / COMMAND_INFO)
    shutil.copytree(package_folder() / "_workflows", copies / INTERNAL, ignore=_NOT_COPIED)
    return copies / workflow.name


def place_policy(workflow: Path, policy: str) -> None:
    """Give the domain's policy to planner and agent, as the workflow's insights.

    FastWorkflow presents one file as patterns to follow and the other as patterns to avoid; the
    first line of each says what it is. The author's own insights stay.
    """
    folder = workflow / "Insights" / workflow.name
    folder.mkdir(parents=True, exist_ok=True)
    for name, lead in _POLICY_LEADS.items():
        file = folder / name
        own = file.read_text(encoding="utf-8") if file.exists() else ""
        file.write_text(f"{lead}\n\n{policy}\n\n{own}".rstrip() + "\n", encoding="utf-8")


_POLICY_LEADS = {
    "planning_agent_insights.md": (
        "The following policy is binding. Plan only steps that it allows, and have the user's "
        "confirmation wherever it asks for one."
    ),
    "execution_agent_anti_patterns.md": (
        "Acting against the following policy is the pattern to avoid. The policy is binding."
    ),
}
