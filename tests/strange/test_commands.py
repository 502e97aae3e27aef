"""Strange arguments and variables of a person's shell: told in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import Greenroom
from tests.strange.outputs import check_done

pytestmark = pytest.mark.slow

ODD = ["\udcff.json", "a\nb\x1b[31m.csv", "[/b]", "x" * 5_000, "", "\u202eabc", "http://\udcff/"]
COMMANDS: list[tuple[str, ...]] = [
    ("run", "--data"),
    ("run", "--env"),
    ("run", "--agent-strategy"),
    ("run", "--end-index", "1", "--model", "m", "--model-retries", "0", "--api-base"),
    ("runs", "show"),
    ("evals", "show"),
    ("errors",),
    ("replay",),
    ("inspect",),
    ("tasks", "show", "0", "--data"),
    ("testset", "show"),
    ("testset", "import"),
    ("agents", "show"),
]


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
def test_strange_arguments_are_told_in_words(odd: str, greenroom: Greenroom) -> None:
    for command in COMMANDS:
        done = check_done(greenroom(*command, odd), command)
        assert done.status != 0 or odd == "", command


def test_files_with_any_bytes_in_their_names(greenroom: Greenroom, tmp_path: Path) -> None:
    app, rows = tmp_path / "\udcff\n.py", tmp_path / "rows.csv"
    app.write_text(
        "from greenroom import workflow\n\n@workflow\ndef shout(q):\n    return q.upper()\n"
    )
    rows.write_text("q,expected\nhi,HI\n")
    command = ("eval", f"{app}:shout", rows, "-e", "exact_match", "--name", "odd")
    done = check_done(greenroom(*command))
    assert done.status == 0, done.err
    done = check_done(greenroom("evals", "show", "odd", "-o", tmp_path / "\udcfd.html"))
    assert done.status == 0, done.err
    assert (tmp_path / "\udcfd.html").stat().st_size > 1_000


def test_variables_with_any_bytes(greenroom: Greenroom, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ODD_TOKEN", "\udcff\udcfe-token\x1b")
    monkeypatch.setenv("GREENROOM_DATA", "/nowhere/\udcff")
    assert check_done(greenroom("tasks", "list")).status == 2
    assert check_done(greenroom("runs", "list")).status == 0
