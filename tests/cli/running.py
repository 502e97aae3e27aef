"""Running commands as a person does, within this process."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from greenroom.cli.app import run_command


@dataclass
class Result:
    """What a command printed, and its exit status."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Greenroom:
    """The `greenroom` command."""

    def __init__(self, capture: pytest.CaptureFixture[str]) -> None:
        self._capture = capture

    def __call__(self, *arguments: object) -> Result:
        self._capture.readouterr()
        status = run_command([str(argument) for argument in arguments])
        out, err = self._capture.readouterr()
        return Result(status, out, err)
