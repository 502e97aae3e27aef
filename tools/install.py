"""`pip install`, with a line for every package as it comes, and all that pip said if it fails."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence

_FETCHED = re.compile(
    r" *(?:Downloading|Using cached|Processing) (?:\S*/)?([^/\s]+)\.(?:whl|tar\.gz)"
    r"( \(\d.*\))?(?: \(.+\))?$"
)
_INSTALLING = re.compile(r"Installing collected packages: (.+)$")


def step(line: str) -> str | None:
    """What a line of pip's says to somebody who waits; None for the others."""
    if fetched := _FETCHED.match(line):
        name, version, *_ = fetched[1].split("-")
        return f"  {name} {version}{fetched[2] or ''}"
    if installing := _INSTALLING.match(line):
        return f"  unpacking {len(installing[1].split(','))} packages ..."
    return None


def main(arguments: Sequence[str]) -> int:
    """Install what the arguments name, as pip takes them."""
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check"]
    said: list[str] = []
    with subprocess.Popen(  # noqa: S603
        [*command, "--progress-bar", "off", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
        text=True,
        errors="replace",
    ) as pip:
        for line in pip.stdout or ():
            said.append(line)
            if (shown := step(line.rstrip())) is not None:
                print(shown, flush=True)
    if pip.returncode:
        sys.stderr.writelines(said)
    return pip.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
