"""Finding workflows by what a person types: app.py, app.py:name, package.module:name."""

from __future__ import annotations

from types import ModuleType

from greenroom.errors import InputError, UnknownName
from greenroom.util.imports import load_module, split_target
from greenroom.workflows.declare.workflow import Workflow


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
            f"There is no workflow in {source}. Write above a function:\n"
            "  from greenroom import chat_workflow\n  @chat_workflow"
        )
    if name in declared:
        return [declared[name]]
    by_name = [one for one in declared.values() if name in (one.name, one.slug)]
    if by_name:
        return by_name[:1]
    if callable(getattr(module, name, None)):
        raise InputError(
            f"'{name}' of {source} is not declared as a workflow. Write above it: @workflow, or "
            "@chat_workflow if it takes messages and answers with messages."
        )
    raise UnknownName("workflow", name, declared)
