"""A FastWorkflow workflow made from a domain's tools: a command for each of them.

The same tools always give the same files, byte by byte: intent models that were trained for a
workflow are found by its content.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson

from greenroom.agents.fastworkflow.fastworkflow_tool_map import command_name
from greenroom.agents.fastworkflow.tool_values import properties_of
from greenroom.errors import InputError
from greenroom.util.caches import cache_root

_COMMAND = '''\
"""The command `{command}`, generated from the schema of the tool."""

from greenroom.agents.fastworkflow.tool_commands import ToolResponse, ToolSignature


class Signature(ToolSignature):
    __doc__ = {description!r}
    parameters = {parameters}
    plain_utterances = {utterances}


class ResponseGenerator(ToolResponse):
    domain = {domain!r}
    tool = {tool!r}
'''

_FRAMES = (
    "{0}.",
    "Please {0}.",
    "I want to {0}.",
    "Can you {0} for me?",
    "I would like you to {0}.",
    "It is time to {0}.",
    "Could somebody {0} now?",
    "Go ahead and {0}.",
)


def workflow_from_tools(domain: str, tool_infos: Iterable[Mapping[str, Any]]) -> Path:
    """The folder of a workflow with a command for each tool, in Greenroom's cache."""
    files = command_files(domain, tool_infos)
    digest = sha256(orjson.dumps(files, option=orjson.OPT_SORT_KEYS)).hexdigest()
    name = f"{command_name(domain)}_workflow"
    place = cache_root() / "fastworkflow" / "workflows" / f"{name}-{digest[:16]}"
    place.parent.mkdir(parents=True, exist_ok=True)
    if not place.exists():
        with TemporaryDirectory(dir=place.parent, prefix=".") as folder:
            draft = Path(folder) / "draft"
            commands = draft / name / "_commands"
            commands.mkdir(parents=True)
            for file, text in files.items():
                (commands / file).write_text(text, encoding="utf-8")
            # Whoever makes the same at the same time writes the same.
            with suppress(OSError):
                draft.rename(place)
    return place / name


def command_files(domain: str, tool_infos: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """The text of each command's file, by the file's name."""
    tools = [info["function"] for info in tool_infos]
    commands = {tool["name"]: _command_of(tool["name"], domain) for tool in tools}
    twice = [name for name, count in Counter(commands.values()).items() if count > 1]
    if not tools or twice:
        problem = f"several tools for the command {twice[0]}" if twice else "no tools"
        raise _no_workflow(domain, f"the domain has {problem}")
    said = {tool["name"]: _utterances(commands[tool["name"]], tool) for tool in tools}
    shared = Counter(words.lower() for own in said.values() for words in own)
    return {
        f"{commands[tool['name']]}.py": _COMMAND.format(
            command=commands[tool["name"]],
            description=tool.get("description") or commands[tool["name"]].replace("_", " "),
            parameters=_literal(tool.get("parameters") or {}),
            # What is said of two tools tells neither.
            utterances=_literal([one for one in said[tool["name"]] if shared[one.lower()] == 1]),
            domain=domain,
            tool=tool["name"],
        )
        for tool in tools
    }


def _no_workflow(domain: str, problem: str) -> InputError:
    return InputError(
        f"No FastWorkflow workflow can be made for {domain}: {problem}. Name a workflow of yours "
        "by --workflow-path."
    )


def _command_of(tool: str, domain: str) -> str:
    command = command_name(tool)
    # FastWorkflow passes over files that begin with an underscore.
    if not re.match("[a-z]", command):
        problem = "cannot be a command, because its name does not begin with a letter"
        raise _no_workflow(domain, f"the tool {tool!r} {problem}")
    return command


def _literal(value: Any, indent: str = "    ") -> str:
    """A value as Python source, an item to a line: the same text from every version of Python."""
    deeper = f"{indent}    "
    match value:
        case {} if value:
            lines = [f"{key!r}: {_literal(inner, deeper)}" for key, inner in value.items()]
        case [_, *_]:
            lines = [_literal(inner, deeper) for inner in value]
        case _:
            return repr(value)
    first, last = "{}" if isinstance(value, Mapping) else "[]"
    return "".join([first, *(f"\n{deeper}{line}," for line in lines), f"\n{indent}{last}"])


def _utterances(command: str, tool: Mapping[str, Any]) -> list[str]:
    """The tool's name in several sentences, its description, and its parameters."""
    words = command.replace("_", " ").strip()
    said = [frame.format(words) for frame in _FRAMES]
    sentences = re.split(r"(?<=[.!?])\s+", " ".join((tool.get("description") or "").split()))
    said += [sentence for sentence in sentences if sentence]
    clause = re.split(r"[,;:.]", sentences[0])[0]
    if clause:
        said.append(f"Could you {clause[0].lower()}{clause[1:]}?")
    names = [name.replace("_", " ") for name in properties_of(tool.get("parameters") or {})]
    if names:
        said.append(f"Here is the {' and the '.join(names[:3])}: {words}.")
        said += [f"{words} by {name}." for name in names[:3]]
    return list(dict.fromkeys(one[0].upper() + one[1:] for one in said))
