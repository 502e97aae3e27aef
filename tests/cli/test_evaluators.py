"""`greenroom evaluators`: everything that can score, with its settings."""

from __future__ import annotations

from greenroom.evaluation.evaluators import evaluator_names
from tests.cli.running import Greenroom


def test_all_evaluators_are_listed_with_what_they_do(greenroom: Greenroom):
    listed = greenroom("evaluators", "list", "--json").json
    assert [one["name"] for one in listed] == evaluator_names()
    assert all(one["summary"] for one in listed)
    told = greenroom("evaluators", "list").out
    for one in listed:
        assert f"{one['name']}: {one['summary']}" in told.replace("\n", " ")[: len(told)]
        for setting in one["settings"]:
            assert f"{one['name']}:{setting}=" in told
