"""`greenroom inspect`: what a workflow is, before it is called."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from greenroom.cli.options import Json
from greenroom.cli.output import console, print_json
from greenroom.errors import InputError

if TYPE_CHECKING:
    from greenroom.workflows.call.discovery import Found
    from greenroom.workflows.calls import Profile

Workflow = Annotated[
    str,
    typer.Argument(
        help="An address, such as http://localhost:8000 or http://localhost:8000/v1#model, or a "
        "file: app.py, or app.py:name for one of its workflows.",
        metavar="URL|FILE[:NAME]",
    ),
]
Model = Annotated[
    str | None,
    typer.Option("--model", help="Which of an OpenAI-compatible server's models is meant."),
]


_TOOLS = {
    True: "taken: a benchmark gives it the domain's tools",
    False: "not taken: no input 'tools' is declared",
    None: "not told",
}

app = typer.Typer()


@app.command()
def inspect(workflow: Workflow, model: Model = None, json: Json = False) -> None:
    """Show what a workflow is: whether it chats and what told so, what it takes, how to call it.

    JSON is one object, or an array of them for a file with several workflows. With GREENROOM_TOKEN
    set, it is sent as a bearer token.
    """
    found = _found(workflow, model)
    if json:
        facts = [_facts(one) for one in found]
        print_json(facts[0] if len(facts) == 1 else facts)
        return
    for number, one in enumerate(found):
        if number:
            console().print()
        _show(one)


def _found(workflow: str, model: str | None) -> list[Found]:
    import anyio

    from greenroom.workflows.call.addresses import is_address
    from greenroom.workflows.call.discovery import Found, find_workflow
    from greenroom.workflows.call.opening import load_workflows

    if model is not None and not is_address(workflow):
        raise InputError(f"A model is named for an address, and '{workflow}' is none.")
    if is_address(workflow):
        return [anyio.run(lambda: find_workflow(workflow, model=model))]
    loaded = load_workflows(workflow)
    several = len(loaded) > 1
    return [Found(one.profile(f"{workflow}:{one.name}" if several else workflow)) for one in loaded]


def _facts(found: Found) -> dict[str, Any]:
    from greenroom.workflows.call.examples import required_inputs

    profile = found.profile
    return {
        "name": profile.name,
        "is_chat": profile.is_chat,
        "decided_by": profile.decided_by,
        "description": profile.description,
        "flags": profile.flags,
        "address": profile.address,
        "interface": profile.interface,
        "schemas": asdict(profile.schemas),
        "parameters": profile.parameters,
        "required_inputs": required_inputs(profile.schemas.inputs),
        "takes_tools": profile.takes_tools,
        "try": _tries(found),
    }


def _show(found: Found) -> None:
    from rich.table import Table
    from rich.text import Text

    profile = found.profile
    out = console()
    kind = "a chat workflow" if profile.is_chat else "not a chat workflow"
    out.print(f"{profile.name}: {kind}", style="bold")
    if profile.description:
        out.print(profile.description, soft_wrap=True)
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, text in _rows(profile).items():
        table.add_row(name, Text(text))
    out.print(table)
    out.print("Try it:")
    for line in _tries(found):
        out.print(f"  {line}", soft_wrap=True)


def _rows(profile: Profile) -> dict[str, str]:
    called = {
        "local": "in this process",
        "openai": f"POST {profile.address.partition('#')[0]}/chat/completions",
    }.get(profile.interface, f"POST {profile.address}/{profile.interface}")
    return {
        "Decided by": profile.decided_by,
        "Inputs": _listed(profile.schemas.inputs, None),
        "Tools": _TOOLS[profile.takes_tools],
        "Parameters": _listed(profile.schemas.parameters, profile.parameters),
        "Outputs": _kind(profile.schemas.outputs),
        "Called by": called,
    }


def _listed(schema: Any, defaults: dict[str, Any] | None) -> str:
    """Names with their kinds and defaults; without given defaults, which are required."""
    from greenroom.util.json_values import as_dict, encoded
    from greenroom.workflows.call.examples import required_inputs

    properties = {n: as_dict(one) for n, one in as_dict(as_dict(schema).get("properties")).items()}
    known, required = defaults, list[str]()
    if known is None:
        known = {name: one["default"] for name, one in properties.items() if "default" in one}
        required = required_inputs(schema)
    texts = [
        f"{name} ({_kind(properties.get(name))}{', required' if name in required else ''})"
        + (f" = {encoded(known[name]).decode()}" if name in known else "")
        for name in dict.fromkeys([*properties, *required, *known])
    ]
    return ", ".join(texts) or ("none" if schema is not None else "not told")


def _kind(schema: Any) -> str:
    from greenroom.workflows.call.examples import kind_of

    return "not told" if schema is None else kind_of(schema)


def _tries(found: Found) -> list[str]:
    from greenroom.workflows.call.examples import curl_line

    address = found.profile.address
    if found.profile.interface == "local":
        return [f"greenroom chat {address}", f"greenroom serve {address}"]
    return [curl_line(found.profile, found.wire), f"greenroom chat {address}"]
