from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from greenroom.errors import DataError, InputError
from greenroom.evaluation.test_sets import FORMATS, Format, format_rows, parse_rows, read_rows
from greenroom.store import decoded

names = st.text(min_size=1, max_size=8)
texts = st.text(max_size=20)
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


def through_file(path: Path, rows: list[dict[str, Any]], form: Format) -> list[dict[str, Any]]:
    """The rows, written and read again."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    path.write_bytes("".join(format_rows(rows, columns, form)).encode())
    return list(read_rows(path, form))


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sets") / "set.data"


@pytest.mark.slow
@pytest.mark.parametrize("form", ["json", "jsonl"])
@given(rows=st.lists(st.dictionaries(names, json_values, min_size=1), min_size=1, max_size=5))
@example(rows=[{"big": 2**80, "half": "\ud800", "one": 1, "one point": 1.0, "nothing": None}])
def test_json_gives_back_what_was_written(
    file: Path, form: Format, rows: list[dict[str, Any]]
) -> None:
    found = through_file(file, rows, form)
    assert found == rows
    assert repr(found) == repr(rows)  # 1 and 1.0, 1 and True are told apart


@given(
    columns=st.lists(names, min_size=1, max_size=4, unique=True),
    cells=st.lists(st.lists(texts, min_size=4, max_size=4), min_size=1, max_size=5),
)
@example(columns=["\ufeffa"], cells=[["", "", "", ""]])
@example(columns=["a", "b"], cells=[[' "x",\r\n', "\r", "", ""]])
def test_csv_gives_back_texts_as_they_were(
    file: Path, columns: list[str], cells: list[list[str]]
) -> None:
    rows = [dict(zip(columns, row, strict=False)) for row in cells]
    assert through_file(file, rows, "csv") == rows


@given(
    columns=st.lists(names, min_size=1, max_size=4, unique=True),
    values=st.lists(st.lists(json_values, min_size=4, max_size=4), min_size=1, max_size=4),
)
@example(columns=["a;", "b\n"], values=[[1, 2, 3, 4]])
@example(columns=["\t", "\r"], values=[[1, 2, 3, 4]])
def test_what_csv_has_no_types_for_is_understood_again(
    file: Path, columns: list[str], values: list[list[Any]]
) -> None:
    rows = [dict(zip(columns, row, strict=False)) for row in values]
    for row, found in zip(rows, through_file(file, rows, "csv"), strict=True):
        for name, value in row.items():
            if isinstance(value, str):
                assert found[name] == value
            elif isinstance(value, (list, dict)):
                assert decoded(found[name]) == value
            else:
                assert json.loads(found[name]) == value


@given(
    rows=st.lists(st.dictionaries(st.sampled_from("ab"), texts, min_size=2), min_size=1),
    forms=st.lists(st.sampled_from(FORMATS), min_size=1, max_size=4),
)
def test_rows_of_texts_pass_through_any_formats(
    file: Path, rows: list[dict[str, Any]], forms: list[Format]
) -> None:
    found = rows
    for form in forms:
        found = through_file(file, found, form)
    assert found == rows


def test_a_cell_that_holds_json_stays_what_it_was(file: Path) -> None:
    cell = '[ {"role": "user",   "content": "hi"} ]'
    rows = [{"messages": cell, "expected": "{}"}]
    assert through_file(file, rows, "csv") == rows
    assert through_file(file, rows, "jsonl") == rows


def test_a_missing_value_is_an_empty_cell(file: Path) -> None:
    rows = [{"a": "1"}, {"b": None}]
    assert through_file(file, rows, "csv") == [{"a": "1", "b": ""}, {"a": "", "b": "null"}]


def test_long_cells_are_read(file: Path) -> None:
    rows = [{"messages": "x" * 300_000}]
    assert through_file(file, rows, "csv") == rows


def test_half_a_surrogate_pair_cannot_be_csv() -> None:
    with pytest.raises(InputError, match="Row 1, column 'a' has half a surrogate pair"):
        list(format_rows([{"a": "\ud800"}], ["a"], "csv"))


def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path: Path) -> None:
    for form, text in (
        ("csv", "a,b\n1,2\n"),
        ("json", '[{"a":"1","b":"2"}]'),
        ("jsonl", '{"a":"1","b":"2"}\n'),
    ):
        path = tmp_path / f"set.{form}"
        path.write_bytes(b"\xef\xbb\xbf" + text.encode())
        assert list(read_rows(path)) == [{"a": "1", "b": "2"}]


@pytest.mark.parametrize(
    "text",
    [
        '[{"a": 1}, {"b": 2}]',
        '{"rows": [{"a": 1}, {"b": 2}]}',
        ' {"name": "x", "rows" :\n[ {"a": 1} , {"b": 2} ] , "more": {"rows": []}} \n',
    ],
)
def test_both_shapes_of_json_are_read(text: str) -> None:
    assert list(parse_rows([text], "json", "x.json")) == [{"a": 1}, {"b": 2}]


def test_empty_lines_are_no_rows() -> None:
    assert list(parse_rows(["a\n", "\n", "1\n", "\n"], "csv", "x")) == [{"a": "1"}]
    assert list(parse_rows(["\n", '{"a": 1}\n', "  \n"], "jsonl", "x")) == [{"a": 1}]


@pytest.mark.parametrize("name", ["set.CSV", "set.json", "set.jsonl", "set.ndjson"])
def test_the_name_tells_the_format(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    text = {"set.CSV": "a\n1\n", "set.json": '[{"a":"1"}]'}.get(name, '{"a":"1"}')
    path.write_text(text)
    assert list(read_rows(path)) == [{"a": "1"}]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.csv", b"", "is empty: its first line has to name the columns"),
        ("a.csv", b"\n\n", "is empty"),
        ("a.csv", b"a,,b\n1,2,3\n", "line 1: column 2 has no name"),
        ("a.csv", b"a,b,a\n1,2,3\n", "line 1: the columns 1 and 3 are both named 'a'"),
        ("a.csv", b"a,b\n1,2\n3\n", r"line 3: there are 1 cells for 2 columns; column 2 \('b'\)"),
        ("a.csv", b"a,b\n1,2,3\n", "line 2: there are 3 cells for 2 columns; cell 3 belongs to"),
        ("a.csv", b'a,b\n1,"2\n3,4\n', "line 2, column 3: the quote that opens here is never"),
        ("a.csv", b'a,b\n"x\ny","2"3\n', "line 3, column 7: the cell has ended with the quote"),
        ("a.csv", b'a,b\n"x""y""z","2"3\n', "line 2, column 14: the cell has ended"),
        ("a.csv", b"a,b\n1,\xfc\n", "line 2, column 3: the byte 0xfc is not UTF-8"),
        ("a.csv", b"\xef\xbb\xbf\xc3\xa4,\xfc\n", "line 1, column 3: the byte 0xfc is not UTF-8"),
        ("a.csv", "a,b\n1,2\n".encode("utf-16"), "is UTF-16: save it as UTF-8"),
        ("a.json", b"", "is empty: it has to hold an array of objects"),
        ("a.json", b"  \n", "is empty"),
        ("a.json", b'"x"', r"line 1, column 1: a test set is an array of objects"),
        ("a.json", b'[{"a": 1},\n {"a" 2}]', "line 2, column 7: this is not valid JSON"),
        ("a.json", b'[{"a": 1},\n  3]', "line 2, column 3: a row is an object"),
        ("a.json", b'[{"a": 1}\n {"a": 2}]', "line 2, column 2: a comma or ] is expected here"),
        ("a.json", b'[{"a": 1}', "line 1, column 10: a comma or ] is expected here"),
        ("a.json", b'[{"a": 1},]', "line 1, column 11: this is not valid JSON"),
        ("a.json", b'[{"a": 1}] x', "line 1, column 12: there is text after the end of the JSON"),
        (
            "a.json",
            b'[{"a": 1, "a": 2}]',
            "line 1, column 2: in the value .* the key 'a' occurs twice",
        ),
        ("a.json", b'[{"a": {"b": 1, "b": 2}}]', "the key 'b' occurs twice"),
        ("a.json", b'[{"a": NaN}]', "NaN is not a JSON value"),
        ("a.json", b'[{"a": 1e999}]', "the number 1e999 is too large"),
        ("a.json", b'[{"a": ' + b"9" * 5000 + b"}]", "line 1, column 2: in the value"),
        ("a.json", b'[{"a": ' + b"[" * 200_000, "line 1, column 2: the value is nested too deeply"),
        ("a.json", b"[{}]", "line 1, column 2: a row needs a column"),
        ("a.json", b'[{"": 1}]', "line 1, column 2: a row needs a column, and every column a name"),
        ("a.json", b'{"data": []}', 'line 1, column 1: the object has no array named "rows"'),
        ("a.json", b'{"rows": 3}', 'the object has no array named "rows"'),
        ("a.json", b'{"rows" []}', "line 1, column 9: a colon is expected here"),
        ("a.json", b"{rows: []}", "line 1, column 2: a key in quotes is expected here"),
        ("a.json", b'{"rows": [{"a": 1}], }', "line 1, column 22: a key in quotes is expected"),
        ("a.json", b'{"rows": [{"a": 1}]', "line 1, column 20: a comma or } is expected here"),
        ("a.json", b'["\xfc"]', "line 1, column 3: the byte 0xfc is not UTF-8"),
        ("a.jsonl", b'{"a": 1}\n\n{"a": }\n', "line 3, column 7: this is not valid JSON"),
        (
            "a.jsonl",
            b'{"a": 1} {"a": 2}\n',
            "line 1, column 10: there is text after the end of the row",
        ),
        ("a.jsonl", b"[1]\n", "line 1, column 1: a row is an object"),
        ("a.xlsx", b"PK", "does not tell its format: pass --format csv, json or jsonl"),
    ],
)
def test_what_is_wrong_with_a_file_is_told_with_its_place(
    tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=words) as raised:
        list(read_rows(path))
    assert name in str(raised.value)


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.csv is missing"):
        list(read_rows(tmp_path / "none.csv"))
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(DataError, match=r"folder\.csv cannot be read"):
        list(read_rows(tmp_path / "folder.csv"))
    with pytest.raises(InputError, match="Unknown format 'xml'"):
        list(read_rows(tmp_path / "a.csv", "xml"))


@given(st.binary(max_size=80), st.sampled_from(FORMATS))
def test_any_bytes_are_rows_or_an_error_for_people(
    file: Path, content: bytes, form: Format
) -> None:
    file.write_bytes(content)
    try:
        rows = list(read_rows(file, form))
    except InputError:
        return
    assert all(rows)


@given(st.text(alphabet='[]{}":,ab1 \n\r"', max_size=30), st.sampled_from(FORMATS))
def test_any_text_is_rows_or_an_error_for_people(file: Path, text: str, form: Format) -> None:
    file.write_text(text, newline="")
    try:
        rows = list(read_rows(file, form))
    except InputError:
        return
    if rows:
        assert through_file(file, rows, form) == rows


@pytest.mark.parametrize("mark", [";", "\t"])
def test_semicolons_and_tabs_separate_cells_if_they_separate_the_heading(mark: str) -> None:
    lines = f'\r\nquestion{mark}"the expected"\r\n"1{mark} 2"{mark}a, b\r\n'.splitlines(True)
    assert list(parse_rows(lines, "csv", "x")) == [
        {"question": f"1{mark} 2", "the expected": "a, b"}
    ]
    word = "semicolon" if mark == ";" else "tab"
    with pytest.raises(DataError, match=f"Put a cell with a {word} in it in quotes"):
        list(parse_rows([f"a{mark}b\n", f"1{mark}2{mark}3\n"], "csv", "x"))


@pytest.mark.parametrize("name", ["a;b", "a\tb", 'a";b'])
def test_a_single_column_keeps_such_a_name(name: str) -> None:
    written = "".join(format_rows([{name: "1;2"}], [name], "csv"))
    assert list(parse_rows(written.splitlines(True), "csv", "x")) == [{name: "1;2"}]
