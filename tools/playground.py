"""`make playground`: the pages over the demo's runs, with two example workflows."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from greenroom.cli.app import main

DEMO = Path("demo/runs.db")
WORKFLOWS = ("examples/workflows/library_desk.py",)

if __name__ == "__main__":
    if DEMO.is_file() and "GREENROOM_DATABASE_URL" not in os.environ:
        os.environ["GREENROOM_DATABASE_URL"] = f"sqlite:///{DEMO.resolve()}"
    main(["playground", *WORKFLOWS, *sys.argv[1:]])
