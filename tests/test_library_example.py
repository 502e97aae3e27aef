"""The example of a domain of one's own, found by its entry point as an installed one would be."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from greenroom.domains import domain_names
from tests.cli.running import Greenroom

EXAMPLE = Path(__file__).parents[1] / "examples/library_domain"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `pip install -e` leaves behind: the code on the path, and its entry points beside it."""
    metadata = tmp_path / "greenroom_library-0.1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: greenroom-library\nVersion: 0.1.0\n"
    )
    (metadata / "entry_points.txt").write_text(
        "[greenroom.domains]\nlibrary = greenroom_library:plugin\n"
    )
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(EXAMPLE), *sys.path])


@pytest.mark.usefixtures("installed")
def test_the_example_plays(greenroom: Greenroom) -> None:
    assert "library" in domain_names()
    assert greenroom("tasks", "validate", "--env", "library").out == "2/2 tasks are sound\n"
    solved = greenroom("run", "--env", "library", "--num-trials", 2, "--json").json
    assert solved["metrics"]["outcomes"] == {"success": 4}
    failing = ("--agent-strategy", "synthetic", "--agent-option", "success=0")
    failed = greenroom("run", "--env", "library", *failing, "--json").json
    assert failed["metrics"]["outcomes"] == {"failure": 2}


def test_it_declares_the_entry_point_that_the_test_uses() -> None:
    declared = (EXAMPLE / "pyproject.toml").read_text()
    assert (
        '[project.entry-points."greenroom.domains"]\nlibrary = "greenroom_library:plugin"'
        in declared
    )
