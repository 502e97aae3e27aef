"""Finding workflows by what a person types."""

from __future__ import annotations

import sys
from pathlib import Path
from textwrap import dedent

import pytest

from greenroom.errors import InputError, UnknownName
from greenroom.workflows import load_workflows

APP = """
from greenroom import chat_workflow, workflow
from words import HELLO

@chat_workflow(name="Support bot")
def support(messages):
    return {"role": "assistant", "content": HELLO}

@workflow
def shout(text: str) -> str:
    return text.upper()

again = shout

def plain():
    return 1
"""


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "words", raising=False)
    (tmp_path / "words.py").write_text("HELLO = 'Hello!'\n")
    (tmp_path / "app.py").write_text(APP)
    return tmp_path


@pytest.mark.usefixtures("directory")
@pytest.mark.parametrize(
    ("targets", "names"),
    [
        (["app.py"], ["Support bot", "shout"]),
        (["./app.py"], ["Support bot", "shout"]),
        (["app.py:shout"], ["shout"]),
        (["app.py:support"], ["Support bot"]),
        (["app.py:Support bot"], ["Support bot"]),
        (["app.py:Support-bot"], ["Support bot"]),
        (["app.py:again"], ["shout"]),
        (["app.py:shout", "app.py"], ["shout", "Support bot"]),
    ],
)
def test_workflows_of_a_file(targets: list[str], names: list[str]) -> None:
    assert [one.name for one in load_workflows(*targets)] == names


def test_a_file_is_found_by_its_whole_path(directory: Path) -> None:
    assert len(load_workflows(f"{directory}/app.py")) == 2
    assert [one.name for one in load_workflows(f"{directory / 'app.py'}:shout")] == ["shout"]


def test_workflows_of_a_module(directory: Path) -> None:
    package = directory / "shop_package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "bots.py").write_text(APP)
    assert [one.name for one in load_workflows("shop_package.bots:support")] == ["Support bot"]
    assert len(load_workflows("shop_package.bots")) == 2


@pytest.mark.usefixtures("directory")
@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("missing.py", "There is no file missing.py"),
        ("missing_module", "There is no module 'missing_module'"),
        ("missing.module:name", "There is no module 'missing.module'"),
        (
            "app.py:plain",
            "'plain' of app.py is not declared as a workflow. Write above it: @workflow",
        ),
        ("app.py:", "names no workflow"),
        (":name", "names no workflow"),
        ("words.py", "There is no workflow in words.py. Write above a function:"),
    ],
)
def test_what_is_not_there_is_told(target: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        load_workflows(target)


@pytest.mark.usefixtures("directory")
def test_a_wrong_name_is_told_with_the_right_ones() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'support'"):
        load_workflows("app.py:suport")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("x = 1\nx = undefined", "broken.py, line 2: NameError: name 'undefined'"),
        ("def wrong(:\n", "broken.py, line 1: SyntaxError"),
        ("import not_installed_here", "broken.py, line 1: ModuleNotFoundError"),
        ("raise SystemExit('no key')", "broken.py, line 1: SystemExit: no key"),
        (
            """
            from greenroom import chat_workflow
            @chat_workflow
            def reply(text): ...
            """,
            "'reply' .* takes no messages. Write:\n  def reply",
        ),
    ],
)
def test_a_file_that_cannot_be_loaded_is_told_with_the_line(
    directory: Path, code: str, words: str
) -> None:
    (directory / "broken.py").write_text(dedent(code))
    with pytest.raises(InputError, match=words):
        load_workflows("broken.py")
    files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    assert str(directory / "broken.py") not in files
