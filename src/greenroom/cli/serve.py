"""`greenroom serve`: workflows behind an address, for Agenta's tools and OpenAI's clients."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from greenroom.benchmark.config import RunConfig
from greenroom.cli.config_options import ServedAgentCommand, takes
from greenroom.cli.options import Host, Port, ReadyJson

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from greenroom.benchmark.sessions import AgentSessions
    from greenroom.workflows import Workflow

_MEGABYTE = 1 << 20


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
    host: Host = "127.0.0.1",
    port: Port = 8000,
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
    timeout: Annotated[
        float | None,
        typer.Option(
            "--timeout",
            help="How many seconds a call may take, streams included; then it is 504. Without it, "
            "calls may take for ever.",
            min=0.001,
            metavar="SECONDS",
        ),
    ] = None,
    access_log: Annotated[
        bool | None,
        typer.Option(
            "--access-log/--no-access-log",
            help="Write a line to standard error for each request: method, path, status, "
            "milliseconds, bytes. By default yes, and no with --json.",
        ),
    ] = None,
    reload: Annotated[
        bool,
        typer.Option(
            "--reload",
            help="Load the workflows anew when their files change. A file with a mistake is told, "
            "and the workflows stay as they were.",
        ),
    ] = False,
    as_json: ReadyJson = False,
) -> None:
    """Serve workflows over HTTP until Ctrl-C.

    With GREENROOM_TOKEN set, requests need it as a bearer token.
    """
    from greenroom.cli.leaving import leave_behind_what_runs
    from greenroom.errors import InputError
    from greenroom.util.hosts import TOKEN_VARIABLE, check_host
    from greenroom.workflows import load_workflows
    from greenroom.workflows.serve import ReloadingApp, create_app, serve_until_stopped

    token, targets = os.environ.get(TOKEN_VARIABLE) or None, workflows or []
    check_host(host, token)
    sessions = [] if agent is None else [_sessions_of(agent, fields)]
    agents = [one.workflow() for one in sessions]
    found = [*load_workflows(*targets), *agents]
    if not found or (reload and not targets):
        also = "" if reload else ", or an agent by --agent"
        raise InputError(f"Name a workflow, as in app.py:name{also}.")
    _check_models(found)
    create = partial(
        create_app,
        token=token,
        cors_origins=cors or (),
        max_body=max_body * _MEGABYTE,
        max_concurrent_calls=max_concurrency,
        timeout=timeout,
        access_log=_writes_access_log(access_log, as_json=as_json),
    )
    served: ASGIApp = create(*found)
    if reload:
        tell = partial(typer.echo, err=True)
        served = ReloadingApp(targets, lambda: create(*load_workflows(*targets), *agents), tell)

    def announce(address: str) -> None:
        if as_json:
            typer.echo(json.dumps(_ready(address, found)))
        else:
            _print_ready(address, found, secured=token is not None)

    within = _running(sessions, served)
    serve_until_stopped(served, host=host, port=port, announce=announce, within=within)
    if not as_json:
        typer.echo("Stopped.")
    leave_behind_what_runs()


def _check_models(workflows: list[Workflow]) -> None:
    """Refuse agents of frameworks of which every call would fail."""
    from greenroom.agents.frameworks import FrameworkAgent
    from greenroom.errors import InputError

    for one in workflows:
        if isinstance(one, FrameworkAgent) and not one.has_model:
            raise InputError(
                f"'{one.name}' has no model of its own, and its callers bring none: give it one in "
                "its code, or serve it by --agent with a --model."
            )


def _sessions_of(agent: str, fields: dict[str, Any]) -> AgentSessions:
    from greenroom.benchmark import check_config
    from greenroom.benchmark.context import prepare_run
    from greenroom.benchmark.sessions import AgentSessions

    return AgentSessions(prepare_run(check_config(fields | {"agent_strategy": agent})))


def _writes_access_log(wanted: bool | None, *, as_json: bool) -> bool:
    """Whether requests are logged. Scripts that read one line may leave the rest unread."""
    from greenroom.workflows.serve import write_access_log

    logs = not as_json if wanted is None else wanted
    if logs:
        write_access_log()
    return logs


@asynccontextmanager
async def _running(sessions: list[AgentSessions], served: ASGIApp) -> AsyncGenerator[None]:
    from greenroom.workflows.serve import ReloadingApp

    async with AsyncExitStack() as stack:
        for one in sessions:
            await stack.enter_async_context(one.running())
        if isinstance(served, ReloadingApp):
            await stack.enter_async_context(served.watching())
        yield


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
        "/v1/chat/completions and /v1/responses.\n"
        f"A page on how to call them: {address}"
    )
    first = next((one for one in workflows if one.is_chat), workflows[0])
    where = _address(address, first, workflows)
    needs = "With GREENROOM_TOKEN set as it is here" if secured else "Try it"
    talk = f"\n  greenroom chat {where}" if first.is_chat else ""
    typer.echo(f"{needs}, from another terminal:\n  greenroom inspect {where}{talk}")
    typer.echo("Ctrl-C ends it.")


def _address(address: str, workflow: Workflow, workflows: list[Workflow]) -> str:
    return f"{address}/{workflow.slug}" if len(workflows) > 1 else address
