"""Tables of records: the documented columns, read back by pandas and polars."""

from __future__ import annotations

import csv
import io
import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import polars
import pytest

from greenroom.reports.forms import pieces, render
from greenroom.reports.record_columns import PURSES, record_columns
from greenroom.reports.report import EvaluatedRow, EvaluationReport, RunReport
from greenroom.store import EpisodeRecord
from tests.reports import sample

pandas: Any = import_module("pandas")
PAGE = Path(__file__).parents[2] / "docs/reports.md"
KINDS = {"text": str, "JSON": str, "integer": int, "number": float, "truth": bool}
IN_PANDAS = {int: "int64", float: "float64", bool: "bool", str: "string"}
IN_POLARS = {
    int: polars.Int64(),
    float: polars.Float64(),
    bool: polars.Boolean(),
    str: polars.String(),
}
LINE = re.compile(r"^\| `([\w.]+)` \| (\w+) \| (both|runs|evaluations) \| ", re.MULTILINE)


def documented(of: str) -> dict[str, type]:
    """The columns of the page, for runs or for evaluations."""
    text = PAGE.read_text(encoding="utf-8")
    lines = [one for one in LINE.findall(text) if one[2] in ("both", of)]
    found: dict[str, type] = {}
    for purse in PURSES:  # the columns of a purse stand together
        for name, kind, _ in lines:
            if "PURSE" in name:
                found[name.replace("PURSE", purse)] = KINDS[kind]
    names = [name for name, _, _ in lines]
    first = next(index for index, name in enumerate(names) if "PURSE" in name)
    before = {name: KINDS[kind] for name, kind, _ in lines[:first]}
    after = {name: KINDS[kind] for name, kind, _ in lines[first:] if "PURSE" not in name}
    return {**before, **found, **after}


def written(report: RunReport | EvaluationReport, folder: Path) -> Path:
    file = folder / "records.parquet"
    content = render(report, "parquet")
    assert isinstance(content, bytes)
    file.write_bytes(content)
    return file


@pytest.mark.parametrize(("of", "model"), [("runs", EpisodeRecord), ("evaluations", EvaluatedRow)])
def test_the_page_has_the_columns_in_their_order(of: str, model: Any) -> None:
    assert list(documented(of).items()) == list(record_columns(model).items())


@pytest.mark.parametrize(
    "make", [lambda: sample.full_report(8, 3), sample.empty_report, sample.strange_report]
)
def test_pandas_and_polars_read_the_documented_columns(make: Any, tmp_path: Path) -> None:
    report: RunReport = make()
    file, known = written(report, tmp_path), documented("runs")
    frame, table = pandas.read_parquet(file), polars.read_parquet(file)
    assert frame.columns.tolist()[: len(known)] == list(known)
    assert table.columns == frame.columns.tolist()
    assert len(frame) == table.height == len(report.episodes)
    for name, kind in known.items():
        assert table.schema[name] == IN_POLARS[kind], name
        if not frame.empty and frame[name].notna().all():
            assert frame[name].dtype in (IN_PANDAS[kind], "object", "str"), name
    others = set(frame.columns) - set(known)
    assert all(
        name.split(".")[0] in ("facts", "tallies", "user_tallies", "model_seconds")
        for name in others
    )
    assert table["task_index"].to_list() == [one.task_index for one in report.episodes]
    assert table["reward"].to_list() == [one.reward for one in report.episodes]
    assert [json.loads(one) for one in table["steps"]] == [
        [step.model_dump(mode="json") for step in one.steps] for one in report.episodes
    ]


def test_strange_texts_are_read_as_far_as_they_can_be_written(tmp_path: Path) -> None:
    table = polars.read_parquet(written(sample.strange_report(), tmp_path))
    assert table["opening"].to_list() == ["a\ufffdb", "half ?", *sample.STRANGE[2:]]


def test_a_cost_that_is_not_known_is_null_and_still_a_number(tmp_path: Path) -> None:
    file = written(sample.strange_report(), tmp_path)
    table = polars.read_parquet(file)
    assert table["usage.agent.cost"].to_list() == [None] * 5
    assert table.schema["usage.agent.cost"] == polars.Float64()
    assert pandas.read_parquet(file)["usage.agent.cost"].isna().all()
    assert table["usage.judge.calls"].to_list() == [None] * 5


def test_files_of_different_runs_are_put_together(tmp_path: Path) -> None:
    files: list[Path] = []
    for index, report in enumerate(
        (sample.full_report(8, 3), sample.empty_report(), sample.strange_report())
    ):
        (tmp_path / str(index)).mkdir()
        files.append(written(report, tmp_path / str(index)))
    columns = list(documented("runs"))
    together = polars.concat([polars.read_parquet(one, columns=columns) for one in files])
    assert together.height == 8 * 3 + 5


def test_a_number_that_is_too_large_makes_its_column_a_text(tmp_path: Path) -> None:
    report = sample.full_report(2, 1)
    first, second = report.episodes
    large = first.model_copy(update={"seed": 2**70})
    report = report.model_copy(update={"episodes": [large, second]})
    table = polars.read_parquet(written(report, tmp_path))
    assert table["seed"].to_list() == [str(2**70), str(second.seed)]


def test_a_table_without_rows_has_its_head() -> None:
    (head,) = csv.reader(io.StringIO(str(render(sample.empty_report(), "csv"))))
    assert head == list(documented("runs"))


@pytest.mark.slow
def test_row_groups_are_written_as_they_come() -> None:
    report = sample.full_report(2, 1)
    many = report.model_copy(update={"episodes": list(report.episodes) * 1500})
    written = [len(piece) for piece in pieces(many, "parquet")]
    assert len(written) > 3
    assert all(written[:3])
