"""The settings of agent commands: the words of the command, its protocol and its environment."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, cast

from pydantic import AfterValidator, BeforeValidator, Field

from greenroom.agents.gateway import TURN_CALLS
from greenroom.config import Seconds
from greenroom.errors import InputError
from greenroom.options import Count, Flag, Settings

Protocol = Literal["text", "jsonl"]

PLACEHOLDERS = ("mcp_url", "model", "model_base")
"""What a command may name: the rest of an episode is none of its business."""
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
_PASSED = frozenset({"LANG", "LANGUAGE", "PATH", "SSL_CERT_DIR", "SSL_CERT_FILE", "TZ"})
_LOCALE = "LC_"
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _read_command(given: str) -> str:
    """The command with its files and folders as absolute paths: it runs in another folder."""
    try:
        words = shlex.split(given)
    except ValueError as error:
        raise InputError(f"The agent's command cannot be read: {error}.") from error
    if not words:
        raise InputError("The agent's command is empty.")
    for name in _PLACEHOLDER.findall(given):
        if name not in PLACEHOLDERS:
            known = ", ".join(f"{{{one}}}" for one in PLACEHOLDERS)
            raise InputError(f"The agent's command names {{{name}}}. It may name {known}.")
    first, *rest = words
    program = str(Path(first).expanduser().absolute()) if os.sep in first else first
    return shlex.join([program, *(_absolute(word) for word in rest)])


def _absolute(word: str) -> str:
    option, sign, named = word.partition("=") if word.startswith("-") else ("", "", word)
    try:
        path = Path(named).expanduser()
        # A plain word may be the name of a folder by chance.
        looks_like_folder = os.sep in named or named in (".", "..")
        if path.is_file() or (looks_like_folder and path.is_dir()):
            return f"{option}{sign}{path.absolute()}"
    except (OSError, RuntimeError, ValueError):  # too long for a path, or nobody's home
        pass
    return word


def _read_names(given: Any) -> Any:
    words = cast("Sequence[Any]", [given] if isinstance(given, str) else given)
    names = [name for word in words for name in str(word).replace(",", " ").split()]
    for name in names:
        if not _VARIABLE.fullmatch(name):
            raise InputError(f"agent_env takes names of variables, without values: not '{name}'.")
    return names


class CommandSettings(Settings):
    """The settings of the command agent."""

    agent_command: Annotated[str, AfterValidator(_read_command), Flag(metavar="COMMAND")] = Field(
        description="The command that plays, with {mcp_url}, {model_base} and {model} where it "
        "wants the episode's addresses and the model's name."
    )
    agent_protocol: Protocol = Field(
        default="jsonl",
        description="How it talks: jsonl, a process for all turns and JSON lines both ways, or "
        "text, a process for each turn that reads the message and prints its answer.",
    )
    agent_env: Annotated[list[str], BeforeValidator(_read_names), Flag(metavar="NAME")] = Field(
        default_factory=list[str],
        description="An environment variable that it gets; by default it gets none of yours but "
        "PATH and the locale.",
    )
    turn_seconds: Seconds = Field(default=600.0, description="Time that a turn may take.")
    turn_calls: Count = Field(
        default=TURN_CALLS, description="Questions to the run's model that a turn may take."
    )
    policy: bool = Field(default=True, description="Tell it the domain's policy.")


def words_of(command: str) -> list[str]:
    """The words of a command whose program is there; raises InputError if it is not."""
    if not hasattr(os, "killpg"):
        raise InputError("Agent commands need a system with process groups: Linux, macOS or WSL.")
    words = shlex.split(command)
    program = words[0]
    if shutil.which(program) is None:
        why = "is not executable" if Path(program).is_file() else "was not found"
        raise InputError(f"The program of the agent's command, '{program}', {why}.")
    return words


def filled(words: Sequence[str], values: Mapping[str, str]) -> list[str]:
    """The words with the values of their placeholders."""
    return [_PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), word) for word in words]


def passed_variables(names: Sequence[str]) -> dict[str, str]:
    """What a command gets of our environment: a short list, and what was named."""
    missing = [name for name in names if name not in os.environ]
    if missing:
        raise InputError(f"agent_env names {', '.join(missing)}, which is not set.")
    return {
        name: value
        for name, value in os.environ.items()
        if name in _PASSED or name.startswith(_LOCALE) or name in names
    }
