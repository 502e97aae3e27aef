"""`greenroom playground`: the pages, on this machine."""

from __future__ import annotations

import json
import os
import sys
from typing import Annotated

import typer

from greenroom.cli.options import Host, Port, ReadyJson

app = typer.Typer()


@app.command("playground")
def playground(
    workflows: Annotated[
        list[str] | None,
        typer.Argument(
            help="Workflows to talk to: app.py, app.py:name or package.module:name.",
            metavar="[WORKFLOW]...",
        ),
    ] = None,
    url: Annotated[
        list[str] | None,
        typer.Option("--url", help="A served workflow. Can be given several times.", metavar="URL"),
    ] = None,
    host: Host = "127.0.0.1",
    port: Port = 8700,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the link in a browser.")
    ] = True,
    as_json: ReadyJson = False,
) -> None:
    """Open the pages where people talk to workflows and look at runs, until Ctrl-C.

    The link that it prints lets one browser in, once. With GREENROOM_TOKEN set, programs can send
    it as a bearer token.
    """
    from greenroom.cli.leaving import leave_behind_what_runs
    from greenroom.errors import InputError
    from greenroom.playground.access import Access
    from greenroom.playground.app import create_app, guarded
    from greenroom.playground.known_workflows import clean_address
    from greenroom.playground.pages import Pages
    from greenroom.playground.state import Playground
    from greenroom.playground.targets import opener_of
    from greenroom.store import open_store
    from greenroom.util.hosts import TOKEN_VARIABLE, check_host
    from greenroom.workflows import load_workflows
    from greenroom.workflows.call.addresses import is_address
    from greenroom.workflows.serve import serve_until_stopped

    token = os.environ.get(TOKEN_VARIABLE) or None
    check_host(host, token)
    Pages().check()
    files, addresses = list(workflows or []), list(url or [])
    for one in addresses:
        if not is_address(one):
            raise InputError(f"--url {one} is no address: it begins with http:// or https://.")
    for one in filter(is_address, [*files, *addresses]):
        clean_address(one)  # errors are told before anything is open, here and below
    named = [one for one in files if not is_address(one) and opener_of(one) is None]
    load_workflows(*named)
    access = Access.of_person(token)
    store = open_store()

    def announce(address: str) -> None:
        link = access.new_link(address)
        if as_json:
            typer.echo(json.dumps({"address": address, "link": link}))
            return
        typer.echo(f"The playground is open. This link lets one browser in, once:\n  {link}")
        typer.echo(f"It shows the store {store.location}. Ctrl-C ends it; everything is kept.")
        if browser and sys.stdout.isatty():
            _open_browser(link)

    opened = Playground(store, [*files, *addresses])
    door = guarded(create_app(opened), access)
    try:
        serve_until_stopped(door, host=host, port=port, announce=announce, on_end=opened.end)
    finally:
        store.close()
    if not as_json:
        typer.echo("Stopped.")
    leave_behind_what_runs()


def _open_browser(link: str) -> None:
    import webbrowser

    webbrowser.open(link)
