"""The report as JSON: described by a schema, and read back as it was written."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from greenroom.errors import DataError
from greenroom.reports.json_report import parse_report, render_json, report_schema
from greenroom.reports.report import ComparisonReport, EvaluationReport, SpreadReport
from greenroom.reports.report import RunReport as Report
from tests.reports import sample

REPORTS = {
    "full": sample.full_report,
    "empty": sample.empty_report,
    "only errors": sample.errors_only_report,
    "single task": sample.single_task_report,
    "one trial": sample.one_trial_report,
    "unpriced": sample.unpriced_report,
}


def validator() -> Any:
    schema = report_schema()
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def written(report: Report) -> dict[str, Any]:
    return json.loads(render_json(report))


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_fits_its_schema(name: str) -> None:
    validator().validate(written(REPORTS[name]()))


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_is_read_back_as_it_was_written(name: str) -> None:
    text = render_json(REPORTS[name]())
    assert render_json(parse_report(text)) == text


def test_the_schema_says_what_it_describes() -> None:
    schema = report_schema()
    assert schema["$id"] == "urn:greenroom:run-report:2"
    assert schema["title"] == "Greenroom run report"
    assert schema["version"] == 2
    problems = validator().iter_errors({"kind": "greenroom.run", "version": 3})
    assert any(list(problem.path) == ["version"] for problem in problems)


def test_a_figure_that_there_is_none_of_is_null_and_comes_back_as_nan() -> None:
    data = written(sample.empty_report())
    main = data["metrics"]["conventions"]["errors_excluded"]
    assert main["average_reward"]["value"] is None
    back = parse_report(json.dumps(data)).metrics
    assert math.isnan(back.main.average_reward.value)
    assert math.isnan(back.tasks[0].mean_steps)
    assert back.total_cost is None


def test_times_are_iso_8601() -> None:
    data = written(sample.one_trial_report())
    assert data["run"]["created_at"] == "2026-11-12T14:30:00Z"


def test_odd_values_are_written() -> None:
    report = sample.one_trial_report()
    step = report.episodes[0].steps[0]
    kwargs = {"half": "\ud83d", "nan": math.nan, "word": "é"}
    changed = step.model_copy(update={"action": step.action.model_copy(update={"kwargs": kwargs})})
    episode = report.episodes[0].model_copy(update={"steps": [changed]})
    text = render_json(report.model_copy(update={"episodes": [episode]}))
    assert text.encode()
    back = parse_report(text).episodes[0].steps[0].action.kwargs
    assert back == {"half": "\ud83d", "nan": None, "word": "é"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "it is not JSON"),
        ("[]", "a report is a JSON object"),
        ("{}", "it does not say its kind"),
        ('{"kind": "greenroom.comparison"}', 'its kind is "greenroom.comparison"'),
        ('{"kind": "greenroom.run"}', "no version that is known: null"),
        ('{"kind": "greenroom.run", "version": true}', "no version that is known: true"),
        ('{"kind": "greenroom.run", "version": 3}', "A newer Greenroom can read it"),
        ('{"kind": "greenroom.run", "version": 2}', "This report cannot be read: run"),
        ('{"kind": "greenroom.run", "version": 2, "metrics": 5}', "This report cannot be read"),
    ],
)
def test_what_is_no_report_is_refused_in_plain_words(text: str, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        parse_report(text)


def test_every_field_of_a_report_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reports.md").read_text(encoding="utf-8")
    for model in (Report, EvaluationReport, ComparisonReport, SpreadReport):
        assert [name for name in model.model_fields if f"`{name}`" not in page] == []
