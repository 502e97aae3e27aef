"""Files that change are served as they are now."""

from __future__ import annotations

import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from greenroom.workflows import load_workflows
from greenroom.workflows.serve.reloading import ReloadingApp

APP = """
from greenroom import chat_workflow
{first}
@chat_workflow
def bot(messages):
    return {{"role": "assistant", "content": {content}}}
"""


@pytest.fixture(autouse=True)
def as_before(monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    known = set(sys.modules)
    yield
    for name in set(sys.modules) - known:
        if "helper" in name or "greenroom_file_" in name:
            del sys.modules[name]


class Scene:
    """A file that is served, and what is told of its changes."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "app.py"
        self.told: list[str] = []
        self.said = ""

    def write(self, content: str, first: str = "") -> None:
        self.file.write_text(APP.format(content=content, first=first))

    def serve(self) -> ReloadingApp:
        return ReloadingApp([f"{self.file}:bot"], self.load, self.told.append)

    def load(self) -> ASGIApp:
        (bot,) = load_workflows(f"{self.file}:bot")
        self.said = bot([])["content"]

        async def app(scope: Scope, receive: Receive, send: Send) -> None: ...

        return app


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


@pytest.mark.slow
def test_a_file_that_changes_is_loaded_anew(scene: Scene) -> None:
    scene.write("'one'")
    app = scene.serve()
    app.look()
    assert (scene.said, scene.told) == ("one", [])
    scene.write("'two'")
    app.look()
    assert scene.said == "two"
    assert scene.told == ["app.py changed: the workflows are loaded anew."]
    app.look()
    assert len(scene.told) == 1


@pytest.mark.slow
def test_a_module_beside_it_is_loaded_anew_too(scene: Scene) -> None:
    helper = scene.file.with_name("helper_of_reloading.py")
    helper.write_text("TEXT = 'one'\n")
    scene.write("TEXT", "from helper_of_reloading import TEXT")
    app = scene.serve()
    helper.write_text("TEXT = 'two'\n")
    app.look()
    assert scene.said == "two"
    assert scene.told == ["helper_of_reloading.py changed: the workflows are loaded anew."]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("broken", "words"),
    [
        ("'one", "app.py, line 6: SyntaxError: unterminated string literal"),
        ("'two'}\nraise SystemExit(3)\n{", "SystemExit: 3"),
    ],
)
def test_a_mistake_leaves_the_workflows_as_they_were(scene: Scene, broken: str, words: str) -> None:
    scene.write("'one'")
    app = scene.serve()
    before = app.newest
    scene.write(broken)
    app.look()
    assert app.newest is before
    assert scene.told[0].startswith("app.py changed, and the workflows stay as they were: ")
    assert words in scene.told[0]
    # It is told once, and mended by the next change.
    app.look()
    assert len(scene.told) == 1
    scene.write("'three'")
    app.look()
    assert scene.said == "three"


def test_a_module_with_a_mistake_stays_as_it_was_for_those_who_import_it_later(
    scene: Scene,
) -> None:
    helper = scene.file.with_name("helper_of_mistakes.py")
    helper.write_text("TEXT = 'one'\n")
    scene.write("TEXT", "from helper_of_mistakes import TEXT")
    app = scene.serve()
    helper.write_text("TEXT = \n")
    app.look()
    assert "SyntaxError" in scene.told[0]
    assert sys.modules["helper_of_mistakes"].TEXT == "one"


@pytest.mark.slow
def test_a_file_that_vanishes_is_waited_for(scene: Scene) -> None:
    scene.write("'one'")
    app = scene.serve()
    scene.file.unlink()
    app.look()
    assert "There is no file" in scene.told[0]
    scene.write("'two'")
    app.look()
    assert scene.said == "two"
