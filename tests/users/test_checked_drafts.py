"""Verify and reflection users put their drafts through the audit's checks before a review."""

from __future__ import annotations

import json
from typing import Any

import pytest

from greenroom.domains import Environment, respond
from greenroom.domains.tasks import STOP
from greenroom.models import ChatMessage, FakeModel
from greenroom.options import stored_settings
from greenroom.users import UserContext, find_user_strategy, prompts
from greenroom.users.drafts import DraftSettings, faults_of_draft
from greenroom.users.llm import ReflectionUser, VerifyUser
from tests.domains.thermostats import thermostats

pytestmark = pytest.mark.anyio

INSTRUCTION = (
    "You are Ada Byron. You want to return the lamp of order #W1234567. "
    "Do not reveal your zip code 60601. You do not want store credit."
)
INVENTED = "Hi, it's about order #W7654321."
GOOD = "Hi, I have a lamp to send back."
ACCEPTED = "Reason: fine\nVerdict: accept"
REJECTED = "Reason: Too blunt.\nVerdict: reject"
KINDS: Any = pytest.mark.parametrize("kind", [VerifyUser, ReflectionUser])


def heard(text: str) -> ChatMessage:
    return {"role": "user", "content": text}


def said(text: str) -> ChatMessage:
    return {"role": "assistant", "content": text}


OPENED = [{"role": "system", "content": prompts.part(INSTRUCTION)}, heard(prompts.AGENT_GREETING)]


def sent(model: FakeModel) -> list[list[ChatMessage]]:
    return [request.messages for request in model.requests]


@KINDS
async def test_a_draft_that_fails_is_written_anew_before_anybody_reviews_it(
    kind: type[VerifyUser],
) -> None:
    model = FakeModel([INVENTED, GOOD, ACCEPTED, "It hums.", ACCEPTED])
    user = kind(model)
    assert await user.open(INSTRUCTION) == GOOD
    (fault,) = faults_of_draft(INSTRUCTION, OPENED, INVENTED)
    assert "#W7654321" in fault.sentence
    ask = prompts.another_draft if kind is VerifyUser else prompts.reflection
    assert sent(model) == [
        OPENED,
        prompts.with_direction(OPENED, ask(INVENTED, fault.sentence)),
        prompts.review(INSTRUCTION, OPENED, GOOD),
    ]
    # The draft is forgotten.
    assert await user.reply("What is wrong with it?") == "It hums."
    assert sent(model)[3] == [*OPENED, said(GOOD), heard("What is wrong with it?")]
    assert user.tallies == {"drafts": {"checked": 3}, "drafts written anew": {"invented_fact": 1}}


@KINDS
async def test_a_model_that_never_corrects_itself_is_sent_as_it_is(kind: type[VerifyUser]) -> None:
    drafts = [f"Order #W{number}000000." for number in (7, 8, 9)]
    model = FakeModel([*drafts, GOOD, ACCEPTED])
    user = kind(model)
    assert await user.open(INSTRUCTION) == drafts[2]
    assert len(model.requests) == 3
    await user.reply("Yes?")
    assert user.tallies == {
        "drafts": {"checked": 4},
        "drafts written anew": {"invented_fact": 2},
        "messages sent with a fault": {"invented_fact": 1},
    }


@KINDS
async def test_what_was_sent_in_spite_of_a_check_is_not_held_against_what_follows(
    kind: type[VerifyUser],
) -> None:
    model = FakeModel([INVENTED, INVENTED, INVENTED, "Yes: the lamp of #W7654321.", ACCEPTED])
    user = kind(model)
    await user.open(INSTRUCTION)
    assert await user.reply("Order #W1?") == "Yes: the lamp of #W7654321."
    assert len(model.requests) == 5


@KINDS
async def test_without_a_finding_nothing_more_is_asked(kind: type[VerifyUser]) -> None:
    model = FakeModel([GOOD, ACCEPTED])
    user = kind(model)
    assert await user.open(INSTRUCTION) == GOOD
    assert len(model.requests) == 2
    assert user.tallies == {"drafts": {"checked": 1}}


@KINDS
async def test_checks_and_reviews_share_the_drafts(kind: type[VerifyUser]) -> None:
    model = FakeModel(["Lamp. Back.", REJECTED, INVENTED, GOOD])
    user = kind(model)
    assert await user.open(INSTRUCTION) == GOOD
    assert len(model.requests) == 4
    assert user.tallies == {"drafts": {"checked": 3}, "drafts written anew": {"invented_fact": 1}}


@pytest.mark.parametrize("name", ["verify", "reflection"])
async def test_checks_can_be_left_out(name: str) -> None:
    strategy = find_user_strategy(name)
    settings = strategy.check({"checks": "false"})
    model = FakeModel([INVENTED, ACCEPTED])
    user: Any = strategy.create(UserContext(model, settings=settings))
    assert await user.open(INSTRUCTION) == INVENTED
    assert user.tallies == {}
    assert stored_settings(settings) == {"checks": False}


@KINDS
async def test_who_is_forgetful_by_persona_may_be(kind: type[VerifyUser]) -> None:
    lost = "I don't have my order number at hand."
    for persona, kept in (("forgetful", lost), (None, "It is #W1234567.")):
        model = FakeModel([GOOD, ACCEPTED, lost, ACCEPTED if persona else kept, ACCEPTED])
        user = kind(model, persona=persona)
        await user.open(INSTRUCTION)
        assert await user.reply("What is your order number?") == kept


def test_a_run_tells_that_its_users_were_checked() -> None:
    assert stored_settings(find_user_strategy("verify").check({})) == {"checks": True}
    assert stored_settings(DraftSettings(checks=False)) == {"checks": False}


@KINDS
async def test_a_user_that_takes_over_knows_what_was_said(kind: type[VerifyUser]) -> None:
    model = FakeModel(["It is #W5550001.", ACCEPTED, "Or #W5550002.", "Thanks.", ACCEPTED])
    user = kind(model)
    # A message of the past has a fault of its own.
    user.take_over(INSTRUCTION, INVENTED, [("I see #W5550001 and #W5550003.", "One of these.")])
    assert await user.reply("Which one?") == "It is #W5550001."
    assert await user.reply("Really?") == "Thanks."
    assert len(model.requests) == 5
    assert user.tallies["drafts written anew"] == {"invented_fact": 1}


def call(name: str, **arguments: Any) -> ChatMessage:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"role": "assistant", "content": None, "tool_calls": [{"function": function}]}


@KINDS
async def test_what_a_users_own_tool_shows_is_known(kind: type[VerifyUser]) -> None:
    looked = [call("read_display"), "It shows 4711.", ACCEPTED]
    model = FakeModel(["My heating is off.", ACCEPTED, *looked])
    user = kind(model)
    environment = Environment(thermostats(), user)
    await environment.reset(0)
    step = await environment.step(respond("What does it show?"))
    assert step.observation == "It shows 4711."
    assert len(model.requests) == 5
    assert user.tallies == {"drafts": {"checked": 2}}


@KINDS
async def test_a_user_may_act_in_place_of_a_draft_that_failed(kind: type[VerifyUser]) -> None:
    guessed = ["It shows 9999.", call("read_display"), "It shows 4711.", ACCEPTED]
    model = FakeModel(["My heating is off.", ACCEPTED, *guessed])
    user = kind(model)
    environment = Environment(thermostats(), user)
    await environment.reset(0)
    step = await environment.step(respond("What does it show?"))
    assert step.observation == "It shows 4711."
    assert [one.action.name for one in step.user_calls] == ["read_display"]
    assert user.tallies["drafts written anew"] == {"invented_fact": 1}


@pytest.mark.parametrize(
    ("talk", "draft", "found"),
    [
        ([], "Hello, how can I help you today?", "spoke_as_agent"),
        ([], "I live in 60601.", "gave_away"),
        ([GOOD, "What is the order number?"], "I don't have my order number.", "denied_fact"),
        ([GOOD, "Would you take store credit?"], "Yes, please.", "against_instruction"),
        (
            ["My phone number is 555-123-4567.", "Could you repeat it?"],
            "My phone number is 555-765-4321.",
            "contradicted_itself",
        ),
        ([GOOD, "A label is on its way to you."], GOOD, "repeated_itself"),
        ([GOOD, "Shall I send you a label for it?"], STOP, "ended_too_early"),
        ([GOOD, "Shall I send you a label for it?"], f"Yes, please! {STOP}", "ended_too_early"),
        ([GOOD, "Your return is all done. Anything else?"], f"No, thanks. {STOP}", None),
        ([GOOD, "I have sent you a label."], STOP, None),
        ([GOOD, "Is #W1234567 your order?"], "Yes, #W1234567.", None),
        ([GOOD, ""], "Are you still there?", None),
    ],
)
def test_what_is_found_before_a_conversation_is_over(
    talk: list[str], draft: str, found: str | None
) -> None:
    conversation = [*OPENED]
    for number, text in enumerate(talk):
        conversation.append(heard(text) if number % 2 else said(text))
    faults = {one.kind for one in faults_of_draft(INSTRUCTION, conversation, draft)}
    if found is None:
        assert faults == set()
    else:
        assert found in faults
