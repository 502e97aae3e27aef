from __future__ import annotations

import pytest

from greenroom.domains.tasks import STOP
from greenroom.models import ChatMessage, FakeModel, ModelUnavailable
from greenroom.users import prompts
from greenroom.users.reflection import ReflectionUser
from greenroom.users.verify import Review, VerifyUser, read_review

pytestmark = pytest.mark.anyio

ACCEPTED = "Reason: fine\nVerdict: accept"
REJECTED = "Reason: You made up a number.\nVerdict: reject"
OPENED: list[ChatMessage] = [
    {"role": "system", "content": prompts.part("x")},
    {"role": "user", "content": prompts.AGENT_GREETING},
]


def sent(model: FakeModel) -> list[list[ChatMessage]]:
    return [request.messages for request in model.requests]


@pytest.mark.parametrize(
    ("text", "review"),
    [
        (ACCEPTED, Review(accepted=True, reason="fine")),
        (REJECTED, Review(accepted=False, reason="You made up a number")),
        ("**Reason:** no\n**Verdict:** **Rejected**", Review(accepted=False, reason="no")),
        (
            "verdict: reject? No.\nVERDICT: ACCEPT",
            Review(accepted=True, reason="verdict: reject? No"),
        ),
        ("Verdict: reject.\n\nReason: no", Review(accepted=False, reason="no")),
        ("Verdict: reject", Review(accepted=False, reason="It does not fit the part.")),
        ("I cannot say.", Review(accepted=True, reason="I cannot say.")),
        ("", Review(accepted=True, reason="")),
    ],
)
def test_reading_a_review(text: str, review: Review) -> None:
    assert read_review(text) == review


@pytest.mark.parametrize("kind", [VerifyUser, ReflectionUser])
async def test_an_accepted_draft_is_sent(kind: type[VerifyUser]) -> None:
    model = FakeModel(["Hello.", ACCEPTED, "Number 7.", ACCEPTED])
    user = kind(model, seed=2)
    assert await user.open("x") == "Hello."
    assert await user.reply("Which one?") == "Number 7."
    asked = [
        *OPENED,
        {"role": "assistant", "content": "Hello."},
        {"role": "user", "content": "Which one?"},
    ]
    assert sent(model) == [
        OPENED,
        prompts.review("x", OPENED, "Hello."),
        asked,
        prompts.review("x", asked, "Number 7."),
    ]
    assert {request.seed for request in model.requests} == {2}


def test_the_reviewer_sees_the_instruction_the_chat_and_the_draft() -> None:
    conversation = [*OPENED, {"role": "assistant", "content": "Hello."}]
    system, question = prompts.review("brief", conversation, STOP)
    assert "Verdict: accept or reject" in system["content"]
    assert question == {
        "role": "user",
        "content": "The brief:\nbrief\n\nThe chat so far:\n"
        f"Agent: {prompts.AGENT_GREETING}\nCustomer: Hello.\n\nThe draft:\n{STOP}",
    }


async def test_a_rejected_draft_is_replaced_and_forgotten() -> None:
    model = FakeModel(["Order 99!", REJECTED, "An order.", ACCEPTED, "Bye.", ACCEPTED])
    user = VerifyUser(model)
    assert await user.open("x") == "An order."
    assert sent(model)[2] == prompts.with_direction(OPENED, prompts.another_draft("Order 99!"))
    assert sent(model)[3] == prompts.review("x", OPENED, "An order.")
    await user.reply("Yes?")
    assert sent(model)[4] == [
        *OPENED,
        {"role": "assistant", "content": "An order."},
        {"role": "user", "content": "Yes?"},
    ]


@pytest.mark.parametrize("kind", [VerifyUser, ReflectionUser])
async def test_the_third_draft_is_sent_without_a_review(kind: type[VerifyUser]) -> None:
    model = FakeModel(["one", REJECTED, "two", REJECTED, "three", REJECTED])
    assert await kind(model).open("x") == "three"
    assert len(model.requests) == 5


async def test_a_reflection_helps_with_the_next_draft_and_stays_private() -> None:
    better = f"Reflection: I must not say {STOP} or a number.\nUser Response: An order."
    model = FakeModel(["Order 99!", REJECTED, better, ACCEPTED, "Bye.", ACCEPTED])
    user = ReflectionUser(model)
    assert await user.open("x") == "An order."
    direction = prompts.reflection("Order 99!", "You made up a number")
    assert sent(model)[2] == prompts.with_direction(OPENED, direction)
    assert sent(model)[3] == prompts.review("x", OPENED, "An order.")
    await user.reply("Yes?")
    assert sent(model)[4][2] == {"role": "assistant", "content": "An order."}


async def test_a_reflection_without_a_message_is_asked_for_again() -> None:
    model = FakeModel(["Order 99!", REJECTED, "Reflection: hm", "User Response: Hi", ACCEPTED])
    assert await ReflectionUser(model).open("x") == "Hi"
    with pytest.raises(ModelUnavailable):
        await ReflectionUser(FakeModel(["a", REJECTED, "Reflection: hm"])).open("x")


async def test_an_error_of_the_reviewer_passes_through() -> None:
    with pytest.raises(ModelUnavailable, match="gone"):
        await VerifyUser(FakeModel(["Hello.", ModelUnavailable("gone")])).open("x")
