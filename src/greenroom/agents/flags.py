"""Flags of agents: each setting of the chosen agent is a flag of the command."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence, Set
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from greenroom.agents.strategies import find_strategy, strategy_names
from greenroom.errors import InputError
from greenroom.options import Option, options_of


class UnknownFlag(InputError):
    """A flag that neither the command nor the agent knows."""


@dataclass(frozen=True)
class AgentFlags:
    """The flags of a command, and the flag that names its agent."""

    known: Mapping[str, bool]
    """The command's flags: whether a value follows."""
    default: Callable[[Mapping[str, str]], str]
    """The default agent, from the values of the other flags."""
    flag: str = "--agent-strategy"

    def spelt_out(self, words: Sequence[str]) -> list[str]:
        """The words of a command with each flag of the agent as `--agent-option NAME=VALUE`.

        If no agent is named and only one installed agent has the flags, that one plays.
        """
        values, unknown = self._scanned(words)
        if not unknown:
            return list(words)
        agent, named = values.get(self.flag), [self.flag] if self.flag in values else []
        flags = set(unknown.values())
        if agent is None:
            agent = self.default(values)
            if not _has_all(agent, flags):
                agent = _only(flags) or agent
        options = _flags_of(agent)
        spelt: list[str] = [] if named else [self.flag, agent]
        lists: dict[str, list[str]] = {}
        places = iter(enumerate(words))
        for place, word in places:
            if place not in unknown:
                spelt.append(word)
                continue
            flag = unknown[place]
            if flag not in options:
                raise UnknownFlag(_complaint(flag, agent, [*self.known, *options]))
            option, value = options[flag][0], _own_value(word, words[place + 1 :], *options[flag])
            if value is None:
                value = next(places)[1]
            if option.multiple:
                lists.setdefault(option.field, []).append(value)
            else:
                spelt += ["--agent-option", f"{option.field}={value}"]
        # A list may be given by several flags, and is one option.
        for field, given in lists.items():
            spelt += ["--agent-option", f"{field}={','.join(given)}"]
        return spelt

    def _scanned(self, words: Sequence[str]) -> tuple[dict[str, str], dict[int, str]]:
        """The values of known flags, and unknown ones by their places."""
        values: dict[str, str] = {}
        unknown: dict[int, str] = {}
        places = iter(enumerate(words))
        for place, word in places:
            if word == "--":
                break
            flag, separator, value = word.partition("=")
            if flag not in self.known:
                if flag.startswith("--"):
                    unknown[place] = flag
            elif self.known[flag]:
                values[flag] = value if separator else next(places, (place, ""))[1]
        return values, unknown


def with_agent_settings(
    fields: Mapping[str, Any], known: Container[str], default: str
) -> dict[str, Any]:
    """The fields of a configuration, with those that it does not know as settings of the agent.

    If no agent is named and only one installed agent has the settings, that one plays.
    """
    own = {name: value for name, value in fields.items() if name not in known}
    if not own:
        return dict(fields)
    flags = {f"--{name.replace('_', '-')}" for name in own}
    agent = fields.get("agent_strategy") or default
    if not _has_all(agent, flags):
        agent = None if "agent_strategy" in fields else _only(flags)
    if agent is None:
        return dict(fields)  # whoever checks them tells what is wrong
    options = {**fields.get("agent_options", {}), **own}
    rest = {name: value for name, value in fields.items() if name not in own}
    return rest | {"agent_strategy": agent, "agent_options": options}


def flags_of_options(options: Sequence[Option]) -> dict[str, bool]:
    """The flags of options: whether a value follows."""
    return {name: not option.is_switch for option in options for name in spellings(option)}


def spellings(option: Option) -> list[str]:
    """All spellings of an option, `--no-` included."""
    no = [f"--no-{option.names[0][2:]}"] if option.is_switch else []
    return [*option.names, *no]


def _flags_of(agent: str) -> dict[str, tuple[Option, bool]]:
    """The flags of an agent's settings: the option of each, and its value for a switch."""
    return {
        name: (option, name in option.names)
        for option in options_of(find_strategy(agent).settings)
        for name in spellings(option)
    }


def _own_value(word: str, following: Sequence[str], option: Option, on: bool) -> str | None:
    """The value of a flag, if it is not the word that follows."""
    flag, separator, value = word.partition("=")
    # A switch may have a value, too: --x true.
    if option.is_switch and not (on and following[:1] in (["true"], ["false"])):
        return value or ("true" if on else "false")
    if not separator and not following:
        raise UnknownFlag(f"Option '{flag}' requires an argument.")
    return value if separator else None


def _has_all(agent: str, flags: Set[str]) -> bool:
    return flags <= _flags_of(agent).keys()


def _only(flags: Set[str]) -> str | None:
    """The only installed agent with all these flags, if there is exactly one."""
    found = [name for name in strategy_names() if _has_all(name, flags)]
    return found[0] if len(found) == 1 else None


def _complaint(flag: str, agent: str, known: Sequence[str]) -> str:
    close = get_close_matches(flag, known, n=1)
    hint = f" Did you mean {close[0]}?" if close else ""
    own = ", ".join(flag for flag in _flags_of(agent) if not flag.startswith("--no-"))
    return f"No such option: {flag}.{hint} The {agent} agent adds {own or 'none'}."
