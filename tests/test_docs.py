"""Whatever the documentation shows is run: Python blocks, commands and their output.

A fenced block's first word says what becomes of it; words behind it say more.

    python, console     run in the page's own directory, in the order of the page
    ... file=PATH       written to that path instead of being run, whatever the first word is
    ... server          run while `greenroom model-server` serves retail, with its address in the
                        place of http://127.0.0.1:8400
    console official    run only where the official data is at hand, as $GREENROOM_DATA
    anything else       left alone

A page that writes a pyproject.toml counts as installed: its entry points are found. In the output
of a command, `...` stands for anything, on a line of its own or within one; a status other than 0
has to be shown by `$ echo $?`.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, get_args

import pytest

from greenroom.domains import load_domain
from greenroom.model_server import running_server
from greenroom.store import Outcome
from greenroom.store.schema import metadata
from tests.cli.running import Greenroom

ROOT = Path(__file__).parents[1]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").glob("*.md")),
]
FENCE = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")
ANCHOR = re.compile(r"\]\(([^)#\s:]*)#([^)\s]+)\)")
DATA = "$GREENROOM_DATA"
SERVER = "http://127.0.0.1:8400"
KEYS = ("GREENROOM_API_KEY", "GREENROOM_TOKEN", "OPENAI_API_KEY")

Address = Callable[[Path | None], str]
"""The address of a scripted model server for retail, with the built-in data or that of a pack."""


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: str
    line: int
    language: str
    marks: tuple[str, ...]
    text: str

    @property
    def file(self) -> str | None:
        return next((m.removeprefix("file=") for m in self.marks if m.startswith("file=")), None)

    @property
    def official(self) -> bool:
        return "official" in self.marks

    def with_server(self, address: Address, data: Path | None = None) -> Block:
        """The block as it is run: where it talks to a server, with the address of one."""
        if "server" not in self.marks:
            return self
        return replace(self, text=self.text.replace(SERVER, address(data)))


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(page.name, text.count("\n", 0, m.start()) + 1, m[1], tuple(m[2].split()), m[3])
        for m in FENCE.finditer(text)
    ]


def pages_with(*, official: bool) -> list[Any]:
    return [
        pytest.param(page, id=page.name)
        for page in PAGES
        if any(block.official is official for block in blocks(page))
    ]


@pytest.fixture
def address() -> Generator[Address]:
    """Scripted model servers, started when they are first asked for."""
    with ExitStack() as running:

        @cache
        def start(data: Path | None) -> str:
            return running.enter_context(running_server(load_domain("retail", data))).address

        yield start


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    """The directory in which a page is followed; what was imported from there is forgotten."""
    directory = tmp_path / "page"
    directory.mkdir()
    monkeypatch.chdir(directory)
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "path", [str(directory), *sys.path])
    known = set(sys.modules)
    yield directory
    for name in set(sys.modules) - known:
        if str(getattr(sys.modules[name], "__file__", None) or "").startswith(str(directory)):
            del sys.modules[name]


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize("page", pages_with(official=False))
def test_what_a_page_shows_works(
    page: Path, directory: Path, greenroom: Greenroom, address: Address
) -> None:
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(page):
        if block.official:
            continue
        block = block.with_server(address)
        if block.file is not None:
            write(directory, block.file, block.text)
        elif block.language == "python":
            # The newlines put the code on the line that it has in the page, for tracebacks.
            code = compile("\n" * block.line + block.text, block.page, "exec")
            exec(code, namespace)
        elif block.language == "console":
            follow(block, greenroom)


@pytest.mark.slow
@pytest.mark.official
@pytest.mark.usefixtures("directory")
@pytest.mark.parametrize("page", pages_with(official=True))
def test_what_a_page_shows_on_official_data(
    page: Path, official_data: Path, greenroom: Greenroom, address: Address
) -> None:
    data = official_data.resolve()
    for block in blocks(page):
        if block.official:
            follow(block.with_server(address, data), greenroom, data)


def write(directory: Path, name: str, text: str) -> None:
    path = directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    if name == "pyproject.toml":
        install(directory, tomllib.loads(text)["project"])


def install(directory: Path, project: dict[str, Any]) -> None:
    # What `pip install -e` leaves behind, as far as entry points go.
    site = directory / "site-packages"
    metadata = site / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    metadata.mkdir(parents=True)
    sys.path.append(str(site))  # the list is the page's own: see `directory`
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    lines: list[str] = []
    for group, entries in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in entries.items())]
    (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n")


def follow(block: Block, greenroom: Greenroom, data: Path | None = None) -> None:
    status = 0
    for line, command, shown in commands(block):
        where = f"{block.page}, line {line}: {command}"
        if command == "echo $?":
            assert shown == [str(status)], where
            status = 0
            continue
        assert status == 0, f"{where}: the command before it failed, and no `$ echo $?` shows that"
        if data is not None:
            command = command.replace(DATA, shlex.quote(str(data)))
            shown = [text.replace(DATA, str(data)) for text in shown]
        program, *arguments = shlex.split(command, comments=True)
        assert program == "greenroom", f"{where}: only greenroom is run; use a `sh` block"
        result = greenroom(*arguments)
        status = result.status
        printed = (result.out or result.err).rstrip("\n")
        assert matches(shown, printed), "\n".join([where, "shown:", *shown, "printed:", printed])
    assert status == 0, f"{block.page}, line {block.line}: the last command failed"


def commands(block: Block) -> Iterator[tuple[int, str, list[str]]]:
    """Each command of a block with its line and the output that is shown below it."""
    found: list[tuple[int, str, list[str]]] = []
    for number, text in enumerate(block.text.splitlines(), start=block.line + 1):
        if text.startswith("$ "):
            found.append((number, text.removeprefix("$ "), []))
        else:
            assert found, f"{block.page}, line {number}: a console block begins with a command"
            found[-1][2].append(text)
    yield from found


def matches(shown: list[str], printed: str) -> bool:
    """Whether the output is the one shown; spaces at the ends of lines do not count."""
    pattern = ""
    for elided, lines in groupby(shown, key=lambda line: line.strip() == "..."):
        if elided:
            pattern += r"(?:.*\n)*"
        else:
            for line in lines:
                pattern += r"[^\n]*".join(map(re.escape, line.rstrip().split("..."))) + r"\n"
    actual = "".join(f"{line.rstrip()}\n" for line in printed.splitlines())
    return re.fullmatch(pattern, actual) is not None


@pytest.mark.parametrize(
    ("shown", "printed", "expected"),
    [
        (["a", "b"], "a\nb", True),
        (["a"], "a\nb", False),
        ([], "a", False),
        (["a", "...", "d"], "a\nb\nc\nd", True),
        (["a", "...", "d"], "a\nd", True),
        (["..."], "", True),
        (["a ... c"], "a b c  ", True),
        (["a ... c"], "a b\nc", False),
        (["a.c"], "abc", False),
    ],
)
def test_shown_output_is_compared(shown: list[str], printed: str, expected: bool) -> None:
    assert matches(shown, printed) is expected


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert "://" in target or (page.parent / target).exists(), target


def anchors(page: Path) -> set[str]:
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    headings = (heading.lower() for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE))
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_headings_that_exist(page: Path) -> None:
    for target, anchor in ANCHOR.findall(page.read_text(encoding="utf-8")):
        assert anchor in anchors(page.parent / target if target else page), f"{target}#{anchor}"


def test_every_page_is_in_the_index() -> None:
    listed = LINK.findall((ROOT / "docs/index.md").read_text(encoding="utf-8"))
    assert {page.name for page in PAGES if page.parent == ROOT / "docs"} - {
        *listed,
        "index.md",
    } == set()


@pytest.mark.slow
def test_every_command_and_flag_is_documented() -> None:
    generated = subprocess.run(
        [sys.executable, ROOT / "tools/command_reference.py"],
        capture_output=True,
        check=True,
        encoding="utf-8",
    ).stdout
    page = (ROOT / "docs/commands.md").read_text(encoding="utf-8")
    assert page == generated, "docs/commands.md is out of date: run 'make docs'"


def test_every_dependency_is_explained() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    explained = (ROOT / "docs/dependencies.md").read_text(encoding="utf-8")
    for group in (project["dependencies"], *project["optional-dependencies"].values()):
        for requirement in group:
            name = re.split(r"[^\w-]", requirement, maxsplit=1)[0]
            named = name == project["name"] or f"`{name}`" in explained
            assert named, f"docs/dependencies.md says nothing of {name}"


def test_every_table_and_column_is_documented() -> None:
    page = (ROOT / "docs/store.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^### `(\w+)`\n(.*?)(?=^#)", page, re.MULTILINE | re.DOTALL))
    documented = {
        name: set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE))
        for name, section in sections.items()
    }
    existing = {
        name: {column.name for column in table.columns} for name, table in metadata.tables.items()
    }
    assert documented == existing


def test_every_outcome_is_documented() -> None:
    page = (ROOT / "docs/runs.md").read_text(encoding="utf-8")
    section = page.split("## Outcomes\n")[1].split("\n## ")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)) == set(get_args(Outcome))


def test_the_tour_of_the_code_names_what_is_there() -> None:
    tour = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    source = ROOT / "src/greenroom"
    files = [f"/{path.relative_to(ROOT)}" for path in source.rglob("*.py")]
    files += [f"/{path.relative_to(ROOT)}" for path in (ROOT / "tests").rglob("*.py")]

    def named(path: str) -> list[str]:
        return [file for file in files if file.endswith(f"/{path}")]

    paths: list[str] = re.findall(r"`([\w/]+\.py)`", tour)
    assert paths
    assert [path for path in paths if not named(path)] == []
    places: list[tuple[str, str]] = re.findall(r"`([\w.]+)`(?:\*\*)? \(`([\w/]+\.py)`\)", tour)
    assert places
    for name, path in places:
        texts = [(ROOT / file[1:]).read_text(encoding="utf-8") for file in named(path)]
        for part in name.split("."):
            defined = re.compile(rf"^(?: *(?:async )?(?:def|class) )?{part}\b", re.MULTILINE)
            assert any(map(defined.search, texts)), f"{path} does not define {part}"
