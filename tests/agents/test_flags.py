from __future__ import annotations

import pytest

from greenroom.agents import find_strategy
from greenroom.agents.flags import AgentFlags, UnknownFlag
from greenroom.options import stored_settings

FLAGS = AgentFlags(
    {"--agent-strategy": True, "--model": True, "--json": False, "--agent-option": True},
    lambda values: "tool-calling" if "--model" in values else "oracle",
)


@pytest.mark.parametrize(
    ("words", "spelt"),
    [
        ("--json", "--json"),
        ("--model --bridge", "--model --bridge"),
        (
            "--agent-strategy synthetic --success 0.5 --json",
            "--agent-strategy synthetic --agent-option success=0.5 --json",
        ),
        (
            "--agent-strategy=synthetic --success=0.5",
            "--agent-strategy=synthetic --agent-option success=0.5",
        ),
        (
            "--agent-strategy fastworkflow --no-use-reasoning",
            "--agent-strategy fastworkflow --agent-option use_reasoning=false",
        ),
        (
            "--model m --tau-compatible --json",
            "--agent-strategy tool-calling --model m --agent-option tau_compatible=true --json",
        ),
        # Only one agent has it.
        ("--workflow app.py", "--agent-strategy workflow --agent-option workflow=app.py"),
    ],
)
def test_flags_of_the_agent_become_options(words: str, spelt: str) -> None:
    assert FLAGS.spelt_out(words.split()) == spelt.split()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--agent-strategy synthetic --sucess 1", "Did you mean --success? The synthetic agent"),
        ("--agent-strategy oracle --success 1", "No such option: --success. The oracle agent adds"),
        ("--agent-strategy synthetic --success", "'--success' requires an argument"),
    ],
)
def test_what_no_agent_knows_is_told_with_what_there_is(words: str, told: str) -> None:
    with pytest.raises(UnknownFlag) as error:
        FLAGS.spelt_out(words.split())
    assert told in str(error.value)


def test_settings_that_earlier_versions_stored_are_read() -> None:
    stored = {"reasoning": "0", "intent_models": "0", "bridge": "decision-only"}
    settings = find_strategy("fastworkflow").check(stored)
    assert stored_settings(settings) == {
        "bridge": "decision-only",
        "intent_models": False,
        "use_reasoning": False,
    }
    assert stored_settings(find_strategy("tool-calling").check({"tau_compatible": "1"})) == {
        "tau_compatible": True
    }
