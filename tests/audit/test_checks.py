"""Each check on what is a fault, and on what looks like one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.audit import KINDS, findings_of, talk_of_messages
from tests.audit.talking import called, kinds, said, talk

MIA = "You are mia_kim_4397. You want to cancel reservation H9ZU1C of May 20."
STOP = "###STOP###"


@pytest.mark.parametrize(
    ("instruction", "reply", "found"),
    [
        (MIA, "It is mia_kim_4397, reservation H9ZU1C.", []),
        (MIA, "My name is Mia Kim.", []),
        (MIA, "My email is mia@example.com.", ["invented_fact"]),
        (MIA, "The flight is on 2024-05-20.", []),
        (MIA, "The flight is on May 20th, so 5/20.", []),
        (MIA, "The flight is on June 3.", ["invented_fact"]),
        (MIA, "Rather the next day, May 21.", ["invented_fact"]),
        (f"{MIA} You prefer the next day.", "Rather the next day, May 21.", []),
        (MIA, "My other one is K7XLM2.", ["invented_fact"]),
        (MIA, "I live at 12 Elm Street.", ["invented_fact"]),
        (MIA, "It cost me $420.", ["invented_fact"]),
        (MIA, "I need a laptop with 512GB and a 27-inch screen, 100 % sure.", []),
        ("You have #W1234567.", "It's W1234567.", []),
        ("You have 1234567.", "I forgot the letter: W1234567.", []),
        ("Your card is credit_card_4421486.", "The one ending in 1486.", []),
    ],
)
def test_facts_that_nobody_gave(instruction: str, reply: str, found: list[str]) -> None:
    assert kinds(instruction, "Hi", called("ok"), said("Tell me more.", reply)) == found


def test_what_was_heard_or_looked_up_is_not_invented() -> None:
    steps = [
        called('{"total": 219.5, "user": "zoe@example.com"}'),
        said("I see K7XLM2, due on June 3. It costs $120 and $30.", "K7XLM2 of June 3, so $150."),
        said("Your mail?", "Then zoe@example.com, and $219.50."),
    ]
    assert kinds(MIA, "Hi", *steps) == []
    late = [said("Your mail?", "zoe@example.com"), called('"zoe@example.com"'), said("Ok.", "Fine")]
    assert kinds(MIA, "Hi", *late) == ["invented_fact"]


def test_a_fact_is_told_once_and_with_its_evidence() -> None:
    steps = [said("Mail?", "It is z@example.com."), said("Really?", "Yes, z@example.com.")]
    (found,) = findings_of(talk(MIA, "Hi", called("ok"), *steps))
    assert (found.kind, found.turn, found.source) == ("invented_fact", 2, "check")
    assert "z@example.com" in found.sentence
    assert found.words == "It is z@example.com."


SECRET = "You live at 5 Oak Road. You do not want to reveal your address."


@pytest.mark.parametrize(
    ("instruction", "reply", "found"),
    [
        (SECRET, "I live at 5 Oak Road.", ["gave_away"]),
        (SECRET, "I'd rather not say where I live.", []),
        ("You live at 5 Oak Road.", "I live at 5 Oak Road.", []),
        ("Do not mention that you lost your job.", "I lost my job.", ["gave_away"]),
        ("Do not mention that you lost your job.", "I'd rather not say.", []),
        ("You are private and do not want to reveal much about yourself.", "I am Zoe.", []),
        ("You prefer not to give your birthday. Bring Kevin, DOB 2001-04-12.",
         "Add Kevin, born April 12, 2001.", []),
        ("You do not know your address, but do not reveal that you don't know it.", "Hm.", []),
    ],
)  # fmt: skip
def test_what_is_held_back(instruction: str, reply: str, found: list[str]) -> None:
    assert kinds(instruction, "Hi", called("ok"), said("Where?", reply)) == found


def test_some_things_are_held_back_until_they_are_asked_for() -> None:
    rule = "You have a gold membership. Do not mention the gold membership unless you are asked."
    reply = "I have a gold membership."
    assert kinds(rule, "Hi", called("ok"), said("One moment.", reply)) == ["gave_away"]
    assert kinds(rule, "Hi", called("ok"), said("Any membership?", reply)) == []


@pytest.mark.parametrize(
    ("instruction", "replies", "found"),
    [
        ("Zip 12345, or 54321.", ["My zip code is 12345.", "My zip code is 54321."],
         ["contradicted_itself"]),
        ("Zip 12345.", ["My zip code is 12345.", "My zip code is 12345."], []),
        ("Zip 12345, new zip 54321.", ["My zip code is 12345.", "My new zip code is 54321."], []),
        ("Order #W1234567.", ["I don't have the order number.", "It is #W1234567."],
         ["denied_fact", "contradicted_itself"]),
        ("You forgot which order.", ["I don't have the order number.", "Hm."], []),
        ("You want to cancel it.", ["Please cancel the order.", "I never asked you to cancel it!"],
         ["contradicted_itself"]),
        ("You want to cancel it.", ["Please cancel the order.", "I never asked for that."], []),
    ],
)  # fmt: skip
def test_contradictions(instruction: str, replies: list[str], found: list[str]) -> None:
    questions = ("What is it?", "Are you sure? Tell me again.")
    steps = [said(one, reply) for one, reply in zip(questions, replies, strict=True)]
    assert kinds(instruction, "Hi", called("ok"), *steps) == found


def test_what_the_agent_found_contradicts_nobody() -> None:
    steps = [said("Number?", "I don't have the order number."), said("#W1234567?", "#W1234567.")]
    assert kinds("You forgot the order number.", "Hi", called("ok"), *steps) == []


@pytest.mark.parametrize(
    ("instruction", "reply", "found"),
    [
        (MIA, "I don't remember my user ID.", ["denied_fact"]),
        (f"{MIA} You do not remember your user id.", "I don't remember my user ID.", []),
        (f"{MIA} You are a private person.", "I don't have my user ID.", []),
        ("You want to know about flight HAT045.", "I don't have the reservation ID.", []),
        ("You have two emails: a@x.com and b@x.com.", "I don't remember my email.", []),
    ],
)
def test_denials(instruction: str, reply: str, found: list[str]) -> None:
    assert kinds(instruction, "Hi", called("ok"), said("Who are you?", reply)) == found


@pytest.mark.parametrize(
    ("steps", "found"),
    [
        ([said("Hello! What is it?", STOP)], ["ended_too_early"]),
        ([said("Your user id?", STOP)], ["ended_too_early"]),
        ([called("ok"), said("All is done. Anything else?", STOP)], []),
        ([called("ok"), said("All is done. Anything else?", f"No, thanks. {STOP}")], []),
        ([called("ok"), said("Shall I cancel it?", STOP)], ["ended_too_early"]),
        ([called("ok"), said("Shall I cancel it?", f"Yes, please. {STOP}")], ["ended_too_early"]),
        ([called("ok"), said("Shall I cancel it?", f"No, thanks. {STOP}")], []),
        ([called("ok"), said("One moment, I'll check.", f"Thanks! {STOP}")], ["ended_too_early"]),
        ([called("ok"), said("You are being transferred.", "###TRANSFER###")], []),
        ([said("Press the switch.", f"Done. {STOP}", ("press", "ok", True))], []),
    ],
)
def test_early_ends(steps: list[dict[str, Any]], found: list[str]) -> None:
    assert kinds("You are mia_kim_4397 and want the switch pressed.", "Hi", *steps) == found


def test_who_gave_all_that_they_have_may_leave() -> None:
    steps = [
        said("Your user id and reservation number?", "mia_kim_4397. I don't have the number."),
        said("I need the reservation number.", f"Then I'll look for it. {STOP}"),
    ]
    assert kinds("You are mia_kim_4397. You don't recall the booking.", "Hi", *steps) == []
    held_back = [
        said("Your user id and reservation number?", "I can't find the number."),
        said("I need the reservation number.", f"Then I'll look for it. {STOP}"),
    ]
    assert kinds("You are mia_kim_4397.", "Hi", *held_back) == ["ended_too_early"]


def test_nobody_ends_too_early_where_there_is_nothing_to_do() -> None:
    task: dict[str, Any] = {"instruction": MIA, "actions": []}
    assert kinds(MIA, "Hi", said("Hello! What is it?", STOP), task=task) == []


@pytest.mark.parametrize(
    ("instruction", "heard", "reply", "found"),
    [
        ("You do not want insurance.", "Do you want insurance?", "Yes, please.",
         ["against_instruction"]),
        ("You do not want insurance.", "Do you want insurance?", "No, thank you.", []),
        ("You do not want insurance.", "Noted.", "Please add insurance.", ["against_instruction"]),
        ("If it costs more than $5, you do not want insurance.", "Insurance?", "Yes, please.", []),
        ("You want to cancel the trip.", "Shall I cancel the trip?", "No.",
         ["against_instruction"]),
        ("You want to cancel the trip. If the agent asks for confirmation, do not say yes.",
         "Shall I cancel the trip?", "No.", []),
        ("Under no circumstances you want to be transferred.", "Shall I transfer you?",
         "Yes, transfer me.", ["against_instruction"]),
        ("Under no circumstances you want to be transferred.", "Shall I transfer you?",
         "No, I don't want to be transferred.", []),
    ],
)  # fmt: skip
def test_consent(instruction: str, heard: str, reply: str, found: list[str]) -> None:
    assert kinds(instruction, "Hi", called("ok"), said(heard, reply)) == found


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("How can I help you today?", ["spoke_as_agent"]),
        ("Your order has been cancelled.", ["spoke_as_agent"]),
        ("Please provide your order number.", ["spoke_as_agent"]),
        ('You wrote: "Your order has been cancelled." Is that so?', []),
        ("Thank you for your patience.", []),
        ("Is there anything else I can do to get a refund?", []),
        ("Please cancel my order.", []),
    ],
)
def test_speaking_as_the_agent(reply: str, found: list[str]) -> None:
    assert kinds("You want to cancel.", "Hi", called("ok"), said("I see.", reply)) == found


LONG = "I would like to know how long it takes and what it costs."


@pytest.mark.parametrize(
    ("instruction", "steps", "found"),
    [
        ("Ask.", [said("It costs $5.", LONG), said("Two days.", LONG)], ["repeated_itself"]),
        ("Ask. Be insistent: insist on it.", [said("$5.", LONG), said("2 days.", LONG)], []),
        ("Ask.", [said("Again, please.", LONG), said("Again, please.", LONG)], []),
        ("Ask.", [said("Shall I?", "Yes."), said("Really?", "Yes.")], []),
        ("Zip 12345.",
         [said("Your zip?", "My zip code is 12345."), said("Sorry, the zip code again?",
                                                           "My zip code is 12345.")], []),
        ("Ask.", [said("A.", LONG), said("B?", "Go on, I wait."), said("C.", LONG),
                  said("D?", "Go on then, I still wait."), said("E.", LONG)], ["repeated_itself"]),
    ],
)  # fmt: skip
def test_repetitions(instruction: str, steps: list[dict[str, Any]], found: list[str]) -> None:
    assert kinds(instruction, "Hi", called("ok"), *steps) == found


@pytest.mark.parametrize(
    ("replies", "found"),
    [
        (["The weather is awful here.", "Somebody is at my door."], ["never_answered"]),
        (["The weather is awful here.", "12345"], []),
        (["The weather is awful here.", "I don't know it."], ["denied_fact"]),
        (["The weather is awful here.", "Why do you ask?"], []),
    ],
)
def test_questions_that_are_never_answered(replies: list[str], found: list[str]) -> None:
    steps = [said("Your zip code, please?", replies[0]), said("What is your zip code?", replies[1])]
    assert kinds("Zip 12345.", "Hi", called("ok"), *steps) == found


RESET = ("reset_settings", "done", True)


@pytest.mark.parametrize(
    ("instruction", "steps", "found"),
    [
        ("Help.", [said("Look at the screen.", "It is on.", RESET)], ["misused_tools"]),
        ("Help.", [said("Reset the settings.", "I did.", RESET)], []),
        ("You must not reset the settings.", [said("Reset the settings.", "I did.", RESET)],
         ["misused_tools"]),
        ("Help.", [said("Look at it.", "It is on.", ("check_screen", "on", False))], []),
        ("Help.", [said("Please reboot it.", "I rebooted the phone."),
                   said("Again, please reboot it.", "It hums.", ("reboot_phone", "ok", True))],
         ["misused_tools"]),
        # What the agent offers to do itself asks nothing of the user.
        ("Help.", [said("Shall I reset the settings from here?", "Yes.", RESET)],
         ["misused_tools"]),
        ("Help.", [said("Would you update the radio?", "It is on.", ("reset_radio", "", True))],
         ["misused_tools"]),
        ("Help.", [said("The radio is old. I suggest that you update it.", "I did.",
                        ("update_radio", "", True))], []),
        ("Help.", [said("Turn it off and on again.", "I did.", ("restart_radio", "", True))], []),
        ("The radio must not be reset.",
         [said("Please reset the radio.", "I did.", ("reset_radio", "", True))],
         ["misused_tools"]),
        ("Help.", [said("Please wind the clock.", "I wound it, no change."),
                   said("Again, wind the clock.", "It ticks.", ("wind_clock", "", True))],
         ["misused_tools"]),
        ("Help.", [said("Would you restart it?", "I would prefer to wait."),
                   said("Please restart it.", "It hums.", ("restart_radio", "", True))], []),
    ],
)  # fmt: skip
def test_tools_of_the_user(instruction: str, steps: list[dict[str, Any]], found: list[str]) -> None:
    assert kinds(instruction, "Hi", called("ok"), *steps) == found


def test_odd_messages() -> None:
    found = findings_of(talk("Ask.", "Hi", called("ok"), said("A.", " "), said("B.", f"Ok {STOP}")))
    assert [(one.kind, one.turn) for one in found] == [
        ("empty_message", 2),
        ("stop_inside_sentence", 3),
    ]
    assert [one.is_fault for one in found] == [True, False]


def test_a_scripted_user_that_recites_its_instruction_is_none_to_audit() -> None:
    assert kinds(SECRET, SECRET, called("ok"), said("Done.", STOP)) == []


def test_structured_instructions_say_what_is_not_known() -> None:
    text = (
        "Instructions:\n\tDomain: retail\n\tKnown info:\n\t\tYour email is a@x.com.\n"
        "\tUnknown info:\n\t\tYou do not remember your email address.\n"
    )
    steps = [called("ok"), said("Mail?", "I don't remember my email address.")]
    assert kinds(text, "Hi", *steps) == []
    assert talk(text, "Hi").instruction.known == "Your email is a@x.com."


def test_chat_messages_of_an_evaluation() -> None:
    messages = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Your mail?"},
        {"role": "user", "content": [{"type": "text", "text": "z@example.com"}]},
    ]
    (found,) = findings_of(talk_of_messages("Ask for a refund.", messages))
    assert (found.kind, found.turn) == ("invented_fact", 2)


@given(st.text(max_size=300), st.lists(st.tuples(st.text(max_size=200), st.text(max_size=200))))
def test_any_text_is_read(instruction: str, exchanges: list[tuple[str, str]]) -> None:
    steps = [said(heard, reply) for heard, reply in exchanges]
    found = findings_of(talk(instruction, "Hi", *steps))
    assert all(1 <= one.turn <= len(exchanges) + 1 and one.kind in KINDS for one in found)
    assert [one.turn for one in found] == sorted(one.turn for one in found)


@pytest.mark.parametrize(
    "text", ["a" * 50_000, "a_" * 25_000, "1," * 25_000, "do not tell " * 4_000]
)
def test_long_texts_are_read_in_a_moment(text: str) -> None:
    """Patterns that went back and forth in them would take minutes."""
    assert isinstance(kinds(text, text[:-1], called(text), said(text, text)), list)


@pytest.mark.parametrize(
    ("instruction", "steps", "found"),
    [
        # Any "... number" is a thing that can be denied.
        ("Your locker number is 88213.",
         [said("Your locker number?", "I've no idea what my locker number is.")], ["denied_fact"]),
        ("Your locker number is 88213.",
         [said("Your locker number?", "I don't have it here, let me look."),
          said("Sure.", "88213.")], []),
        # What was lacked and is spoken of as one's own.
        ("Pay it.", [said("By card?", "I don't have a gift card."),
                     said("Cash then?", "Then use my gift card.")], ["contradicted_itself"]),
        # What is held back stands in the sentence before.
        ("Your cousin scratched it. Hide this from the agent.",
         [said("How come?", "My cousin scratched it.")], ["gave_away"]),
        ("You are a pilot. Bring it up only when the agent asks about your job.",
         [said("What is your job?", "I am a pilot.")], []),
        # An offer of what the instruction refuses, and what follows it.
        ("A courier is not acceptable to you.",
         [said("Would a courier do?", "A courier would do.")], ["against_instruction"]),
        ("A courier is not acceptable to you.",
         [said("Would a courier do?", "A courier doesn't help me.")], []),
        ("A courier is not acceptable to you.",
         [said("It comes by courier. Is that okay?", "Yes, that's okay.")],
         ["against_instruction"]),
        ("Do not agree to share your income.",
         [said("Would you share your income?", "I agree to share my income.")],
         ["against_instruction"]),
        ("You're fine with a small fee.",
         [said("There is a small fee.", "I won't pay a fee.")], ["against_instruction"]),
        # Whose office is private is not private; May is a month.
        ("You want a private office. Your locker number is 88213.",
         [said("Your locker number?", "I don't know my locker number.")], ["denied_fact"]),
        ("Your date of birth is May 3, 1980.",
         [said("Your date of birth?", "I don't know my date of birth.")], ["denied_fact"]),
        ("Your locker number is 88213.",
         [said("Do you know your locker number?", "No, I don't.")], ["denied_fact"]),
        ("Your locker number is 88213. You can't recall it.",
         [said("Your locker number?", "I don't know it.")], []),
        # What is held back has a value: others are none.
        ("You are mia_kim_4397. Your account number is 882134. Don't tell the account number.",
         [said("Who are you?", "I am mia_kim_4397.")], []),
        # "Your" with what customers have.
        ("Ask.", [said("Noted.", "I've updated your membership.")], ["spoke_as_agent"]),
        ("Ask.", [said("Noted.", "I've read your policy on your website.")], []),
    ],
)  # fmt: skip
def test_other_names_and_words(
    instruction: str, steps: list[dict[str, Any]], found: list[str]
) -> None:
    assert kinds(instruction, "Hi", called("ok"), *steps) == found


@pytest.mark.parametrize(
    "closing",
    ["It is done. Will that be all?", "Done, and you are welcome. Can I do more for you?",
     "All set. Is there something else on your mind?"],
)  # fmt: skip
def test_offers_of_more_help_are_no_open_questions(closing: str) -> None:
    assert kinds("Ask.", "Hi", called("ok"), said(closing, STOP)) == []
