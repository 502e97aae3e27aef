"""Runs that were exported for others, read back and graded again: nothing that counts is lost."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from greenroom.agents.replay import load_recordings
from greenroom.reports.atif import atif_trajectory
from greenroom.reports.forms import render
from greenroom.reports.tau_bench import spoken_step
from greenroom.store.records import EpisodeRecord
from greenroom.store.trajectory_records import ActionRecord, StepRecord
from tests.cli.running import Greenroom
from tests.conftest import TAU2_DATA
from tests.domains.thermostats import PATH
from tests.reports.sample import build_report, played, run_record

AGENT = '''
"""Writes beside its calls what the user is to hear, and makes two calls at once."""
from dataclasses import replace

from greenroom.agents import AgentStrategy
from greenroom.domains import Action, respond


class Writing:
    def __init__(self, context):
        self._script = context.script

    async def play(self, stage):
        task = self._script.task
        look = Action(next(iter(self._script.domain.tools)))
        words = "; ".join(task.outputs)
        calls = [replace(look, aside=words), replace(look, joined=True)]
        calls += [one for one in task.actions if one.party == "agent"]
        for call in calls:
            if stage.over:
                return
            await stage.step(call)
        while not stage.over:
            await stage.step(respond("Done."))


writing = AgentStrategy("writing", Writing, "writes beside its calls", reads_script=True)
'''


def step(name: str, kwargs: dict[str, Any], observation: str, **more: Any) -> StepRecord:
    invalid = more.pop("invalid", None)
    action = ActionRecord(name=name, kwargs=kwargs, **more)
    return StepRecord(action=action, observation=observation, source=name, turn=1, invalid=invalid)


def episode(opening: str, steps: Sequence[StepRecord]) -> EpisodeRecord:
    return played(1, 1)[0].model_copy(update={"opening": opening, "steps": list(steps)})


CALLS = [
    step("look", {"at": "lamp"}, "on", aside="Let me see."),
    step("look", {"at": "door"}, "shut", joined=True),
    step("respond", {"content": "It is on."}, "Thanks."),
    step("look", {"at": "door"}, "open"),
]
SPEAKS_FIRST = [
    step("respond", {"content": "You asked for a lamp."}, "Yes."),
    step("respond", {"content": "Here it is."}, "###STOP###"),
]
NOT_SAID = [
    step("respond", {"text": "Hello"}, "Error: respond needs content", invalid="no content"),
    step("respond", {"content": "Hello"}, "###STOP###"),
]
ODD = [step("look", {"at": "\x00  \u2028 \U0001f600"}, "\x1b[31m\x85 </script>\r\n")]


@pytest.mark.parametrize(
    ("opening", "steps"),
    [("Hi", CALLS), ("", SPEAKS_FIRST), ("Hi", NOT_SAID), ("Hi", ODD), ("", []), ("Hi", [])],
)
@pytest.mark.parametrize("form", ["inspect", "atif", "tau-bench"])
def test_steps_are_read_as_they_were(
    form: str, opening: str, steps: Sequence[StepRecord], tmp_path: Path
) -> None:
    one = episode(opening, steps)
    if form == "tau-bench":
        one = one.model_copy(update={"messages": None})
    content = render(build_report([one], run_record(1, 1)), form)
    file = tmp_path / "file"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    (recorded,) = load_recordings(file)
    assert recorded.opening == opening
    assert list(recorded.steps) == list(map(spoken_step, steps))


def test_calls_that_were_made_at_once_are_one_step_of_atif() -> None:
    steps = atif_trajectory(run_record(1, 1), episode("Hi", CALLS))["steps"]
    assert [len(one.get("tool_calls", ())) for one in steps if one["source"] == "agent"] == [
        2,
        0,
        1,
    ]


@pytest.mark.slow
@pytest.mark.tau2_data
def test_what_is_written_beside_calls_counts_again(greenroom: Greenroom, tmp_path: Path) -> None:
    agent = tmp_path / "agent.py"
    agent.write_text(AGENT)
    run = ("run", "--env", "airline", "--data", TAU2_DATA, "--task-ids", "3,7,11,14")
    assert greenroom(*run, "--agent-strategy", f"{agent}:writing", "--name", "beside").status == 0
    again = greenroom("replay", "beside", "--json")
    assert again.json["rewards_agreeing"] == 4, again.json
    assert again.json["pass_hat_k"]["1"] == 1.0
    for form in ("atif", "inspect"):
        file = tmp_path / f"beside.{form}"
        assert greenroom("runs", "export", "beside", "--format", form, "-o", file).status == 0
        # The file says which domain it is of.
        again = greenroom("replay", file, "--data", TAU2_DATA, "--json")
        assert again.status == 0, again.err
        assert (again.json["episodes"], again.json["rewards_agreeing"]) == (4, 4)
        assert again.json["observations_differing"] == 0


@pytest.mark.slow
def test_a_file_says_which_domain_it_is_of(greenroom: Greenroom, tmp_path: Path) -> None:
    for env in ("telecom", PATH):
        assert greenroom("run", "--env", env, "--task-ids", 0, "--name", "own").status == 0
        file = tmp_path / "own.jsonl"
        assert greenroom("runs", "export", "own", "--format", "atif", "-o", file).status == 0
        again = greenroom("replay", file, "--json")
        if env == PATH:
            assert "is of the domain 'thermostat', which is not installed: name it by" in again.err
            again = greenroom("replay", file, "--env", PATH, "--json")
        assert again.status == 0, again.err
        assert again.json["rewards_agreeing"] == again.json["episodes"] == 1
        assert greenroom("runs", "delete", "own", "--yes").status == 0
