"""The command on its own, for tests that start it as a process."""

from __future__ import annotations

import typer

from greenroom.cli import model_server


def command() -> typer.Typer:
    """A program with this one command, under its name."""
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.callback()(lambda: None)
    app.add_typer(model_server.app)
    return app


if __name__ == "__main__":
    command()()
