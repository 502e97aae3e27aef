from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.errors import InputError, UnknownName
from greenroom.evaluation import Case, Score, evaluator_names, load_kind, make_evaluators
from greenroom.evaluation.evaluators import (
    EvaluatorSpec,
    Settings,
    make_evaluator,
    parse_spec,
    plain_kind,
    registry,
)
from tests.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NAMES = list(PROJECT["entry-points"]["greenroom.evaluators"])


def test_all_evaluators_are_found_by_name() -> None:
    assert evaluator_names() == NAMES
    for name in NAMES:
        kind = load_kind(name)
        assert kind.name == name
        assert kind.summary
        fields = kind.settings.model_fields.values()
        assert all(field.description for field in fields), "every setting has a description"


def test_every_evaluator_and_setting_is_documented() -> None:
    page = (ROOT / "docs/evaluators.md").read_text(encoding="utf-8")
    sections = re.findall(r"^### `(\w+)`\n(.*?)^\| Setting (.*?)\n\n", page, re.M | re.S)
    documented = {
        name: set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) for name, _, table in sections
    }
    assert documented == {name: set(load_kind(name).settings.model_fields) for name in NAMES}


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("exact_match", EvaluatorSpec("exact_match", "exact_match")),
        (" exact_match ", EvaluatorSpec("exact_match", "exact_match")),
        ("exact_match:", EvaluatorSpec("exact_match", "exact_match")),
        ("same=exact_match", EvaluatorSpec("exact_match", "same")),
        (
            "contains:values=a,b,mode=any",
            EvaluatorSpec("contains", "contains", {"values": "a,b", "mode": "any"}),
        ),
        (
            "polite=contains:values=please,mode=any",
            EvaluatorSpec("contains", "polite", {"values": "please", "mode": "any"}),
        ),
        ('regex={"pattern": "a=b"}', EvaluatorSpec("regex", "regex", {"pattern": "a=b"})),
        ('x = regex = {"full": true}', EvaluatorSpec("regex", "x", {"full": True})),
        (
            "webhook:url=http://x/?a=b, timeout=3",
            EvaluatorSpec("webhook", "webhook", {"url": "http://x/?a=b", "timeout": "3"}),
        ),
        (
            "python:function=checks.py:polite",
            EvaluatorSpec("python", "python", {"function": "checks.py:polite"}),
        ),
        ("regex:pattern=^a\nb$", EvaluatorSpec("regex", "regex", {"pattern": "^a\nb$"})),
    ],
)
def test_what_people_write(text: str, spec: EvaluatorSpec) -> None:
    assert parse_spec(text) == spec
    assert parse_spec(spec.as_dict()) == spec
    assert parse_spec(spec) is spec


@pytest.mark.parametrize(
    ("given_text", "words"),
    [
        ("", "is no evaluator: write NAME"),
        ("a b", "is no evaluator"),
        ("a=b=c", "is no evaluator"),
        ("=exact_match", "is no evaluator"),
        ("exact_match:strip", "'strip' in 'exact_match:strip' is no setting"),
        ("exact_match:strip=1,strip=0", "gives strip twice"),
        ("exact_match={strip}", "are not JSON"),
        ({"name": "exact_match", "threshold": 1}, "An evaluator as an object is"),
        ({"settings": {}}, "An evaluator as an object is"),
        ({"name": "exact_match", "settings": [1]}, "An evaluator as an object is"),
        ({"name": "exact_match", "alias": "a b"}, "'a b' is no alias"),
    ],
)
def test_what_cannot_be_read(given_text: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        make_evaluator(given_text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("exactmatch", "Unknown evaluator 'exactmatch'. Did you mean 'exact_match'"),
        (
            "contains:value=x",
            "contains evaluator 'value'. Did you mean 'values'? Known: expected, field, ",
        ),
        (
            "contains:mode=some",
            "setting mode: Input should be 'all' or 'any'. Its settings: field, expected,",
        ),
        ("levenshtein:threshold=2", "setting threshold: Input should be less than or equal to 1"),
        ("levenshtein:threshold=nan", "setting threshold"),
        ("exact_match:strip=perhaps", "setting strip"),
        ("contains:values=a,,b", "an empty text is in every text"),
        ("contains:values=[1", "setting values"),
        ("regex:pattern=(", "is no regular expression"),
        ("field_match", "setting field: Field required"),
        ("field_match:field=a..b", "is no path"),
        ("conversation_length", "min or max is needed"),
        ("conversation_length:min=3,max=2", "min is more than max"),
        ("role_order:roles=user,robot", "there is no role 'robot'"),
        ('tool_calls={"calls": "x"}', "it names no tool calls"),
        ('tool_calls={"calls": [1]}', "a tool call is an object"),
    ],
)
def test_settings_are_checked_at_the_start(text: str, words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        make_evaluator(text)


def test_the_same_evaluator_may_be_used_twice_under_another_name() -> None:
    made = make_evaluators(["contains:values=a", "other=contains:values=b"])
    assert [one.alias for one in made] == ["contains", "other"]
    with pytest.raises(InputError, match="Two evaluators are called 'contains': write another"):
        make_evaluators(["contains:values=a", "contains:values=b"])


@pytest.mark.parametrize(
    "text",
    [
        "contains:values=a,b,mode=any,ignore_case=yes",
        "x=levenshtein:threshold=0.5",
        'tool_calls={"calls": [{"name": "look"}], "mode": "subset"}',
        "exact_match",
        "role_order:roles=user,assistant",
    ],
)
def test_what_is_kept_makes_the_same_evaluator(text: str) -> None:
    made = make_evaluator(text)
    again = make_evaluator(made.spec)
    assert again.spec == made.spec
    assert (again.name, again.alias, again.settings) == (made.name, made.alias, made.settings)


@given(
    st.text("abc_", min_size=1),
    st.dictionaries(
        st.from_regex(r"[a-z_][a-z0-9_]*", fullmatch=True),
        st.text(st.characters(exclude_characters=",=")),
    ),
)
def test_settings_between_commas_are_told_apart(name: str, settings: dict[str, str]) -> None:
    text = f"{name}:" + ",".join(f"{key}={value}" for key, value in settings.items())
    assert parse_spec(text) == EvaluatorSpec(name, name, settings)


class NoSettings(Settings):
    """None."""


def test_an_evaluator_that_breaks_leaves_no_score(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(settings: NoSettings, case: Case) -> Score:
        raise ZeroDivisionError("gears")

    def refuses(settings: NoSettings, case: Case) -> Score:
        raise InputError("mend it")

    kinds = {
        "breaks": plain_kind("breaks", breaks, NoSettings, "x"),
        "refuses": plain_kind("refuses", refuses, NoSettings, "x"),
    }
    monkeypatch.setattr(registry, "load_kind", lambda name: kinds[name])  # pyright: ignore
    case = Case(outputs="x", expected="y")
    found = anyio.run(make_evaluator("breaks").evaluate, case)
    assert (found.score, found.passed, found.broken) == (None, None, True)
    assert (found.compared, found.against) == ("x", "y")
    assert found.reason == "breaks broke: ZeroDivisionError: gears"
    with pytest.raises(InputError, match="mend it"):
        anyio.run(make_evaluator("refuses").evaluate, case)


def test_a_score_stays_within_its_range() -> None:
    assert Score(float("nan")).score is None
    for wrong in (-0.1, 1.1, float("inf")):
        with pytest.raises(ValueError, match="a number from 0 to 1"):
            Score(wrong)


def test_an_evaluator_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shouting.py").write_text(
        "from greenroom.evaluation.evaluators import Settings, plain_kind, verdict\n"
        "class NoSettings(Settings):\n"
        "    pass\n"
        "def loud(settings, case):\n"
        "    return verdict(case.outputs.isupper(), case.outputs, None, 'loud')\n"
        "kind = plain_kind('loud', loud, NoSettings, 'capital letters only')\n"
        "nonsense = 3\n"
    )
    folder = tmp_path / "shouting-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: shouting\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text(
        "[greenroom.evaluators]\nloud = shouting:kind\nnonsense = shouting:nonsense\n"
    )
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert "loud" in evaluator_names()
    assert anyio.run(make_evaluator("loud").evaluate, Case(outputs="YES")).passed is True
    with pytest.raises(UnknownName, match="Known: none"):
        make_evaluator("loud:volume=11")
    with pytest.raises(InputError, match="is no EvaluatorKind"):
        make_evaluator("nonsense")
