from __future__ import annotations

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.domains.tasks import STOP
from greenroom.errors import InputError
from greenroom.models import (
    ChatMessage,
    Completion,
    ContextWindowExceeded,
    FakeModel,
    ModelError,
    ModelUnavailable,
)
from greenroom.users import UserContext, find_user_strategy, prompts
from greenroom.users.llm import (
    LlmUser,
    ReactUser,
    ReflectionUser,
    VerifyUser,
    strategy,
    without_reasoning,
)

pytestmark = pytest.mark.anyio

INSTRUCTION = "You are Ada Byron. You want lamp {7} back in stock, or else a refund."


def heard(text: str) -> ChatMessage:
    return {"role": "user", "content": text}


def said(text: str) -> ChatMessage:
    return {"role": "assistant", "content": text}


async def test_the_conversation_is_asked_for_from_the_users_side() -> None:
    model = FakeModel(["Hello, a lamp please.", "Number 7.", STOP])
    user = LlmUser(model, seed=5)
    assert await user.open(INSTRUCTION) == "Hello, a lamp please."
    assert await user.reply("Which one?") == "Number 7."
    assert await user.reply("Done.") == STOP
    system: ChatMessage = {"role": "system", "content": prompts.part(INSTRUCTION)}
    opened = [system, heard("Hi! How can I help you today?")]
    asked = [*opened, said("Hello, a lamp please."), heard("Which one?")]
    assert [request.messages for request in model.requests] == [
        opened,
        asked,
        [*asked, said("Number 7."), heard("Done.")],
    ]
    assert {request.seed for request in model.requests} == {5}


async def test_the_first_message_is_asked_for_once_and_with_the_instruction() -> None:
    model = FakeModel(["Hello."])
    await LlmUser(model).open(INSTRUCTION)
    (request,) = model.requests
    assert INSTRUCTION in request.messages[0]["content"]


def test_the_prompt_has_the_rules_and_the_instruction() -> None:
    prompt = prompts.part(INSTRUCTION)
    assert prompt.endswith(f"Your brief:\n{INSTRUCTION}")
    for rule in ("one short message", "step by step", "Make up no", "own words", STOP):
        assert rule in prompt


@pytest.mark.parametrize("persona", [name for name in prompts.PERSONAS if name != "plain"])
def test_a_persona_is_told_among_the_rules(persona: str) -> None:
    prompt = prompts.part(INSTRUCTION, persona=persona)
    manner = prompts.PERSONAS[persona]
    assert manner.startswith(("- You ", "- The language"))
    assert prompt.index(STOP) < prompt.index(manner) < prompt.index("Your brief:")
    assert prompt.replace(f"\n{manner}", "") == prompts.part(INSTRUCTION)


def test_a_plain_user_has_no_lines_more() -> None:
    assert prompts.part(INSTRUCTION, persona="plain") == prompts.part(INSTRUCTION)


@pytest.mark.parametrize("kind", ["llm", "react", "verify", "reflection"])
async def test_every_user_that_a_model_plays_takes_a_persona(kind: str) -> None:
    model = FakeModel(["User Response: Hello.", "Verdict: accept"])
    user = find_user_strategy(kind).create(UserContext(model, persona="terse"))
    await user.open(INSTRUCTION)
    assert prompts.PERSONAS["terse"] in model.requests[0].messages[0]["content"]


def test_a_persona_that_cannot_be_played() -> None:
    with pytest.raises(InputError, match="Known: plain, terse, "):
        strategy.check_persona("rude")
    with pytest.raises(InputError, match="the scripted user has no manner"):
        find_user_strategy("scripted").check_persona("terse")
    assert strategy.check_persona(None) is None
    assert strategy.check_persona("terse") == "terse"


async def test_a_new_conversation_remembers_nothing_of_the_one_before() -> None:
    model = FakeModel(["one", "two", "three"])
    user = LlmUser(model, greeting="Yes?")
    await user.open("first")
    await user.reply("something")
    await user.open("second")
    assert model.requests[-1].messages == [
        {"role": "system", "content": prompts.part("second")},
        heard("Yes?"),
    ]


async def test_an_empty_answer_is_asked_for_again_once() -> None:
    model = FakeModel(["  \n", "Hello."])
    user = LlmUser(model)
    assert await user.open(INSTRUCTION) == "Hello."
    first, second = (request.messages for request in model.requests)
    assert second == prompts.with_direction(first, prompts.REMINDER)
    await user.reply("Yes?")
    assert model.requests[-1].messages == [*first, said("Hello."), heard("Yes?")]


@pytest.mark.parametrize("nothing", ["", " \n ", "<think>hm</think>", {"content": None}])
async def test_two_empty_answers_are_an_error_of_the_model(nothing: str | ChatMessage) -> None:
    model = FakeModel([nothing])
    with pytest.raises(ModelUnavailable, match="gave an empty answer twice"):
        await LlmUser(model).open(INSTRUCTION)
    assert len(model.requests) == 2


async def test_errors_of_the_model_pass_through_and_leave_the_conversation_as_it_was() -> None:
    model = FakeModel(["Hello.", ContextWindowExceeded("too long"), "Number 7."])
    user = LlmUser(model)
    await user.open(INSTRUCTION)
    with pytest.raises(ContextWindowExceeded):
        await user.reply("Which one?")
    assert await user.reply("Which one?") == "Number 7."
    assert model.requests[2].messages == model.requests[1].messages


async def test_an_agents_empty_message_is_not_passed_on_as_nothing() -> None:
    model = FakeModel(["Hello."])
    user = LlmUser(model)
    await user.open(INSTRUCTION)
    await user.reply(" ")
    assert model.requests[-1].messages[-1] == heard(prompts.SILENCE)


async def test_nobody_replies_before_the_conversation_is_open() -> None:
    with pytest.raises(RuntimeError, match="open the conversation"):
        await LlmUser(FakeModel(["Hello."])).reply("Hi")


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("<think>a\nb</think>\n\nHi", "Hi"),
        ("forgot to open it</think>Hi", "Hi"),
        ("<THINKING>a <think>b</think> c</thinking> Hi", "Hi"),
        ("Hi <think>never closed", "Hi"),
        ("I think so", "I think so"),
    ],
)
def test_reasoning_between_tags_is_left_out(text: str, rest: str) -> None:
    assert without_reasoning(text) == rest


async def test_a_stop_in_the_reasoning_is_none() -> None:
    model = FakeModel([f"<think>Not yet {STOP}.</think>Hello."])
    assert await ReactUser(model).open(INSTRUCTION) == "Hello."


def test_a_user_of_the_strategy_needs_a_model() -> None:
    with pytest.raises(InputError, match="The llm user is played by a language model"):
        strategy.create(UserContext())
    assert isinstance(strategy.create(UserContext(FakeModel(["Hi"]), seed=1)), LlmUser)


LABELS = ["Thought:", "User Response:", "Reflection:", "Verdict: reject", "Verdict: accept"]
PIECES = st.sampled_from([*LABELS, STOP, "<think>", "</think>", "\n", "\n\n", " ", "**", "hello"])
ANSWERS = st.one_of(
    st.lists(st.one_of(PIECES, st.text(max_size=5)), max_size=8).map("".join),
    st.sampled_from([{"content": None}, {"content": [{"type": "text"}]}, {"role": "assistant"}]),
    st.just(Completion(message={"role": "assistant", "content": None, "tool_calls": [{}]})),
    st.sampled_from([ModelUnavailable("gone"), ContextWindowExceeded("long")]),
)


@given(
    st.sampled_from([LlmUser, ReactUser, VerifyUser, ReflectionUser]),
    st.lists(ANSWERS, min_size=1, max_size=6),
)
def test_a_user_says_something_or_its_model_is_at_fault(
    kind: type[LlmUser], answers: list[Completion | ChatMessage | str | Exception]
) -> None:
    async def converse() -> list[str]:
        user = kind(FakeModel(answers))
        return [await user.open("x"), await user.reply("y"), await user.reply("")]

    try:
        messages = anyio.run(converse)
    except ModelError:
        return
    assert all(message.strip() for message in messages)


async def test_a_user_goes_on_with_what_was_said_before_the_task() -> None:
    past = [
        {"role": "assistant", "content": "Note the meeting, please."},
        {"role": "user", "content": "It is noted."},
    ]
    model = FakeModel(["It is over.", "Thanks."])
    user = LlmUser(model, past=past)
    await user.open(INSTRUCTION)
    await user.reply("Good.")
    assert model.requests[0].messages[1:] == past
    said = [message["content"] for message in model.requests[1].messages[1:]]
    assert said == ["Note the meeting, please.", "It is noted.", "It is over.", "Good."]
    again = LlmUser(model, past=past)
    again.take_over(INSTRUCTION, "It is over.", [])
    assert [message["content"] for message in again._conversation[1:]] == said[:3]  # pyright: ignore[reportPrivateUsage]
