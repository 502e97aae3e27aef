"""`greenroom model-server`: a scripted model, without a key and without a network."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from greenroom.benchmark.config import RunConfig, check_config
from greenroom.cli.config_options import takes
from greenroom.cli.options import Host, Port

if TYPE_CHECKING:
    from greenroom.model_server import RunningServer


app = typer.Typer()


@app.command("model-server")
@takes(RunConfig, only=("env", "env_options", "data", "task_split", "seed"))
def model_server(
    fields: dict[str, Any],
    host: Host = "127.0.0.1",
    port: Port = 8400,
    latency: Annotated[
        str, typer.Option("--latency", help="How long answers take: 50ms, or 20ms-200ms.")
    ] = "0",
    fault_rate: Annotated[
        float, typer.Option("--fault-rate", help="The share of requests that go wrong, 0 to 1.")
    ] = 0.0,
    faults: Annotated[
        str | None,
        typer.Option(
            "--faults",
            help="What goes wrong: 429, 500, timeout, drop, truncated, malformed, wrong-tool, "
            "bad-arguments, empty, no-choices; by default anything.",
            metavar="KIND,...",
        ),
    ] = None,
    retry_after: Annotated[
        str, typer.Option("--retry-after", help="What a 429 says to wait: 50ms, or 50ms-1s.")
    ] = "50ms",
    hang: Annotated[
        float, typer.Option("--hang", help="Seconds until a request that times out is closed.")
    ] = 30.0,
) -> None:
    """Serve scripted agents and users as a language model that speaks OpenAI's protocol.

    The model `oracle` solves every task and `synthetic-0.8` solves four in five. With
    GREENROOM_TOKEN set, requests need it as a bearer token.
    """
    from greenroom.domains.domain import load_domain
    from greenroom.model_server import (
        FAULTS,
        ServerSettings,
        parse_faults,
        parse_time_range,
        serve_until_stopped,
    )
    from greenroom.util.hosts import TOKEN_VARIABLE

    config = check_config(fields)
    settings = ServerSettings(
        seed=config.seed,
        latency=parse_time_range(latency),
        fault_rate=fault_rate,
        faults=FAULTS if faults is None else parse_faults(faults),
        retry_after=parse_time_range(retry_after),
        hang=hang,
        token=os.environ.get(TOKEN_VARIABLE) or None,
        host=host,
        port=port,
    )
    domain = load_domain(config.env, config.data, config.env_options)
    task_split = domain.pack.split_named(config.task_split)
    title = f"{len(domain.tasks(task_split))} tasks of {domain.name}, split {task_split}"

    def announce(server: RunningServer) -> None:
        typer.echo(f"Serving {title}, at {server.api_base}")
        key = f"GREENROOM_API_KEY=${TOKEN_VARIABLE} " if settings.token else ""
        typer.echo(
            f"Models: oracle, synthetic-0.8, user, judge. Try it:\n  {key}greenroom run "
            f"--agent-strategy tool-calling --model oracle --api-base {server.api_base}\n"
            f"Counters: {server.address}/stats. Ctrl-C ends it."
        )

    stats = serve_until_stopped(domain, task_split, settings, announce)
    typer.echo(f"Answered {stats.requests} requests, {stats.faults.total()} of them with a fault.")
