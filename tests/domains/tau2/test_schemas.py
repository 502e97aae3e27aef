"""Tools read from source: whatever it holds, a schema or an error that names the place."""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.domains.tau2.docstrings import read_docstring, unlock_text
from greenroom.domains.tau2.schemas import read_tools, tool_schema, unlock_texts
from greenroom.domains.tau2.source_types import SourceTypes
from greenroom.domains.tools import check_tool_info
from greenroom.errors import DataError
from tests.domains.tau2.checkouts import DATA_MODEL, TOOLS, build_checkout

LINES: list[str] = [*TOOLS.splitlines()]
MODEL_LINES: list[str] = [*DATA_MODEL.splitlines()]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_checkout(tmp_path_factory.mktemp("checkout")) / "src"


@given(
    st.lists(st.tuples(st.integers(0, len(LINES) - 1), st.text(max_size=12)), max_size=3),
    st.lists(st.integers(0, len(MODEL_LINES) - 1), max_size=3),
)
def test_spoiled_source_gives_schemas_or_an_error_that_says_where(
    source: Path, changes: list[tuple[int, str]], gone: list[int]
) -> None:
    lines: list[str] = [*LINES]
    for place, text in changes:
        lines[place] = lines[place][: len(lines[place]) // 2] + text
    with TemporaryDirectory() as scratch:
        root = Path(scratch) / "src"
        shutil.copytree(source, root)
        folder = root / "tau2/domains/mock"
        (folder / "tools.py").write_text("\n".join(lines), encoding="utf-8", errors="replace")
        kept = [line for number, line in enumerate(MODEL_LINES) if number not in gone]
        (folder / "data_model.py").write_text("\n".join(kept))
        types = SourceTypes(root)
        try:
            tools = read_tools(types, folder)
            infos = [tool_schema(tool, types) for tool in (*tools.agent, *tools.user)]
            unlock_texts(tools.agent)
        except DataError:
            return
        for info in infos:
            check_tool_info(info)


@given(st.text())
def test_any_text_is_a_docstring(text: str) -> None:
    said = read_docstring(text)
    assert said.short == said.short.strip("\n")
    assert said.description.startswith(said.short)
    assert unlock_text("x", text)["name"] == "x"


words = st.text("abc xyz.:", min_size=1, max_size=20).map(str.strip).filter(bool)


@given(st.dictionaries(st.from_regex(r"[a-z_]{1,8}", fullmatch=True), words, min_size=1), words)
def test_arguments_come_out_as_they_were_written(arguments: dict[str, str], short: str) -> None:
    entries = "".join(f"        {name}: {text}\n" for name, text in arguments.items())
    said = read_docstring(f"{short}\n\n    Args:\n{entries}\n    Returns:\n        Nothing.\n    ")
    assert said.short == short
    assert said.arguments == arguments


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("str[int]", "not subscriptable"),
        ("None | None", "this is not a type"),
        ("Colour[int]", "this is not a type"),
        ("Literal[unknown]", "not a plain value"),
        ("'List['", "not a type that can be read"),
        ("Lamp.Nowhere", "this type is not known"),
    ],
)
def test_a_type_that_is_none_is_named(
    source: Path, tmp_path: Path, written: str, problem: str
) -> None:
    root = tmp_path / "src"
    shutil.copytree(source, root)
    folder = root / "tau2/domains/mock"
    (folder / "tools.py").write_text(TOOLS.replace("Union[Colour, str]", written))
    types = SourceTypes(root)
    tools = read_tools(types, folder)
    with pytest.raises(DataError, match=problem) as caught:
        tool_schema(tools.agent[0], types)
    assert "tools.py, line " in str(caught.value)


def test_a_default_that_is_no_member_is_named(source: Path, tmp_path: Path) -> None:
    root = tmp_path / "src"
    shutil.copytree(source, root)
    folder = root / "tau2/domains/mock"
    model = folder / "data_model.py"
    model.write_text(model.read_text().replace("Field(Colour.RED", "Field(Colour.BLUE"))
    types = SourceTypes(root)
    with pytest.raises(DataError, match="this default is not known"):
        tool_schema(read_tools(types, folder).agent[0], types)
