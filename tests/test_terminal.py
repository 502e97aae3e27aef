"""Names and texts of others are never markup, and never control a terminal."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.table import Table

from greenroom.cli.output import print_json, print_table
from greenroom.util import terminal
from greenroom.util.terminal import console, echo, printable
from tests.cli.running import Greenroom

NASTY = "[/b] [red]x :smile: \x1b]0;owned\x07\x1b[31m\x9b2J\u202e\x00"
SHOWN = "[/b] [red]x :smile: ]0;owned[31m2J"


@given(st.text(st.characters(codec=None)))
def test_nothing_that_is_printed_controls_a_terminal(text: str) -> None:
    allowed = {"\n", "\t"}
    left = {char for char in printable(text) if not char.isprintable()}
    assert not {char for char in left - allowed if ord(char) < 32 or 127 <= ord(char) < 160}
    printable(text).encode()  # and every stream takes it


@given(st.text())
def test_plain_texts_stay_as_they_are(text: str) -> None:
    if text.isprintable():
        assert printable(text) == text


def test_each_way_to_the_terminal_is_safe(capsys: pytest.CaptureFixture[str]) -> None:
    console().print(NASTY)
    console().print(f"{NASTY}", style="bold")
    table = Table(NASTY, title=NASTY)
    table.add_row(NASTY)
    console().print(table)
    print_table(NASTY, [NASTY], [[NASTY]])
    echo(NASTY)
    echo(NASTY, err=True)
    console(stderr=True).print(NASTY)
    shown = capsys.readouterr()
    for text in shown:
        assert not set(text) & set("\x1b\x07\x9b\u202e\x00")
        assert SHOWN in text
    print_json({"text": NASTY})
    text = capsys.readouterr().out
    assert not set(text) & set("\x1b\x07\x9b\u202e\x00")
    assert json.loads(text) == {"text": NASTY}


def test_styles_of_our_own_stay() -> None:
    out = io.StringIO()
    shown = terminal._console_type()(file=out, force_terminal=True, markup=False)  # pyright: ignore[reportPrivateUsage]
    shown.print(NASTY, style="bold")
    assert out.getvalue().startswith("\x1b[1m")
    assert "\x1b]0" not in out.getvalue()
    assert "\x1b[31m" not in out.getvalue()


@pytest.mark.parametrize("name", ["[/b]", "[red]", "a\x1b[31mb", ":smile:"])
def test_a_run_of_any_name_is_listed_and_shown(name: str, greenroom: Greenroom) -> None:
    play = ("run", "--agent-strategy", "synthetic", "--agent-option", "success=0", "--name", name)
    done = greenroom(*play, "--end-index", 2)
    assert done.status == 0, done.err
    texts = [done.out + done.err]
    for command in (
        ("runs", "list"),
        ("runs", "show", name),
        ("runs", "watch", name),
        ("errors", name),
        ("runs", "list", "--json"),
    ):
        done = greenroom(*command)
        assert done.status == 0, (command, done.err)
        texts.append(done.out + done.err)
    assert all("\x1b" not in text for text in texts)
    assert name.replace("\x1b", " ") in texts[1]


def test_a_narrow_terminal_cuts_the_note_and_not_the_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from greenroom.trials.display import progress_bar

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    seen = Terminal()
    monkeypatch.setattr("sys.stderr", seen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "60")
    with progress_bar("tool-calling-retail-1", 1600) as display:
        display.stand(700, "pass^1 0.00, $0.44 of $5.00, 1.8/s, 2 workers, paused")
    assert "700/1600" in seen.getvalue()
    assert "paused" not in seen.getvalue()


def test_the_bar_shows_names_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    from greenroom.trials.display import progress_bar

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    seen = Terminal()
    monkeypatch.setattr("sys.stderr", seen)
    monkeypatch.setenv("TERM", "xterm")
    with progress_bar("[/b]\x1b]0;owned\x07", 3) as advance:
        advance("[/i]")
        advance("[/i]")
    assert "[/b]" in seen.getvalue()
    assert "\x1b]0;" not in seen.getvalue()


def test_foreign_texts_in_errors_and_tasks(greenroom: Greenroom, tmp_path: Path) -> None:
    done = greenroom("runs", "show", "\x1b[31mnothing")
    assert done.status == 2
    assert "\x1b" not in done.err
    assert greenroom("generate", "-o", tmp_path / "world", "--tasks", 2).status == 0
    file = tmp_path / "world" / "retail" / "tasks" / "test.json"
    tasks = json.loads(file.read_text())
    tasks[0]["instruction"] = NASTY
    tasks[0]["outputs"] = [NASTY]
    file.write_text(json.dumps(tasks))
    for command in ("list", "show"):
        given = (
            "tasks",
            command,
            "--data",
            tmp_path / "world",
            *(["0"] if command == "show" else []),
        )
        done = greenroom(*given)
        assert done.status == 0, done.err
        assert not set(done.out) & set("\x1b\x07\x9b\x00")
        assert "[/b] [red]x" in done.out
