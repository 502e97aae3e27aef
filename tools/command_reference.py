"""`make docs`: every command with its arguments and options, as Markdown, from the commands."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from enum import EnumType
from typing import Literal, get_args, get_origin

from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption
from typer.main import get_command

from greenroom.agents import find_strategy, strategy_names
from greenroom.agents.flags import spellings
from greenroom.cli.app import LazyGroup, app, load_command
from greenroom.options import Option, options_of

INTRODUCTION = """\
# Commands

Generated from the commands themselves by `make docs`; a test proves that it is up to date.

Every command takes `--help`. Commands that print a result take `--json` and then print that result
and nothing else on standard output; progress goes to standard error.

| Exit status | Meaning |
| --- | --- |
| 0 | All is well. |
| 1 | A check found a difference or a fault; or the error is a bug, and the message says so. |
| 2 | Something that you can correct: a wrong name, a broken file. The message says what. |
| 3 | The run's budget is spent; it can be resumed with a larger one. |
| 130 | You stopped the command by Ctrl-C. A run, an evaluation or a judging can be resumed. |
| 143 | SIGTERM stopped it, in the same way; 129 for SIGHUP, a closed terminal. |

| Variable | Meaning |
| --- | --- |
| `GREENROOM_DATABASE_URL` | Where runs are kept, instead of a file in the user's directories. |
| `GREENROOM_DATABASE_WAIT` | Seconds that a job waits for its database: 300. |
| `GREENROOM_DATA` | The default of `--data`. |
| `GREENROOM_CACHE` | For pulled packs and kept answers, instead of the user's cache directory. |
| `GREENROOM_API_KEY` | The key for a server named by `--api-base`. |
| `GREENROOM_MAX_ANSWER_MB` | The largest answer of a model or a workflow that is read: 16. |
| `GREENROOM_TOKEN` | What clients of `greenroom model-server` have to send as their key. |
| `OPENAI_API_KEY` | The key for OpenAI. |
| `ANTHROPIC_API_KEY`, `MISTRAL_API_KEY`, ... | The keys of others: see [models](models.md). |
| `HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY` | A proxy for asking models. |
| `GREENROOM_DEBUG` | Set to anything, it shows tracebacks as `--debug` does. |
"""


def reference() -> str:
    """The whole page."""
    sections = _sections("greenroom", get_command(app))
    return "\n".join([INTRODUCTION, *sections, *_agents()])


def _sections(path: str, command: object) -> Iterator[str]:
    assert isinstance(command, TyperCommand | TyperGroup), f"{path} is no command of typer"
    if command.hidden:
        return
    yield f"## {path}\n"
    yield f"{(command.help or '').strip()}\n"
    arguments = [p for p in command.params if isinstance(p, TyperArgument) and not p.hidden]
    options = [p for p in command.params if isinstance(p, TyperOption) and not p.hidden]
    yield f"```text\n{_usage(path, command, arguments)}\n```\n"
    if arguments:
        rows = [(_code(_name(a)), _needed(a), a.help or "") for a in arguments]
        yield from _table(("Argument", "Default", "Meaning"), rows)
    if options:
        yield from _table(
            ("Option", "Value", "Default", "Variable", "Meaning"),
            [
                (_flags(o), _value(o), _needed(o), _code(_variable(o)), o.help or "")
                for o in options
            ],
        )
    if isinstance(command, TyperGroup):
        for name, inner in command.commands.items():
            real = load_command(name) if isinstance(command, LazyGroup) else inner
            yield from _sections(f"{path} {name}", real)


def _agents() -> Iterator[str]:
    """The flags that agents add: the settings that each declares."""
    yield "## Flags of the agents\n"
    yield (
        "Each setting of the chosen agent is a flag of `greenroom run`, `greenroom serve` and "
        "`run.py`, and can be\ngiven as `--agent-option NAME=VALUE`, too.\n"
    )
    for name in strategy_names():
        options = options_of(find_strategy(name).settings)
        if not options:
            continue
        yield f"### {name}\n"
        rows = [
            (", ".join(map(_code, spellings(one))), _setting(one), _default(one), one.help)
            for one in options
        ]
        yield from _table(("Option", "Value", "Default", "Meaning"), rows)


def _setting(option: Option) -> str:
    if option.is_switch:
        return ""
    return ", ".join(map(_code, option.choices)) or _code(
        option.flag.metavar or option.kind.__name__
    )


def _default(option: Option) -> str:
    if option.required:
        return "required"
    return "" if option.default in (None, False) else _code(str(option.default))


def _usage(path: str, command: TyperCommand | TyperGroup, arguments: list[TyperArgument]) -> str:
    names = [_name(a) if a.required or a.metavar else f"[{_name(a)}]" for a in arguments]
    inner = ["COMMAND ..."] if isinstance(command, TyperGroup) else []
    return " ".join([path, "[OPTIONS]", *names, *inner])


def _name(argument: TyperArgument) -> str:
    if argument.metavar:  # It says itself whether it may be left out or repeated.
        return argument.metavar
    return f"{argument.name.upper()}..." if argument.nargs == -1 else argument.name.upper()


def _flags(option: TyperOption) -> str:
    return ", ".join(_code(flag) for flag in [*option.opts, *option.secondary_opts])


def _value(option: TyperOption) -> str:
    if option.is_flag:
        return ""
    choices = option.type_descriptor.annotation
    if isinstance(choices, EnumType):
        return ", ".join(_code(str(choice)) for choice in choices)
    if get_origin(choices) is Literal:
        return ", ".join(_code(str(choice)) for choice in get_args(choices))
    text = _code(option.metavar or option.bare_type().removesuffix("]").removeprefix("list["))
    if option.min is not None and option.max is not None:
        text += f", {option.min} to {option.max}"
    return f"{text}, may be repeated" if option.multiple else text


def _needed(parameter: TyperArgument | TyperOption) -> str:
    if parameter.required:
        return "required"
    default = parameter.default
    return "" if default is None or default is False else _code(str(default))


def _variable(option: TyperOption) -> str:
    names = option.envvar or ""
    return names if isinstance(names, str) else ", ".join(names)


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def _table(headings: tuple[str, ...], rows: list[tuple[str, ...]]) -> Iterator[str]:
    lines = [headings, ("---",) * len(headings), *rows]
    # A bar would end the cell, even within code.
    cells = ([cell.replace("|", "\\|") for cell in line] for line in lines)
    yield "\n".join(f"| {' | '.join(line)} |" for line in cells) + "\n"


if __name__ == "__main__":
    sys.stdout.write(reference())
