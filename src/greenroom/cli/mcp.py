"""`greenroom mcp`: a domain's tools for any MCP client, to play a task by hand."""

from __future__ import annotations

import json
import os
import secrets
from typing import TYPE_CHECKING, Annotated, Any

import typer

from greenroom.benchmark.config import RunConfig, check_config
from greenroom.cli.config_options import takes
from greenroom.cli.options import Host, ListOptionsCommand, Port, ReadyJson

if TYPE_CHECKING:
    from greenroom.benchmark.by_hand import PlayByHand

app = typer.Typer()


@app.command("mcp", cls=ListOptionsCommand)
@takes(
    RunConfig,
    only=("env", "env_options", "data", "task_split", "task_ids", "max_num_steps"),
    defaults={"max_num_steps": 200},
)
def mcp(
    fields: dict[str, Any],
    http: Annotated[
        bool,
        typer.Option("--http", help="Serve over HTTP instead of standard input and output."),
    ] = False,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    as_json: ReadyJson = False,
) -> None:
    """Give an MCP client the tools and the policy of a domain, to play a task by hand.

    The client talks MCP over standard input and output, or over HTTP with a token: GREENROOM_TOKEN,
    or a new one that is shown.
    """
    from greenroom.benchmark.by_hand import PlayByHand
    from greenroom.cli.options import chosen_tasks
    from greenroom.domains.domain import load_domain
    from greenroom.errors import InputError
    from greenroom.workflows.serve.mcp_transport import check_mcp

    config = check_config(fields)
    check_mcp()
    domain = load_domain(config.env, config.data, config.env_options)
    tasks = chosen_tasks(domain, config) if config.task_ids else [0]
    if len(tasks) != 1:
        raise InputError("One task is played at a time: name one, as in --task-ids 5.")
    split = domain.pack.split_named(config.task_split)
    play = PlayByHand(domain, tasks[0], split=split, max_steps=config.max_num_steps)
    if http:
        _serve(play, host, port, as_json=as_json)
    else:
        _talk(play)


def _talk(play: PlayByHand) -> None:
    """Over standard input and output: whatever else there is to say goes to standard error."""
    import anyio
    from mcp.server.stdio import stdio_server

    async def talk() -> str:
        server = (await play.begin()).server
        async with stdio_server() as (received, sent):
            await server.run(received, sent, server.create_initialization_options())
        return await play.end()

    typer.echo(anyio.run(talk), err=True)


def _serve(play: PlayByHand, host: str, port: int, *, as_json: bool) -> None:
    import anyio

    from greenroom.util.hosts import TOKEN_VARIABLE
    from greenroom.workflows.serve import serve_until_stopped
    from greenroom.workflows.serve.mcp_transport import mcp_app

    known = os.environ.get(TOKEN_VARIABLE)
    token = known or secrets.token_urlsafe()
    environment = anyio.run(play.begin)

    def announce(address: str) -> None:
        url = f"{address}/mcp"
        if as_json:
            typer.echo(json.dumps({"url": url} | ({} if known else {"token": token})))
            return
        named = f"${TOKEN_VARIABLE}" if known else token
        typer.echo(
            f"Serving task {play.task_index} of {play.environment.domain.name} at {url}\n"
            f"  Authorization: Bearer {named}\nCtrl-C ends it."
        )

    served = mcp_app(environment.handle, token=token)
    serve_until_stopped(served, host=host, port=port, announce=announce)
    typer.echo(anyio.run(play.end))
