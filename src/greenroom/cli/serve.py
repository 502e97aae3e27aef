"""`greenroom serve`: workflows behind an address, for Agenta's tools and OpenAI's clients."""

from __future__ import annotations

import json
import os
import threading
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from greenroom.benchmark.config import RunConfig
from greenroom.cli.config_options import ServedAgentCommand, takes

if TYPE_CHECKING:
    from greenroom.benchmark.sessions import AgentSessions
    from greenroom.workflows import Workflow

_MEGABYTE = 1 << 20
_SECONDS_TO_END = 0.5


app = typer.Typer()


@app.command("serve", cls=ServedAgentCommand)
@takes(
    RunConfig,
    only=(
        "agent_options",
        "env",
        "env_options",
        "data",
        "model",
        "model_provider",
        "api_base",
        "temperature",
        "max_num_steps",
    ),
    defaults={"max_num_steps": 200},
)
def serve(
    fields: dict[str, Any],
    workflows: Annotated[
        list[str] | None,
        typer.Argument(
            help="Where the workflows are: app.py, app.py:name or package.module:name.",
            metavar="[WORKFLOW]...",
        ),
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option(
            "--agent",
            help="Serve a benchmark agent as a chat workflow: tool-calling, react, fastworkflow, "
            "... Every session has a world of its own.",
        ),
    ] = None,
    host: Annotated[
        str, typer.Option("--host", help="Where to listen; beyond this machine it needs a token.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", help="0 takes any that is free.", min=0, max=65535)
    ] = 8000,
    cors: Annotated[
        list[str] | None,
        typer.Option(
            "--cors",
            help="Let pages of this origin call from a browser, such as https://cloud.agenta.ai; "
            "'*' for any. Can be given several times.",
            metavar="ORIGIN",
        ),
    ] = None,
    max_body: Annotated[
        int, typer.Option("--max-body", help="The largest body, in megabytes.", min=1)
    ] = 16,
    max_concurrency: Annotated[
        int, typer.Option("--max-concurrency", help="How many calls may run at once.", min=1)
    ] = 256,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one line of JSON when it is ready, for scripts.")
    ] = False,
) -> None:
    """Serve workflows over HTTP until Ctrl-C.

    With GREENROOM_TOKEN set, requests need it as a bearer token.
    """
    from greenroom.errors import InputError
    from greenroom.util.hosts import TOKEN_VARIABLE, check_host
    from greenroom.workflows import load_workflows
    from greenroom.workflows.serve import create_app, serve_until_stopped

    token = os.environ.get(TOKEN_VARIABLE) or None
    check_host(host, token)
    found = load_workflows(*workflows) if workflows else []
    sessions: list[AgentSessions] = []
    if agent is not None:
        from greenroom.benchmark import check_config
        from greenroom.benchmark.context import prepare_run
        from greenroom.benchmark.sessions import AgentSessions

        config = check_config(fields | {"agent_strategy": agent})
        sessions.append(AgentSessions(prepare_run(config)))
        found.append(sessions[0].workflow())
    if not found:
        raise InputError("Name a workflow, as in app.py:name, or an agent by --agent.")
    served = create_app(
        *found,
        token=token,
        cors_origins=cors or (),
        max_body=max_body * _MEGABYTE,
        max_concurrent_calls=max_concurrency,
    )

    def announce(address: str) -> None:
        if as_json:
            typer.echo(json.dumps(_ready(address, found)))
        else:
            _print_ready(address, found, secured=token is not None)

    within = sessions[0].running() if sessions else None
    serve_until_stopped(served, host=host, port=port, announce=announce, within=within)
    if not as_json:
        typer.echo("Stopped.")
    _leave_behind_what_runs()


def _leave_behind_what_runs() -> None:
    """End at once, though handlers may still run in threads: nothing can stop those."""
    running = [one for one in threading.enumerate() if not one.daemon]
    running.remove(threading.main_thread())
    until = time.monotonic() + _SECONDS_TO_END
    for one in running:  # idle threads have been told to end, and need a moment
        one.join(max(0.0, until - time.monotonic()))
    if any(one.is_alive() for one in running):
        typer.echo("Calls that still ran are left unfinished.", err=True)
        os._exit(0)


def _ready(address: str, workflows: list[Workflow]) -> dict[str, Any]:
    return {
        "address": address,
        "workflows": [
            {
                "name": one.name,
                "is_chat": one.is_chat,
                "address": _address(address, one, workflows),
                "description": one.description,
            }
            for one in workflows
        ],
    }


def _print_ready(address: str, workflows: list[Workflow], *, secured: bool) -> None:
    typer.echo(f"Serving at {address}")
    for one in workflows:
        kind = "chat workflow" if one.is_chat else "workflow"
        about = f": {one.description}" if one.description else ""
        typer.echo(f"  {_address(address, one, workflows)}  {kind} {one.name}{about}")
    typer.echo(
        "Each has POST /invoke, /inspect, /run and /test; chat workflows also "
        "/v1/chat/completions.\n"
        f"All of it: {address}/openapi.json"
    )
    first = next((one for one in workflows if one.is_chat), workflows[0])
    where = _address(address, first, workflows)
    needs = "With GREENROOM_TOKEN set as it is here" if secured else "Try it"
    talk = f"\n  greenroom chat {where}" if first.is_chat else ""
    typer.echo(f"{needs}, from another terminal:\n  greenroom inspect {where}{talk}")
    typer.echo("Ctrl-C ends it.")


def _address(address: str, workflow: Workflow, workflows: list[Workflow]) -> str:
    return f"{address}/{workflow.slug}" if len(workflows) > 1 else address
