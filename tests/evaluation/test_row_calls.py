from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from greenroom.errors import InputError, UnknownName
from greenroom.evaluation.row_calls import Form, RowCall, RowPlan, plan_rows
from greenroom.evaluation.simulated import Brief
from greenroom.store.columns import ColumnTally
from greenroom.workflows.calls import Profile, Schemas

HISTORY = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "Hello!"},
    {"role": "user", "content": "Capital of France?"},
]
PARIS = {"role": "assistant", "content": "Paris"}


def profile(
    *, chat: bool, schema: dict[str, Any] | None = None, interface: Any = "local"
) -> Profile:
    return Profile(name="w", is_chat=chat, schemas=Schemas(inputs=schema), interface=interface)


def takes(*names: str, required: bool = True, **kinds: str) -> dict[str, Any]:
    properties = {name: {"type": kinds.get(name, "string")} for name in (*names, *kinds)}
    return {"type": "object", "properties": properties} | (
        {"required": list(properties)} if required else {}
    )


def plan(rows: list[dict[str, Any]], found: Profile, form: Form, **named: Any) -> RowPlan:
    tally = ColumnTally()
    for row in rows:
        tally.add(row)
    return plan_rows(found, tally.records(), form, **named)


@dataclass(frozen=True)
class Sent(RowCall):
    """A call, and what is expected where the workflow answers with a text."""

    expected: Any = None


def call(row: dict[str, Any], found: Profile, form: Form, **named: Any) -> Sent:
    planned = plan([row], found, form, **named)
    sent = planned.call(row, 0)
    return Sent(sent.inputs, sent.brief, planned.expected(row, "a text"))


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


CHAT = profile(chat=True)


@pytest.mark.parametrize("value", [HISTORY, json.dumps(HISTORY)])
def test_a_chat_column_is_found_by_its_shape(value: Any) -> None:
    found = call({"anything": value, "customer": "Bob", "expected": "Paris"}, CHAT, "chat")
    assert found.inputs == {"messages": HISTORY, "customer": "Bob"}
    assert found.expected == "Paris"


def test_a_text_becomes_the_one_thing_that_the_user_says() -> None:
    found = call({"question": "Capital of France?", "expected": "Paris"}, CHAT, "chat")
    assert found.inputs == {"messages": [user("Capital of France?")]}
    number = call({"n": 7}, CHAT, "chat")
    assert number.inputs == {"messages": [user("7")]}


def test_a_single_message_is_a_chat_of_one() -> None:
    assert call({"m": user("Hi")}, CHAT, "chat").inputs == {"messages": [user("Hi")]}


def test_the_workflows_own_inputs_are_not_what_the_user_says() -> None:
    schema = takes("messages", "customer")
    found = call({"customer": "Bob", "question": "Hi"}, profile(chat=True, schema=schema), "chat")
    assert found.inputs == {"customer": "Bob", "messages": [user("Hi")]}


def test_several_texts_need_a_word_on_which_is_meant() -> None:
    row = {"category": "geography", "question": "Hi"}
    with pytest.raises(InputError, match=r"Several columns hold texts: category, question.*--mess"):
        call(row, CHAT, "chat")
    found = call(row, CHAT, "chat", message_column="question")
    assert found.inputs == {"category": "geography", "messages": [user("Hi")]}
    with pytest.raises(UnknownName, match=r"Unknown column 'qestion'\. Did you mean 'question'"):
        call(row, CHAT, "chat", message_column="qestion")


def test_of_several_chats_the_one_named_messages_is_meant() -> None:
    row = {"messages": HISTORY, "other": [user("x")]}
    assert call(row, CHAT, "chat").inputs == {"messages": HISTORY, "other": [user("x")]}
    with pytest.raises(InputError, match="Several columns hold chats: a, b"):
        call({"a": HISTORY, "b": HISTORY}, CHAT, "chat")


def test_without_anything_to_say_nothing_is_called() -> None:
    with pytest.raises(InputError, match=r"no column has the user's messages.*There are: data"):
        call({"data": {"x": 1}, "expected": "y"}, CHAT, "chat")


def test_a_model_behind_openais_protocol_gets_messages_and_nothing_else() -> None:
    model = profile(chat=True, interface="openai")
    found = call({"m": HISTORY, "id": "7", "topic": "x"}, model, "chat")
    assert found.inputs == {"messages": HISTORY}


def test_inputs_that_would_be_refused_are_left_out() -> None:
    schema = takes("country") | {"additionalProperties": False}
    found = call({"country": "France", "id": 3}, profile(chat=False, schema=schema), "plain")
    assert found.inputs == {"country": "France"}


def test_the_answer_is_not_sent_along() -> None:
    row = {"country": "France", "correct_answer": "Paris", "ground_truth": "Paris"}
    found = call(row, profile(chat=False), "plain")
    assert (found.inputs, found.expected) == ({"country": "France"}, "Paris")
    told = call({"q": "?", "a": "x"}, profile(chat=False), "plain", expected="a", inputs=["q"])
    assert (told.inputs, told.expected) == ({"q": "?"}, "x")


def test_a_missing_input_is_told_with_the_columns_there_are() -> None:
    found = profile(chat=False, schema=takes("country"))
    with pytest.raises(InputError, match=r"'w' needs country.*Its inputs: land"):
        call({"land": "France"}, found, "plain")
    chatty = profile(chat=True, schema=takes("messages", "customer"))
    with pytest.raises(InputError, match="'w' needs customer"):
        call({"m": HISTORY}, chatty, "chat")


def test_an_input_that_only_some_rows_have_is_found_in_the_row_that_lacks_it() -> None:
    rows: list[dict[str, Any]] = [{"country": "France"}, {"other": 1}]
    planned = plan(rows, profile(chat=False, schema=takes("country")), "plain")
    with pytest.raises(InputError, match="Row 2 has no country"):
        planned.call(rows[1], 1)


def test_inputs_with_defaults_may_be_missing() -> None:
    schema = takes("country", required=False)
    schema["properties"]["tone"] = {"type": "string", "default": "kind"}
    assert call({"country": "x"}, profile(chat=False, schema=schema), "plain").inputs == {
        "country": "x"
    }


def test_cells_of_csv_files_become_what_the_workflow_takes() -> None:
    schema = takes("name", n="integer", tags="array", flag="boolean")
    row = {"name": "7", "n": "7", "tags": '["a"]', "flag": "true", "free": "7"}
    found = call(row, profile(chat=False, schema=schema), "plain")
    assert found.inputs == {"name": "7", "n": 7, "tags": ["a"], "flag": True, "free": "7"}
    odd = call({**row, "n": "seven"}, profile(chat=False, schema=schema), "plain")
    assert odd.inputs["n"] == "seven", "the workflow itself says what is wrong with it"


@pytest.mark.parametrize(
    ("schema", "name"),
    [(None, "chat"), (takes("question"), "question"), (takes("chat"), "chat")],
)
def test_from_a_chat_a_completion_gets_what_the_user_said_last(
    schema: dict[str, Any] | None, name: str
) -> None:
    row = {"chat": HISTORY, "expected": PARIS}
    found = call(row, profile(chat=False, schema=schema), "plain")
    assert found.inputs == {name: "Capital of France?"}
    assert found.expected == "Paris", "what is expected is read in the same way"


def test_a_completion_that_takes_the_chat_itself_gets_it() -> None:
    schema = takes(history="array")
    found = call({"history": HISTORY}, profile(chat=False, schema=schema), "plain")
    assert found.inputs == {"history": HISTORY}


def test_where_a_chats_text_goes_has_to_be_clear() -> None:
    with pytest.raises(InputError, match=r"name the column like one of a, b"):
        call({"chat": HISTORY}, profile(chat=False, schema=takes("a", "b")), "plain")


def test_a_chat_workflow_as_a_completion_gets_one_message() -> None:
    asked = {"messages": [user("Capital of France?")]}
    from_chat = call({"m": HISTORY, "expected": PARIS}, CHAT, "one message")
    assert (from_chat.inputs, from_chat.expected) == (asked, "Paris")
    from_text = call({"q": "Capital of France?"}, CHAT, "one message")
    assert from_text.inputs == asked
    assert not plan([{"q": "x"}], CHAT, "one message").is_chat


def test_a_row_with_a_goal_is_a_conversation() -> None:
    row = {"goal": "Cancel it.", "persona": "in a hurry", "max_turns": "3", "tier": "gold"}
    found = call(row, CHAT, "chat")
    assert found.inputs == {"tier": "gold"}, "the workflow does not see the brief"
    brief = Brief("Cancel it.", "in a hurry", 3)
    assert found.brief == brief
    assert brief.instruction == "Cancel it.\n\nWho you are: in a hurry"


def test_goals_and_transcripts_mix() -> None:
    rows: list[dict[str, Any]] = [
        {"goal": "Cancel it.", "messages": None},
        {"goal": "", "messages": HISTORY},
        {"goal": None, "messages": None},
    ]
    planned = plan(rows, CHAT, "chat")
    assert planned.call(rows[0], 0).brief is not None
    assert planned.call(rows[1], 1).brief is None
    with pytest.raises(InputError, match="Row 3 has neither a goal nor anything in messages"):
        planned.call(rows[2], 2)


def test_a_workflow_may_have_an_input_called_goal() -> None:
    schema = takes("messages", "goal")
    found = call({"goal": "win", "q": "Hi"}, profile(chat=True, schema=schema), "chat")
    assert (found.brief, found.inputs["goal"]) == (None, "win")


@pytest.mark.parametrize("turns", ["x", 0, -1, 1.5, [1]])
def test_turns_are_whole_numbers(turns: Any) -> None:
    with pytest.raises(InputError, match="Row 1: max_turns is a whole number of 1 or more"):
        call({"goal": "x", "max_turns": turns}, CHAT, "chat")


@pytest.mark.parametrize("empty", [None, "", "  "])
def test_an_empty_row_is_named(empty: Any) -> None:
    rows: list[dict[str, Any]] = [{"q": "Hi"}, {"q": empty}]
    with pytest.raises(InputError, match="Row 2 has nothing in q"):
        plan(rows, CHAT, "chat").call(rows[1], 1)


def test_a_chat_in_which_the_user_says_nothing() -> None:
    with pytest.raises(InputError, match="Row 1 has a chat without a user message"):
        call({"m": [PARIS]}, CHAT, "one message")
