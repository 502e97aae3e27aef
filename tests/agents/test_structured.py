from __future__ import annotations

import json

import jsonschema
import pytest

from greenroom.agents.conversation import NOTICE
from greenroom.agents.structured import response_format, strategy
from greenroom.domains.domain import Domain
from greenroom.domains.tasks import STOP, Action, respond
from greenroom.users import ScriptedUser
from tests.agents.test_tool_calling import LIT, Answer, Played, written
from tests.domains.small import small_domain

pytestmark = pytest.mark.anyio

LIGHT = Action("light", {"lamp": "hall"})


async def test_the_messages_of_an_episode() -> None:
    ask, light, done = (
        written(strategy, action) for action in (respond("Shall I?"), LIGHT, respond("Done."))
    )
    played = await Played(strategy, [ask, light, done], user=ScriptedUser(["Yes."])).play()
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
    system = played.messages[0]["content"]
    assert system.startswith("Ask first.\n")
    assert json.dumps(small_domain().tool_infos, ensure_ascii=False) in system
    for request in played.model.requests:
        assert request.response_format == response_format(small_domain().tool_infos)
        assert request.tools is None
        assert request.seed == 77


def test_the_form_of_a_reply() -> None:
    form = response_format(small_domain().tool_infos)
    assert form["type"] == "json_schema"
    schema = form["json_schema"]["schema"]
    assert schema["type"] == "object"
    choices = schema["properties"]["action"]["anyOf"]
    assert [choice["properties"]["name"]["const"] for choice in choices] == [
        "light",
        "transfer_to_human_agents",
        "respond",
    ]
    tool = small_domain().tool_infos[0]["function"]
    assert choices[0]["properties"]["arguments"] == tool["parameters"]


def test_what_the_ground_truth_does_has_that_form(retail: Domain) -> None:
    schema = response_format(retail.tool_infos)["json_schema"]["schema"]
    replies = [
        {"action": {"name": action.name, "arguments": dict(action.kwargs)}}
        for task in retail.tasks()
        for action in [*task.actions, respond("Done.")]
    ]
    jsonschema.validate(replies, {"type": "array", "items": schema})
    for name in ("fly", "respond"):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"action": {"name": name, "arguments": {}}}, schema)


async def test_the_outer_object_may_be_left_out() -> None:
    bare = json.dumps({"name": "light", "arguments": {"lamp": "hall"}})
    played = await Played(strategy, [bare, written(strategy, respond("Done."))]).play()
    assert played.reward == 1.0


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Hello.", "at line 1, column 1"),
        ("[]", "it is a list"),
        ('{"action": "light"}', '"name" is missing'),
        ('{"action": {"name": "light"}}', '"arguments" is missing'),
        ('{"action": {"name": "light", "arguments": {"lamp": "ha', "at line 1"),
    ],
)
async def test_a_reply_that_is_no_action_is_told(text: str, why: str) -> None:
    answers: list[Answer] = [text, written(strategy, LIGHT), written(strategy, respond("Done."))]
    played = await Played(strategy, answers).play()
    assert played.messages[2] == {"role": "assistant", "content": text}
    told = played.messages[3]["content"]
    assert told.startswith(f"{NOTICE}it is not an action: ")
    assert why in told
    assert played.actions == [LIGHT, respond("Done.")]
