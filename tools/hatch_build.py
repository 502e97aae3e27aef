"""Hatch's build hook: the playground's pages are built into the wheel and the sdist."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PagesHook(BuildHookInterface[Any]):
    """Builds the pages, unless the installation is editable or an sdist brought them along."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the pages, and name the files that git ignores."""
        if version == "editable":
            return
        root = Path(self.root)
        if (root / "ui").is_dir():
            subprocess.run([sys.executable, root / "tools/build_ui.py"], check=True)  # noqa: S603
        build_data["artifacts"].append("/src/greenroom/playground/static/**")
