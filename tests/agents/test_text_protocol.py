from __future__ import annotations

import json

import pytest

from greenroom.agents.conversation import NOTICE
from greenroom.agents.text_protocol import act, react
from greenroom.domains.tasks import STOP, Action, respond
from greenroom.users import ScriptedUser
from tests.agents.test_tool_calling import LIT, Answer, Played, written
from tests.domains.small import small_domain

pytestmark = pytest.mark.anyio

LIGHT = Action("light", {"lamp": "hall"})


async def test_the_messages_of_an_episode() -> None:
    ask, light, done = (
        written(react, action) for action in (respond("Shall I?"), LIGHT, respond("Done."))
    )
    played = await Played(react, [ask, light, done], user=ScriptedUser(["Yes."])).play()
    assert played.messages[1:] == [
        {"role": "user", "content": "Light the hall."},
        ask,
        {"role": "user", "content": "Yes."},
        light,
        {"role": "user", "content": f"API output: {LIT}"},
        done,
        {"role": "user", "content": STOP},
    ]
    assert played.reward == 1.0
    requests = played.model.requests
    assert [len(request.messages) for request in requests] == [2, 4, 6]
    assert requests[2].messages == played.messages[:6]
    assert {request.seed for request in requests} == {77}
    assert all(request.tools is request.response_format is None for request in requests)


async def test_the_system_message_has_the_policy_the_tools_and_the_form() -> None:
    systems = {
        strategy.name: (await Played(strategy, ["Hello."]).play()).messages[0]
        for strategy in (act, react)
    }
    tools = json.dumps(small_domain().tool_infos, ensure_ascii=False)
    for message in systems.values():
        assert message["role"] == "system"
        assert message["content"].startswith("Ask first.\n")
        assert tools in message["content"]
        assert 'Action:\n{"name": "NAME", "arguments": {}}' in message["content"]
        assert '{"name": "respond", "arguments": {"content": "WORDS"}}' in message["content"]
    assert "Thought:\n" in systems["react"]["content"]
    assert "Thought" not in systems["act"]["content"]


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("Hello there.", respond("Hello there.")),
        ("  Thought:\nI greet.\nHello. ", respond("Thought:\nI greet.\nHello.")),
        ('{"name": "light", "arguments": {"lamp": "hall"}}', LIGHT),
        ('Action: {"name": "light", "arguments": {"lamp": "hall"}}', LIGHT),
        ('Action: none. Action:\n{"name": "light", "arguments": {"lamp": "hall"}}\n', LIGHT),
        ('{"name": "light"}', respond('{"name": "light"}')),
        ("42", respond("42")),
        (
            'Action:\n{"name": "respond", "arguments": {"content": "Next Action: wait"}}',
            respond("Next Action: wait"),
        ),
        (
            '{"name": "respond", "arguments": {"content": "Next Action: wait"}}',
            respond("Next Action: wait"),
        ),
    ],
)
async def test_texts_that_are_understood(text: str, action: Action) -> None:
    played = await Played(react, [text, "Bye."]).play()
    assert played.actions[0] == action
    assert played.messages[2] == {"role": "assistant", "content": text}


@pytest.mark.parametrize(
    ("behind", "why"),
    [
        ("light the hall", "at line 1, column"),
        ('{"name": "light", "arguments": {"lamp": "hall"}', "at line 1, column"),
        ('```json\n{"name": "light", "arguments": {"lamp": "hall"}}\n```', "at line 1, column"),
        ('{"name": "light", "arguments": {}}\nAPI output: lit', "at line 2, column"),
        ("[]", "it is a list"),
        ('{"arguments": {}}', '"name" is missing or is not a text'),
        ('{"name": 5, "arguments": {}}', '"name" is missing or is not a text'),
        ('{"name": "light", "arguments": "hall"}', '"arguments" is missing or is not an object'),
        ('{"name": "light"}', '"arguments" is missing or is not an object'),
        ("[" * 100_000, "depth limit"),
    ],
)
async def test_a_broken_action_is_told_to_the_model_and_not_said_to_the_user(
    behind: str, why: str
) -> None:
    answers: list[Answer] = [f"Action:{behind}", written(act, LIGHT), written(act, respond("Ok."))]
    played = await Played(act, answers).play()
    assert played.actions == [LIGHT, respond("Ok.")]
    assert played.messages[2]["content"] == f"Action:{behind}"
    told = played.messages[3]
    assert told["role"] == "user"
    assert told["content"].startswith(f'{NOTICE}what follows "Action:" is not an action: ')
    assert why in told["content"]


async def test_words_that_say_nothing_are_told() -> None:
    answers: list[Answer] = [written(act, respond(" ")), written(act, respond("Ok."))]
    played = await Played(act, answers).play()
    assert played.messages[3]["content"] == f"{NOTICE}it says nothing to the user."
    assert played.actions == [respond("Ok.")]


async def test_unknown_tools_and_words_without_content_are_steps_like_any_other() -> None:
    silent = 'Action: {"name": "respond", "arguments": {}}'
    played = await Played(act, [written(act, Action("fly")), silent, "Bye."]).play()
    assert [message["content"] for message in played.messages[3:6:2]] == [
        "API output: Unknown action fly",
        "Error: respond needs the argument 'content', a text.",
    ]
    assert len(played.environment.steps) == 3
