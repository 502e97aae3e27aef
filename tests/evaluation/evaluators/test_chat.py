from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.evaluation.evaluators.scoring import called, chat_score, said, score


def asked(content: str = "hi") -> dict[str, Any]:
    return {"role": "user", "content": content}


def answered(call_id: str = "1") -> dict[str, Any]:
    return {"role": "tool", "content": "ok", "tool_call_id": call_id}


SYSTEM = {"role": "system", "content": "Be kind."}


@pytest.mark.parametrize(
    ("evaluator", "expected", "passed"),
    [
        ("last_message", "Paris is it.", True),
        ("last_message", said("Paris is it."), True),
        ("last_message", "Paris", False),
        ("last_message:match=contains", "Paris", True),
        ("last_message:match=contains,value=paris", None, False),
        ("last_message:match=contains,value=paris,ignore_case=true", None, True),
        ("last_message:role=assistant", None, True),
        ("last_message:role=user", None, False),
        ("last_message:role=assistant", "Rome", False),
    ],
)
def test_the_last_message(evaluator: str, expected: Any, passed: bool) -> None:
    outputs = [said("Hm."), said([{"type": "text", "text": "Paris is it."}])]
    for is_chat in (True, False):
        found = score(evaluator, outputs=outputs, expected=expected, is_chat=is_chat)
        assert (found.passed, found.compared) == (passed, "Paris is it.")


def test_of_a_conversation_it_is_the_last() -> None:
    found = chat_score(
        "last_message:value=Bye", said("Hello"), conversation=[asked(), said("Hello"), said("Bye")]
    )
    assert found.passed is True
    assert chat_score("last_message:value=x", []).reason == "there is no message"
    assert chat_score("last_message:value=x", {"a": 1}).score is None


@pytest.mark.parametrize(
    ("settings", "passed", "number"),
    [
        ("min=2,max=4", True, 4),
        ("max=3", False, 4),
        ("min=5", False, 4),
        ("count=turns,max=1", False, 2),
        ("count=turns,min=2", True, 2),
    ],
)
def test_how_long_it_was(settings: str, passed: bool, number: int) -> None:
    history = [SYSTEM, asked(), said("Yes?"), asked("Capital?")]
    found = chat_score(
        f"conversation_length:{settings}", said("Paris"), inputs={"messages": history}
    )
    assert (found.passed, found.compared) == (passed, number)
    whole = [*history, said("Paris")]
    again = chat_score(f"conversation_length:{settings}", said("x"), conversation=whole)
    assert (again.passed, again.compared) == (passed, number)


def test_the_history_is_found_by_its_shape() -> None:
    found = chat_score(
        "conversation_length:max=2",
        said("Paris"),
        inputs={"talk": '[{"role":"user","content":""}]'},
    )
    assert found.compared == 2


@pytest.mark.parametrize(
    ("messages", "fault"),
    [
        ([SYSTEM, asked(), said("x")], None),
        ([said("Hello!"), asked(), said("x")], None),
        ([asked(), said(None, tool_calls=[called("a")]), answered(), said("x")], None),
        ([asked(), said(None, tool_calls=[called("a")])], None),
        ([asked(), said("x"), SYSTEM], "message 3: system speaks after the conversation began"),
        ([asked(), asked()], "message 2: user speaks twice in a row"),
        ([asked(), said("x"), said("y")], "message 3: assistant speaks twice in a row"),
        ([asked(), answered()], "message 2: a tool answers, and nothing was called"),
        (
            [asked(), said(None, tool_calls=[called("a")]), answered("9")],
            "message 3: a tool answers a call that was not made",
        ),
        (
            [asked(), said(None, tool_calls=[called("a")]), asked()],
            "message 3: user speaks before the tools have answered",
        ),
    ],
)
def test_who_speaks_when(messages: list[dict[str, Any]], fault: str | None) -> None:
    found = chat_score("role_order", said("x"), conversation=messages)
    assert (found.passed, found.reason) == (fault is None, fault or "in order")
    assert found.compared == [message["role"] for message in messages]


def test_repeats_can_be_allowed_and_an_order_be_told() -> None:
    messages = [asked(), said("x"), said("y")]
    assert chat_score("role_order:allow_repeats=true", messages[1:], inputs={"m": messages[:1]})
    found = chat_score("role_order:allow_repeats=true", said("x"), conversation=messages)
    assert found.passed is True
    found = chat_score(
        "role_order:roles=user,assistant,assistant", said("x"), conversation=messages
    )
    assert found.passed is True
    assert found.against == ["user", "assistant", "assistant"]
    assert chat_score("role_order:roles=user", said("x"), conversation=messages).passed is False


@pytest.mark.parametrize(
    ("message", "is_refusal"),
    [
        (said("I’m sorry, but I can’t help with that."), True),
        (said("Unfortunately, I am unable to   assist you here."), True),
        (said(None, refusal="No."), True),
        (said([{"type": "refusal", "refusal": "No."}]), True),
        (said("Of course. " * 40 + "Though I can't help with everything."), False),
        (said("I can find your order."), False),
        (said("I couldn't find your order."), False),
        (said(None, tool_calls=[called("a")]), False),
    ],
)
def test_refusals(message: dict[str, Any], is_refusal: bool) -> None:
    assert chat_score("refusal", message).passed is (not is_refusal)
    found = chat_score("refusal:wanted=true", message)
    assert (found.passed, found.against) == (is_refusal, "a refusal")


def test_refusals_in_other_words() -> None:
    text = "Das darf ich nicht."
    assert score("refusal", outputs=text).passed is True
    assert score("refusal:phrases=darf ich nicht", outputs=text).passed is False


def spoken_by(role: str) -> dict[str, Any]:
    return {"role": role, "content": "x"}


roles = st.sampled_from(["user", "assistant", "tool", "system"])


@given(st.lists(st.builds(spoken_by, roles), min_size=1))
def test_what_is_in_strict_order_is_in_order(messages: list[dict[str, Any]]) -> None:
    strict = chat_score("role_order", "x", conversation=messages).passed
    lax = chat_score("role_order:allow_repeats=true", "x", conversation=messages).passed
    assert lax is not None
    assert not strict or lax
    told = ",".join(message["role"] for message in messages)
    assert chat_score(f"role_order:roles={told}", "x", conversation=messages).passed is True
