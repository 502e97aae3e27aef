"""Flags of agents: each setting of the chosen agent is a flag of the command."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

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
        if agent is None:
            agent = self.default(values)
            if not _has_all(agent, unknown):
                agent = _only(unknown) or agent
        options = _flags_of(agent)
        spelt: list[str] = [] if named else [self.flag, agent]
        places = iter(enumerate(words))
        for place, word in places:
            flag, separator, value = word.partition("=")
            if place not in unknown.values():
                spelt.append(word)
                continue
            if flag not in options:
                raise UnknownFlag(_complaint(flag, agent, [*self.known, *options]))
            option, on = options[flag]
            # A switch may have a value, too: --x true.
            typed = on and words[place + 1 : place + 2] in (["true"], ["false"])
            if option.is_switch and not typed:
                value = value or ("true" if on else "false")
            elif not separator:
                following = next(places, None)
                if following is None:
                    raise UnknownFlag(f"Option '{flag}' requires an argument.")
                value = following[1]
            spelt += ["--agent-option", f"{option.field}={value}"]
        return spelt

    def _scanned(self, words: Sequence[str]) -> tuple[dict[str, str], dict[str, int]]:
        """The values of known flags, and the places of unknown ones."""
        values: dict[str, str] = {}
        unknown: dict[str, int] = {}
        places = iter(enumerate(words))
        for place, word in places:
            if word == "--":
                break
            flag, separator, value = word.partition("=")
            if flag not in self.known:
                if flag.startswith("--"):
                    unknown[flag] = place
            elif self.known[flag]:
                values[flag] = value if separator else next(places, (place, ""))[1]
        return values, unknown


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


def _has_all(agent: str, flags: Mapping[str, int]) -> bool:
    return flags.keys() <= _flags_of(agent).keys()


def _only(flags: Mapping[str, int]) -> str | None:
    """The only installed agent with all these flags, if there is exactly one."""
    found = [name for name in strategy_names() if _has_all(name, flags)]
    return found[0] if len(found) == 1 else None


def _complaint(flag: str, agent: str, known: Sequence[str]) -> str:
    close = get_close_matches(flag, known, n=1)
    hint = f" Did you mean {close[0]}?" if close else ""
    own = ", ".join(flag for flag in _flags_of(agent) if not flag.startswith("--no-"))
    return f"No such option: {flag}.{hint} The {agent} agent adds {own or 'none'}."
