"""The script plays FastWorkflow's models: told by the fields of their forms, from ground truth."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from greenroom.domains.tasks import Action, Task
from greenroom.model_server import RunningServer, running_server
from greenroom.model_server.fastworkflow_commands import UNKNOWN_COMMAND
from greenroom.model_server.fastworkflow_roles import UNFINISHED
from tests.domains.small import small_domain
from tests.model_server.forms import (
    COMMANDS,
    Agent,
    Asker,
    Clarification,
    Parameters,
    Planner,
    Replanner,
    Summary,
    ToolAgent,
    ToolAnswer,
    Turn,
)
from tests.model_server.wire import ask

HALL, ATTIC = Action("light", {"lamp": "hall"}), Action("light", {"lamp": "attic"})
LIGHT_HALL, LIGHT_ATTIC = "light <lamp>hall</lamp>", "light <lamp>attic</lamp>"
BOTH = 'Light the "hall",\nthen the attic, then the hall again.'
TALK = "Say hello."
PERSON = "Get me a person."
TASKS = (
    Task(BOTH, (HALL, Action("think", {"thought": "Hm."}), ATTIC, HALL), ("10", "lamps")),
    Task(TALK),
    Task(PERSON, (HALL, Action("transfer_to_human_agents", {"summary": "s"}))),
)
CLOSING = "All done. For your records: 10; lamps."
REJECTED = "PARAMETER EXTRACTION ERROR FOR COMMAND 'light'"


@pytest.fixture(scope="module")
def server() -> Generator[RunningServer]:
    with running_server(small_domain(*TASKS)) as running:
        yield running


@pytest.fixture
def oracle(server: RunningServer) -> Asker:
    return Asker(server)


def turn(server: RunningServer, model: str = "oracle", said: str = BOTH) -> Turn:
    return Turn(
        Asker(server, model), f"Policy: ask first.\n\n{said}\n\nExecute these next steps: 1."
    )


def commands(played: Turn) -> list[str]:
    """Every command up to the end of the turn."""
    given: list[str] = []
    while len(given) < 30:
        tool, arguments = played.use()
        if tool == "finish":
            return given
        given.append(str(arguments.get("command", tool)))
    return given


def test_the_agent_plays_the_ground_truth_and_says_the_outputs(server: RunningServer) -> None:
    played = turn(server)
    assert commands(played) == [LIGHT_HALL, LIGHT_ATTIC, LIGHT_HALL]
    assert played.answer() == CLOSING


def test_a_task_without_actions_is_talked_about(server: RunningServer) -> None:
    played = turn(server, said=TALK)
    assert commands(played) == []
    assert played.answer() == "All done."


def test_what_fastworkflow_rejects_is_not_tried_again(server: RunningServer) -> None:
    played = turn(server)
    assert played.command(REJECTED) == LIGHT_HALL
    assert commands(played) == [LIGHT_ATTIC, LIGHT_HALL]


def test_thoughts_are_commands_only_where_the_workflow_has_one(server: RunningServer) -> None:
    thought = "think <thought>Hm.</thought>"
    thinker = Asker(server, commands=f"{COMMANDS}\n- think\n  inputs:")
    assert commands(Turn(thinker, BOTH)) == [LIGHT_HALL, thought, LIGHT_ATTIC, LIGHT_HALL]
    played = Turn(thinker, BOTH)
    played.command()
    assert played.next(as_json=True) == ("execute_workflow_query", {"command": LIGHT_ATTIC})


def test_every_role_is_told_by_its_fields(oracle: Asker) -> None:
    played = Turn(oracle, BOTH)
    played.use()
    before = oracle.server.stats.roles.copy()
    oracle.fill(Planner, user_query=BOTH)
    played.next()
    played.answer()
    oracle.fill(Summary, user_query=BOTH, workflow_actions=[], final_agent_response="Yes.")
    clarify: dict[str, Any] = {"original_command": "?", "error_message": "", **played.packed()}
    oracle.fill(Clarification, **clarify)
    oracle.fill(Parameters, as_json=True, statement=LIGHT_HALL)
    roles = ("planner", "agent", "answer", "summary", "clarification", "parameters")
    assert oracle.server.stats.roles - before == dict.fromkeys(roles, 1)


def test_the_planner_lists_what_is_left(oracle: Asker) -> None:
    planned = oracle.fill(Planner, user_query=BOTH)["next_steps"].splitlines()
    assert planned == ["1. light", "2. light", "3. light", "4. answer"]
    played = Turn(oracle, BOTH)
    played.command()
    inputs: dict[str, Any] = {
        "agent_inputs": {"user_query": BOTH},
        "agent_trajectory": played.trajectory,
    }
    replanned = oracle.fill(Replanner, user_response="Yes.", **inputs)["next_steps"]
    assert replanned.splitlines() == ["1. light", "2. light", "3. answer"]


def test_the_next_turn_goes_on_where_the_last_one_ended(server: RunningServer) -> None:
    first = turn(server)
    assert [first.command(), first.command()] == [LIGHT_HALL, LIGHT_ATTIC]
    assert first.answer() == UNFINISHED
    second = first.following("Yes, please go ahead.")
    assert "Policy" not in second.query
    assert commands(second) == [LIGHT_HALL]
    third = second.following("Thanks.")
    third.query = second.query.replace("Go on", "") + third.query
    assert commands(third) == []
    assert third.answer() == CLOSING


def test_a_summary_of_an_unknown_task_is_still_a_summary(oracle: Asker) -> None:
    records = [{"command": "abort", "response": "aborted"}, {"agent_query": "Sure?"}, {}]
    given: dict[str, Any] = {"user_query": "Go ahead.", "final_agent_response": "Fine."}
    summary = oracle.fill(Summary, workflow_actions=records, **given)["conversation_summary"]
    for part in ("Go ahead.", "abort", "Sure?", "Fine."):
        assert part in summary


def test_the_user_is_asked_before_the_first_change(server: RunningServer) -> None:
    played = turn(server, "oracle+ask")
    tool, arguments = played.use("User Query:\nYes.")
    assert tool == "ask_user"
    assert arguments["clarification_request"].endswith("Shall I go ahead?")
    played.records[-1]["agent_query"] = "Shall I?"
    assert played.command() == LIGHT_HALL
    later = played.following("Go on.")
    assert commands(later) == [LIGHT_ATTIC, LIGHT_HALL]
    talking = turn(server, "oracle+ask", TALK)
    assert [talking.use()[0], talking.use()[0]] == ["ask_user", "finish"]


def test_an_unknown_command_comes_first(server: RunningServer) -> None:
    played = turn(server, "oracle+unknown")
    assert commands(played)[:2] == [UNKNOWN_COMMAND, LIGHT_HALL]
    assert commands(turn(server, "oracle+unknown", TALK)) == [UNKNOWN_COMMAND]


def test_a_value_is_left_out_of_the_first_command(server: RunningServer) -> None:
    played = turn(server, "oracle+missing")
    assert commands(played) == ["light", LIGHT_HALL, LIGHT_ATTIC, LIGHT_HALL]


def test_wishes_in_words_count_if_they_were_understood(server: RunningServer) -> None:
    played = turn(server, "oracle+loose")
    wish = "I would like to light. The lamp is hall."
    assert played.command() == wish
    assert played.command(REJECTED) == wish.replace("hall", "attic")
    assert played.command() == LIGHT_ATTIC
    assert played.answer() == UNFINISHED
    later = played.following("Go on.")
    assert commands(later) == [LIGHT_HALL]
    assert played.asker.fill(Parameters, as_json=True, statement=wish)["lamp"] == "hall"


def test_the_command_that_was_meant_is_named_if_it_is_offered(server: RunningServer) -> None:
    played = turn(server, "oracle+loose")
    wish = played.command()
    for offered, clarified in (("It is ambiguous: light or dim?", LIGHT_HALL), ("dim?", "")):
        given: dict[str, Any] = {"original_command": wish, "error_message": offered}
        filled = played.asker.fill(Clarification, **given, **played.packed())
        assert filled["clarified_command"] == clarified
        # Any text there is a yes.
        assert bool(filled["needs_human"]) is not bool(clarified)
        assert bool(filled["clarification_question"]) is not bool(clarified)


@pytest.mark.parametrize("said", [BOTH, TALK])
def test_one_reply_of_a_turn_makes_no_sense(server: RunningServer, said: str) -> None:
    for trial in range(2):
        played = turn(server, "oracle+garbled", said)
        if said == BOTH:
            assert played.command() == LIGHT_HALL
        assert played.next() is None, trial
        assert played.next(as_json=True) is None
        # dspy has given up and the loop begins anew: what was asked before is asked again.
        again = turn(server, "oracle+garbled", said)
        assert commands(again) == ([LIGHT_HALL, LIGHT_ATTIC, LIGHT_HALL] if said == BOTH else [])


def test_parameters_are_read_from_the_command(oracle: Asker) -> None:
    def read(statement: str) -> tuple[Any, Any, Any]:
        filled = oracle.fill(Parameters, as_json=True, statement=statement)
        return filled["lamp"], filled["colours"], filled["watts"]

    tagged = ': <lamp>hall</lamp> <colours>["red", "a, b"]</colours> <watts>5</watts>'
    assert read(tagged) == ("hall", ["red", "a, b"], 5)
    assert read(": <lamp></lamp> <colours>7</colours>") == ("", ["7"], None)
    assert read("The lamp is St. John's. The colours is red, 7. The watts is 5.") == (
        "St. John's",
        ["red", "7"],
        5,
    )
    assert read(":") == ("NOT_FOUND", None, None)
    chat = oracle.fill(Parameters, statement=tagged)
    assert chat["colours"] == ["red", "a, b"]


def test_tools_are_used_by_their_own_names_where_there_are_no_commands(oracle: Asker) -> None:
    first = oracle.fill(ToolAgent, conversation=f"User: {BOTH}", trajectory="")
    assert (first["next_tool_name"], first["next_tool_args"]) == ("light", {"lamp": "hall"})
    done = Turn(oracle, "")
    done.trajectory = {"tool_name_0": "light", "tool_args_0": {"lamp": "hall"}}
    said: dict[str, Any] = {"conversation": f"User: {PERSON}", "trajectory": done.written}
    assert oracle.fill(ToolAnswer, **said)["reply"] == UNFINISHED
    talk: dict[str, Any] = {"conversation": TALK, "trajectory": ""}
    assert oracle.fill(ToolAgent, **talk)["next_tool_name"] == "finish"
    assert oracle.fill(ToolAnswer, **talk)["reply"] == "All done."


def test_a_synthetic_agent_fails_on_purpose(server: RunningServer) -> None:
    lost = turn(server, "synthetic-0+ask", TALK)
    lost.use()
    assert [lost.use()[0] for _ in range(3)] == ["what_can_i_do"] * 3
    assert lost.answer() == UNFINISHED
    ways = {_way(Turn(Asker(server, "synthetic-0.5", seed), BOTH)) for seed in range(20)}
    everything = (LIGHT_HALL, LIGHT_ATTIC, LIGHT_HALL)
    silent, forgetful = (*everything, "All done."), (LIGHT_HALL, LIGHT_HALL, CLOSING)
    assert ways == {(*everything, CLOSING), silent, forgetful}


def _way(played: Turn) -> tuple[str, ...]:
    return (*commands(played), played.answer())


def test_an_agent_who_hands_over_has_nothing_left_to_say(server: RunningServer) -> None:
    played = turn(server, said=PERSON)
    handing_over = "transfer_to_human_agents <summary>s</summary>"
    assert commands(played) == [LIGHT_HALL, handing_over]
    assert played.answer() == UNFINISHED


def test_forms_about_nothing_known_are_refused(oracle: Asker) -> None:
    answer = oracle.send(Planner, user_query="Water the plants.")
    assert answer.status == 400
    assert answer.json["error"]["code"] == "unknown_task"


def test_habits_are_known_by_name(server: RunningServer) -> None:
    answer = Asker(server, "oracle+hasty").send(Agent, user_query=BOTH, trajectory="")
    assert answer.status == 404
    assert "'hasty'" in answer.json["error"]["message"]
    opening = [{"role": "user", "content": TALK}]
    assert ask(server, model="openai/oracle+loose", messages=opening).status == 200


def test_broken_trajectories_are_read_as_far_as_they_go(oracle: Asker) -> None:
    played = Turn(oracle, BOTH)
    played.trajectory = {"tool_name_0": "execute_workflow_query", "tool_args_0": "{"}
    assert played.next() == ("execute_workflow_query", {"command": LIGHT_HALL})
    records: dict[str, Any] = {
        "workflow_actions": "[",
        "user_query": BOTH,
        "final_agent_response": "",
    }
    assert oracle.fill(Summary, **records)["conversation_summary"]
