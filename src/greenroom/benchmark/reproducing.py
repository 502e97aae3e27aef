"""The commands that play a run again."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, cast

from pydantic import BaseModel

from greenroom.benchmark.config import RunConfig
from greenroom.domains.plugins import TAU2
from greenroom.errors import redacted
from greenroom.options import Option, options_of
from greenroom.store import RunRecord

_LEFT_OUT: Final = frozenset({"data", "gates", "strict"})
"""What says nothing of how a run is played, or is written another way."""

_CHECKOUT: Final = "checkout of "
_GENERATED: Final = re.compile(r"\+seed\.(-?\d+)\.tasks\.(\d+)(?:\.(\w+))?")
"""The version of a generated pack; without a difficulty it is "easy"."""


def commands_of(run: RunRecord) -> list[str]:
    """The commands that fetch the data of a run, as far as that is known, and play it again."""
    data, fetch = _data(run)
    words = ["greenroom", "run", *(["--data", data] if data else [])]
    words += [*flags_of(RunConfig, run.config, without=_LEFT_OUT), "--name", run.name]
    return [redacted(line) for line in (*fetch, shlex.join(words))]


def flags_of(
    model: type[BaseModel], config: Mapping[str, Any], without: Collection[str] = ()
) -> Iterator[str]:
    """The words that give a configuration at the command line; defaults are left out."""
    for option in options_of(model):
        if option.field not in without:
            yield from _words(option, config.get(option.field))


def _data(run: RunRecord) -> tuple[str | None, list[str]]:
    """What --data takes, and what has to be done before."""
    given, pack = run.config.get("data"), run.pack
    if not given:
        return None, []
    source, commit = str(pack.get("source", "")), str(pack.get("commit") or "")
    if source.startswith(_CHECKOUT) and commit:
        repository = source.removeprefix(_CHECKOUT)
        folder = repository.rsplit("/", 1)[-1]
        tau2 = pack.get("edition") == TAU2
        return folder.replace("tau2-bench", TAU2) if tau2 else "tau-bench", [
            shlex.join(["git", "clone", f"https://github.com/{repository}"]),
            shlex.join(["git", "-C", folder, "checkout", commit]),
            shlex.join(["greenroom", "data", "import", folder]),
        ]
    if pack.get("name") == TAU2 and "wheel" in source:
        return TAU2, ["greenroom data pull tau2"]
    name, path = str(pack.get("name", "")), Path(str(given))
    seeded = _GENERATED.search(str(pack.get("version", "")))
    if seeded is not None and source.startswith("generated") and name.startswith("greenroom-"):
        seed, tasks, difficulty = seeded.groups(default="easy")
        sizes = ["--seed", seed, "--tasks", tasks, "--difficulty", difficulty]
        return name, [shlex.join(["greenroom", "generate", "--env", run.env, *sizes, "-o", name])]
    # A path of one machine says nothing on another; a bare name could be that of a pulled pack.
    return f"./{path.name}" if path.is_absolute() else path.name, []


def _words(option: Option, value: Any) -> Iterator[str]:
    name = option.names[0]
    if value is None or value == option.default or value in ([], {}):
        return
    if isinstance(value, Mapping):
        for key, item in cast("Mapping[str, Any]", value).items():
            if item is not None:
                yield from (name, f"{key}={item}")
    elif option.is_switch:
        yield name if value else f"--no-{name.removeprefix('--')}"
    elif isinstance(value, list):
        items = [str(item) for item in cast("list[Any]", value)]
        if option.multiple:
            for item in items:
                yield from (name, item)
        else:
            yield from (name, ",".join(items))
    else:
        yield from (name, str(int(value) if isinstance(value, bool) else value))


__all__ = ["commands_of", "flags_of"]
