"""The bridge within real FastWorkflow sessions: what is stepped, told, patched and put back."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from greenroom.agents.fastworkflow.fastworkflow_bridge import render_obs_for_agent
from tests.agents.fastworkflow_probe import MARKER
from tests.conftest import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """All scenes, played in one process of their own."""
    folder: Path = tmp_path_factory.mktemp("fastworkflow")
    done = subprocess.run(
        [sys.executable, "-m", "tests.agents.fastworkflow_probe", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=170,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("RESULT"))
    return json.loads(line.removeprefix("RESULT"))


def names(scene: dict[str, Any]) -> list[str]:
    return [action["name"] for action in scene["actions"]]


def test_a_command_steps_the_environment_and_its_observation_is_what_the_agent_reads(
    scenes: dict[str, Any],
):
    scene = scenes["plain"]
    assert scene["actions"] == [{"name": "get_order_details", "arguments": {"order_id": "#W1"}}]
    assert "env saw step 1" in scene["prompts"][2]
    assert scene["told"] == [
        {
            "command": "get_order_details <order_id>#W1</order_id>",
            "action": scene["actions"][0],
            "observation": "env saw step 1",
            "reward": 0.0,
            "done": False,
        }
    ]
    assert scene["answers"] == ["All is done."]
    assert scene["resolved"] == {"exact": 1}
    assert scene["roles"] == ["planner", "agent", "agent", "agent", "planner"]


def test_what_only_the_environment_knows_reaches_no_prompt(scenes: dict[str, Any]):
    told = [scenes["plain"], scenes["asked"], scenes["garbled"]]
    assert not any(MARKER in prompt for scene in told for prompt in scene["prompts"])


def test_decision_only_plans_and_does_not_step(scenes: dict[str, Any]):
    scene = scenes["decision only"]
    assert scene["actions"] == []
    planned = {"name": "get_order_details", "arguments": {"order_id": "#W1"}}
    assert [record["action"] for record in scene["told"]] == [planned]
    assert json.loads(scene["told"][0]["observation"]) == planned
    assert scene["told"][0]["observation"] in scene["prompts"][2]


def test_what_breaks_is_told_once_in_a_few_words_and_recorded(scenes: dict[str, Any]):
    for scene in (scenes["broken environment"], scenes["fallback"]["broken"]):
        assert names(scene) == ["get_order_details"], "FastWorkflow must not try the step again"
        (record,) = scene["told"]
        assert record["action"] is None
        assert record["error"] == "RuntimeError: the till is stuck"
        assert "the till is stuck" in scene["prompts"][2]
        assert "Traceback" not in scene["prompts"][2]
        assert scene["answers"] == ["All is done."]


def test_the_end_of_the_environment_ends_the_turn_without_another_model_call(
    scenes: dict[str, Any],
):
    scene = scenes["over"]
    assert names(scene) == ["get_order_details"]
    assert scene["roles"] == ["planner", "agent"]
    assert scene["problem"] is None


def test_a_reply_that_cannot_be_parsed_repeats_no_step(scenes: dict[str, Any]):
    scene = scenes["garbled"]
    # The loop begins anew and cancels again: that was done already, so it is only told again.
    assert names(scene) == ["cancel_pending_order", "get_order_details"]
    assert scene["resolved"] == {"exact": 3}
    assert "env saw step 1" in scene["prompts"][5]
    assert scene["answers"] == ["All is done."]


def test_a_command_that_the_agent_repeats_by_itself_is_stepped_again(scenes: dict[str, Any]):
    assert names(scenes["repeated"]) == ["get_order_details"] * 2


def test_a_question_to_the_user_interrupts_the_turn_and_its_answer_resumes_it(
    scenes: dict[str, Any],
):
    scene = scenes["asked"]
    assert scene["statuses"] == ["awaiting_user", "completed"]
    assert scene["answers"] == ["Sure?", "All is done."]
    # What was looked at before may have changed: it is looked at again.
    assert names(scene) == ["get_order_details"] * 2 + ["cancel_pending_order"]


def test_commands_of_fastworkflow_itself_and_blank_ones_step_nothing(scenes: dict[str, Any]):
    assert names(scenes["unmapped"]) == names(scenes["blank"]) == []
    assert scenes["unmapped"]["resolved"] == scenes["blank"]["resolved"] == {}


def test_a_name_before_a_line_break_is_exact(scenes: dict[str, Any]):
    scene = scenes["line break"]
    assert names(scene) == ["get_order_details"]
    assert scene["resolved"] == {"exact": 1}


@pytest.mark.parametrize(
    "scene", ["misunderstood", "misunderstood for good", "ambiguous", "incomplete"]
)
def test_both_entry_points_give_the_same_episode_with_fastworkflows_own_recovery(
    scenes: dict[str, Any], scene: str
):
    entry, fallback = scenes["entry"][scene], scenes["fallback"][scene]
    assert entry == fallback
    assert entry["problem"] is None
    assert entry["left"] == 0, "every reply was needed"
    assert entry["stage"] == "INTENT_DETECTION", "the next command is read as a command"


def test_recovery_leads_to_the_step_that_was_meant(scenes: dict[str, Any]):
    recovered = scenes["entry"]
    for scene in ("misunderstood", "ambiguous"):
        assert names(recovered[scene]) == ["get_order_details"]
        assert recovered[scene]["resolved"]["failed"] == 1
    assert names(recovered["misunderstood for good"]) == []
    assert "What?" in recovered["misunderstood for good"]["prompts"][3]
    # Aborted, planned anew with what was missing, and then made.
    assert names(recovered["incomplete"]) == ["cancel_pending_order"]
    assert recovered["incomplete"]["roles"][2:6] == ["extraction"] * 3 + ["planner"]


def test_clarifying_comes_to_an_end(scenes: dict[str, Any]):
    scene = scenes["never clarified"]
    assert names(scene) == []
    assert scene["roles"].count("agent") < 12
    assert scene["answers"] == ["All is done."]
    assert any("not understood which command" in prompt for prompt in scene["prompts"])
    assert scene["stage"] == "INTENT_DETECTION"


def test_fastworkflow_is_patched_only_while_a_session_is_bound(scenes: dict[str, Any]):
    patches = scenes["patches"]
    assert patches["before"]
    assert not patches["within"]
    assert patches["after"]
    assert patches["dropped"], "a session that is dropped is let go"
    assert patches["unbound"], "a session that nobody bound goes on as before"


def test_a_fastworkflow_that_cannot_be_patched_is_refused_by_its_version(scenes: dict[str, Any]):
    refusal = scenes["patches"]["refused"]
    assert "cannot be bridged" in refusal
    assert "2.30" in refusal
    assert "3.6" in refusal


def test_two_sessions_step_their_own_environments(scenes: dict[str, Any]):
    both = scenes["two sessions"]
    for own, other in (("one", "other"), ("other", "one")):
        assert [action["arguments"] for action in both[own]] == [{"order_id": f"#W{own}"}]
        assert any(f"{own} saw step 1" in prompt for prompt in both[f"{own} prompts"])
        assert not any(f"{other} saw" in prompt for prompt in both[f"{own} prompts"])


def test_the_same_observation_is_always_the_same_text():
    assert render_obs_for_agent("as it is", {"task": MARKER}) == "as it is"
    first = render_obs_for_agent({"b": 1, "a": [True, None]}, {"task": MARKER})
    assert first == render_obs_for_agent({"a": [True, None], "b": 1}, None)
    assert json.loads(first) == {"a": [True, None], "b": 1}
