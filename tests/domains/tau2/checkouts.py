"""Checkouts in the shape of tau2-bench, with wording of our own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

TOOLKIT = """
class ToolKitBase: ...
raise SystemExit("this must not be run")
"""

DATA_MODEL = '''
from enum import Enum
from typing import Annotated, Any, ClassVar, Dict, List, Literal, Optional, Union

from pydantic import BaseModel, Field

from tau2.environment.db import StrictModel

Speed = Literal["slow", "fast"]


class Colour(str, Enum):
    RED = "red"
    GREEN = "green"


class Place(StrictModel):
    """Where a lamp hangs."""

    limit: ClassVar[int] = 3
    room: str = Field(..., description="The room.")
    height: Optional[float] = Field(None, description="In metres.")
    colour: Colour = Field(Colour.RED, description="Of the wall.")
    tags: List[str] = Field(default_factory=list, description="Anything.")
    note: Annotated[str, Field(description="A remark.")] = "none"

    @property
    def far(self) -> bool:
        return True


class Lamp(BaseModel):
    name: str
    place: Place
'''

DB = """
from pydantic import BaseModel, ConfigDict


class StrictModel(BaseModel):
    model_config = ConfigDict(extra="forbid")
"""

TOOLS = '''
"""Tools."""
import os
from typing import Any, Dict, List, Optional, Union

from tau2.domains.mock.data_model import Colour, Lamp, Place, Speed
from tau2.environment.toolkit import ToolKitBase, ToolType, is_discoverable_tool, is_tool

os.abort()


class CommonTools(ToolKitBase):
    @is_tool(ToolType.THINK)
    def think(self, thought: str) -> str:
        """Think."""


class LampTools(CommonTools):
    """All tools."""

    def _helper(self) -> None: ...

    @is_tool(ToolType.WRITE)
    def light(
        self,
        lamp: str,
        places: List[Place | dict],
        colour: Union[Colour, str],
        speed: Speed = "fast",
        when: Optional[str] = None,
        options: Dict[str, Any] = {},
    ) -> Lamp:
        """
        Light a lamp. If it is lit already,
        nothing happens.

        Ask first:
         -  always

        Args:
            lamp: Which lamp, such as 'hall'.
            places (list): Where it hangs.
                Each place counts: all of them.
            speed: How fast: slow or fast.

        Returns:
            The lamp.

        Raises:
            ValueError: If there is none.
        """

    @is_tool(ToolType.GENERIC, mutates_state=True)
    def unlock(self, names: list[str], count: int = 3) -> str:
        """Unlock."""

    @is_tool()
    def look(self):
        pass

    @is_discoverable_tool(ToolType.WRITE)
    def dim_1234(self, lamp: str, level: float = 0.5) -> str:
        """Dim a lamp.

        Slowly.

        Args:
            lamp: Which lamp
            level (number, optional): How bright: 0 to 1

        Returns:
            The lamp is dimmed.
            More text.
        """

    @is_discoverable_tool(ToolType.READ)
    def count_1235(self) -> str:
        """Count the lamps."""


class LampUserTools(ToolKitBase):
    @is_tool(ToolType.READ)
    def feel(self, warm: bool) -> str:
        """Feel a lamp."""
'''


def task(name: str, **more: Any) -> dict[str, Any]:
    """A task of a lamp shop."""
    return {
        "id": name,
        "user_scenario": {"instructions": f"Light {name}."},
        "evaluation_criteria": {"actions": [{"name": "light", "arguments": {"lamp": name}}]},
        **more,
    }


def write_files(root: Path, files: dict[str, Any]) -> None:
    """Write files; what is no text becomes JSON."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))


def build_checkout(root: Path, **changes: Any) -> Path:
    """A checkout with one domain; a change replaces a file, None takes it away."""
    files: dict[str, Any] = {
        "data/tau2/domains/mock/db.json": {"tasks": {}, "users": {}},
        "data/tau2/domains/mock/user_db.json": {"notifications": {}},
        "data/tau2/domains/mock/policy.md": "Ask first.",
        "data/tau2/domains/mock/tasks.json": [task("a"), task("b")],
        "data/tau2/domains/mock/split_tasks.json": {"base": ["a", "b"], "test": ["b"]},
        "data/tau2/domains/mock/tasks_voice.json": [],
        "data/tau2/domains/mock/picture.png": "no data",
        "data/tau2/user_simulator/simulation_guidelines.md": "Be a user.",
        "src/tau2/environment/toolkit.py": TOOLKIT,
        "src/tau2/environment/db.py": DB,
        "src/tau2/domains/mock/tools.py": TOOLS,
        "src/tau2/domains/mock/data_model.py": DATA_MODEL,
        "pyproject.toml": '[project]\nname = "tau2"\nversion = "1.0.1"\n',
        "LICENSE": "MIT License\n",
        ".git/HEAD": "ref: refs/heads/main\n",
        ".git/refs/heads/main": "0123456789" * 4 + "\n",
        ".git/config": '[remote "origin"]\n\turl = https://x:pw@host.test/sierra/tau2-bench.git\n',
    }
    files |= changes
    write_files(root, {name: value for name, value in files.items() if value is not None})
    return root
