"""The tool-calling agent's protocol, and what all agents with a language model have in common."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from greenroom.agents import AgentContext, AgentStrategy, Stage
from greenroom.agents.conversation import NOTICE, ModelAgent
from greenroom.agents.few_shot import strategy as few_shot
from greenroom.agents.oracle import closing_words
from greenroom.agents.structured import strategy as structured
from greenroom.agents.text_protocol import act, react
from greenroom.agents.tool_calling import strategy as tool_calling
from greenroom.agents.tool_calls import NAMELESS
from greenroom.domains.domain import Domain
from greenroom.domains.environment import Environment
from greenroom.domains.tasks import RESPOND, STOP, Action, respond
from greenroom.errors import InputError
from greenroom.messages import Message
from greenroom.models import (
    BudgetExhausted,
    ChatMessage,
    Completion,
    ContentFiltered,
    ContextWindowExceeded,
    FakeModel,
    ModelUnavailable,
)
from greenroom.trajectories import read_conversation
from greenroom.users import ScriptedUser
from tests.domains.small import small_domain

pytestmark = pytest.mark.anyio

STRATEGIES = [act, few_shot, react, structured, tool_calling]
LIT = '{"lit": true, "watts": 5}'
Answer = Completion | ChatMessage | str | Exception


class Played:
    """An episode with a model that gives these answers, after it was played."""

    def __init__(
        self,
        strategy: AgentStrategy,
        answers: list[Answer],
        *,
        user: ScriptedUser | None = None,
        options: Mapping[str, str] | None = None,
        domain: Domain | None = None,
        max_steps: int = 8,
    ) -> None:
        self.model = FakeModel(answers)
        self.environment = Environment(
            domain or small_domain(), user or ScriptedUser(), max_steps=max_steps
        )
        context = AgentContext(0, 0, 1, strategy.check(options), model=self.model, seed=77)
        agent = strategy.create(context)
        assert isinstance(agent, ModelAgent)
        self.agent = agent

    async def play(self, task: int = 0) -> Played:
        await self.environment.reset(task)
        await self.agent.play(Stage(self.environment))
        return self

    @property
    def messages(self) -> list[ChatMessage]:
        return self.agent.messages

    @property
    def actions(self) -> list[Action]:
        return [step.action for step in self.environment.steps]

    @property
    def reward(self) -> float | None:
        return self.environment.reward.value if self.environment.reward else None


def options_of(strategy: AgentStrategy, folder: Path) -> dict[str, str]:
    """The options without which an agent of the strategy cannot be made."""
    if strategy is not few_shot:
        return {}
    path = folder / "examples.jsonl"
    if not path.exists():
        path.write_text("".join(f'{{"messages_display": "Example {n}."}}\n' for n in range(8)))
    return {"few_shot_displays_path": str(path)}


def call(name: str, arguments: Any, call_id: str = "call_a") -> dict[str, Any]:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}


def calling(*calls: dict[str, Any]) -> ChatMessage:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def tool_answer(call_id: str, name: str, content: str) -> ChatMessage:
    return {"role": "tool", "tool_call_id": call_id, "name": name, "content": content}


LIGHT_HALL = call("light", {"lamp": "hall"})
LIGHT_ATTIC = call("light", {"lamp": "attic"}, "call_b")
OPENED: list[ChatMessage] = [
    {"role": "system", "content": "Ask first."},
    {"role": "user", "content": "Light the hall."},
]


async def test_the_messages_of_an_episode() -> None:
    answers: list[Answer] = ["Shall I?", calling(LIGHT_HALL), "Done."]
    played = await Played(tool_calling, answers, user=ScriptedUser(["Yes."])).play()
    assert played.messages == [
        *OPENED,
        {"role": "assistant", "content": "Shall I?"},
        {"role": "user", "content": "Yes."},
        {"role": "assistant", "content": None, "tool_calls": [LIGHT_HALL]},
        tool_answer("call_a", "light", LIT),
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": STOP},
    ]
    assert played.actions == [
        respond("Shall I?"),
        Action("light", {"lamp": "hall"}),
        respond("Done."),
    ]
    assert played.reward == 1.0


async def test_each_request_has_the_messages_so_far_the_tools_and_the_seed() -> None:
    answers: list[Answer] = ["Shall I?", calling(LIGHT_HALL), "Done."]
    played = await Played(tool_calling, answers, user=ScriptedUser(["Yes."])).play()
    requests = played.model.requests
    assert [request.messages for request in requests] == [
        played.messages[:2],
        played.messages[:4],
        played.messages[:6],
    ]
    assert {request.seed for request in requests} == {77}
    assert all(request.tools == small_domain().tool_infos for request in requests)
    assert all(request.response_format is None for request in requests)


async def test_parallel_calls_are_all_made_in_order() -> None:
    played = await Played(tool_calling, [calling(LIGHT_ATTIC, LIGHT_HALL), "Done."]).play()
    assert played.messages[2:5] == [
        calling(LIGHT_ATTIC, LIGHT_HALL),
        tool_answer("call_b", "light", '{"lit": true}'),
        tool_answer("call_a", "light", LIT),
    ]
    assert [action.kwargs.get("lamp") for action in played.actions[:2]] == ["attic", "hall"]


async def test_parallel_calls_are_kept_as_one_message() -> None:
    answers: list[Answer] = [calling(LIGHT_HALL, LIGHT_ATTIC), calling(LIGHT_HALL), "Done."]
    played = await Played(tool_calling, answers).play()
    assert [action.joined for action in played.actions] == [False, True, False, False]


async def test_as_tau_bench_only_the_first_of_parallel_calls_is_made_and_recorded() -> None:
    answers: list[Answer] = [calling(LIGHT_HALL, LIGHT_ATTIC), "Done."]
    played = await Played(tool_calling, answers, options={"tau_compatible": "1"}).play()
    assert played.messages[2:4] == [calling(LIGHT_HALL), tool_answer("call_a", "light", LIT)]
    assert [action.name for action in played.actions] == ["light", RESPOND]
    assert played.reward == 1.0


async def test_calls_behind_the_one_that_ends_the_episode_are_answered_but_not_made() -> None:
    handover = call("transfer_to_human_agents", {"summary": "s"}, "call_t")
    played = await Played(tool_calling, [calling(handover, LIGHT_HALL)]).play()
    assert [action.name for action in played.actions] == ["transfer_to_human_agents"]
    assert played.messages[-1] == tool_answer(
        "call_a", "light", "This call was not made: the conversation was already over."
    )
    assert played.environment.done


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ('{"lamp": ', "at line 1, column"),
        ('["hall"]', "it is a list"),
        ("null", "it is null"),
        ('{"lamp": "\\ud83d"}', "surrogate"),
        ('{"lamp": NaN}', "unexpected character"),
        ('{"lamp": 1e999}', "infinity"),
        (f'{{"lamp": {"[" * 80}{"]" * 80}}}', "nested more than 64 levels deep"),
        ("[" * 100_000, "depth limit"),
    ],
)
async def test_arguments_that_are_no_object_are_told_and_no_step_is_made(
    arguments: str, why: str
) -> None:
    broken = call("light", arguments, "call_x")
    played = await Played(tool_calling, [calling(broken), calling(LIGHT_HALL), "Done."]).play()
    told = played.messages[3]
    assert told["tool_call_id"] == "call_x"
    assert told["content"].startswith("Error: the arguments are not a JSON object: ")
    assert why in told["content"]
    assert [action.name for action in played.actions] == ["light", RESPOND]
    assert played.reward == 1.0


async def test_the_good_calls_beside_a_broken_one_are_made() -> None:
    broken = call("light", "hall", "call_x")
    played = await Played(tool_calling, [calling(broken, LIGHT_HALL), "Done."]).play()
    assert [message["role"] for message in played.messages[3:5]] == ["tool", "tool"]
    assert played.reward == 1.0


WRITTEN = 'Let me see.\n```json\n{"name": "light", "arguments": {"lamp": "hall"}}\n```'


async def test_a_call_written_as_text_is_said_to_the_user() -> None:
    played = await Played(tool_calling, [WRITTEN]).play()
    assert played.actions == [respond(WRITTEN)]
    assert played.reward == 0.0


@pytest.mark.parametrize(
    "text", [WRITTEN, '<tool_call>{"name": "light", "parameters": {"lamp": "hall"}}</tool_call>']
)
async def test_a_call_written_as_text_is_made_if_that_is_wanted(text: str) -> None:
    options = {"execute_text_calls": "1"}
    played = await Played(tool_calling, [text, "Done."], options=options).play()
    assert played.actions == [Action("light", {"lamp": "hall"}), respond("Done.")]
    assert played.reward == 1.0
    other = '{"name": "somebody", "arguments": {}}'
    said = await Played(tool_calling, [other, "Done."], options=options).play()
    assert said.actions == [respond(other)]


async def test_calls_as_simple_servers_send_them() -> None:
    function = {"name": "light", "arguments": {"lamp": "hall"}}
    odd: list[Any] = [
        {"function": function, "index": 0},
        {"id": "", "function": {"name": "light", "arguments": None}},
        {"id": "same", "function": function},
        {"id": "same", "function": function | {"name": ""}},
        "light",
    ]
    played = await Played(tool_calling, [{"content": None, "tool_calls": odd}, "Done."]).play()
    calls = played.messages[2]["tool_calls"]
    assert calls[0] == call("light", '{"lamp":"hall"}', "call_1") | {"index": 0}
    assert [one["id"] for one in calls] == ["call_1", "call_2", "same", "call_4", "call_5"]
    answers = [message["content"] for message in played.messages[3:8]]
    assert answers[0] == answers[2] == LIT
    assert "missing 1 required" in answers[1]
    assert answers[3] == answers[4] == "Error: the call names no tool."
    assert calls[4]["function"] == {"name": NAMELESS, "arguments": ""}
    assert played.messages[2]["role"] == "assistant"


async def test_what_a_provider_adds_to_its_message_goes_back_to_it() -> None:
    reply = calling(LIGHT_HALL) | {"thinking_blocks": [{"signature": "s"}], "refusal": None}
    played = await Played(tool_calling, [reply, {"content": "Done.", "tool_calls": []}]).play()
    assert played.messages[2] == calling(LIGHT_HALL) | {"thinking_blocks": [{"signature": "s"}]}
    assert played.messages[4] == {"role": "assistant", "content": "Done."}


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: strategy.name)
@pytest.mark.parametrize("empty", [None, "", " \n"])
async def test_an_empty_reply_is_told(
    strategy: AgentStrategy, empty: str | None, tmp_path: Path
) -> None:
    reply: ChatMessage = {"role": "assistant", "content": empty}
    options = options_of(strategy, tmp_path)
    played = await Played(strategy, [reply], options=options | {"unusable_limit": "3"}).play()
    assert [message["role"] for message in played.messages] == ["system", *["user"] * 4]
    assert all(message["content"].startswith(NOTICE) for message in played.messages[2:])
    assert len(played.model.requests) == 3
    assert played.environment.steps == []
    assert not played.environment.over


async def test_only_unusable_replies_in_a_row_end_the_episode() -> None:
    answers: list[Answer] = ["", "", "Hello.", "", "", "Bye."]
    user = ScriptedUser(["Hi."])
    options = {"unusable_limit": "3"}
    played = await Played(tool_calling, answers, user=user, options=options).play()
    assert played.environment.done
    assert [action.kwargs["content"] for action in played.actions] == ["Hello.", "Bye."]
    broken = await Played(tool_calling, [calling(call("light", "["))]).play()
    assert len(broken.model.requests) == 5
    assert broken.environment.steps == []


async def test_half_a_character_is_no_reason_to_lose_the_episode() -> None:
    played = await Played(tool_calling, ["Done \ud83d"]).play()
    assert played.messages[2]["content"] == "Done ?"
    assert orjson.dumps(played.messages)


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: strategy.name)
@pytest.mark.parametrize(
    "error",
    [
        BudgetExhausted("spent"),
        ContentFiltered("no"),
        ContextWindowExceeded("long"),
        ModelUnavailable("down"),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_a_model_without_an_answer_is_not_hidden(
    strategy: AgentStrategy, error: Exception, tmp_path: Path
) -> None:
    first = written(strategy, respond("Hello."))
    options = options_of(strategy, tmp_path)
    played = Played(strategy, [first, error], user=ScriptedUser(["Hi."]), options=options)
    with pytest.raises(type(error)):
        await played.play()
    assert played.messages[-1] == {"role": "user", "content": "Hi."}


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: strategy.name)
def test_options_are_checked(strategy: AgentStrategy, tmp_path: Path) -> None:
    options = options_of(strategy, tmp_path)
    strategy.check(options | {"unusable_limit": "2"})
    for text in ("0", "-1", "x", "1.5", "", "9" * 5000):
        with pytest.raises(InputError, match="setting unusable_limit: "):
            strategy.check(options | {"unusable_limit": text})
    if "tau_compatible" in strategy.settings.model_fields:
        strategy.check(options | {"tau_compatible": "true"})
        with pytest.raises(
            InputError, match="setting tau_compatible: Input should be a valid boolean"
        ):
            strategy.check(options | {"tau_compatible": "maybe"})
    assert strategy.needs_model
    assert strategy.summary


def written(strategy: AgentStrategy, action: Action) -> ChatMessage:
    """The reply by which a model does this."""
    body = {"name": action.name, "arguments": dict(action.kwargs)}
    if strategy in (act, react):
        thought = "Thought:\nThis is next.\n" if strategy is react else ""
        return {"role": "assistant", "content": f"{thought}Action:\n{json.dumps(body)}"}
    if strategy is structured:
        return {"role": "assistant", "content": json.dumps({"action": body})}
    if action.name == RESPOND:
        return {"role": "assistant", "content": action.kwargs["content"]}
    return calling(call(action.name, dict(action.kwargs)))


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: strategy.name)
async def test_a_model_that_plays_the_ground_truth_solves_every_task(
    strategy: AgentStrategy, retail: Domain, tmp_path: Path
) -> None:
    options = options_of(strategy, tmp_path)
    for index, task in enumerate(retail.tasks()):
        work = [action for action in task.actions if not retail.tools[action.name].ends_episode]
        ending = [action for action in task.actions if action not in work]
        actions = [*work, respond(closing_words(task.outputs)), *ending]
        answers: list[Answer] = [written(strategy, action) for action in actions]
        user = ScriptedUser(["Go on."] if ending else [])
        played = Played(strategy, answers, user=user, options=options, domain=retail, max_steps=30)
        await played.play(index)
        assert played.reward == 1.0
        assert played.actions == actions
        # What was recorded says the same as what was done.
        conversation = [Message.model_validate(message) for message in played.messages]
        if strategy is not structured:
            read = read_conversation(conversation, native=strategy in (few_shot, tool_calling))
            assert [Action(step.name, step.kwargs) for step in read.steps] == actions
            observations = [step.observation for step in played.environment.steps]
            assert [step.observation for step in read.steps] == observations


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
NESTED = st.integers(1, 3000).map(lambda depth: "[" * depth + "]" * depth)
NAMES = st.sampled_from(["light", "transfer_to_human_agents", RESPOND, "fly", ""]) | st.text()
ARGUMENTS = (
    st.sampled_from([{"lamp": "hall"}, {"content": "Hello."}, {"content": ""}, {}]) | JSON_VALUES
)
BODIES = st.fixed_dictionaries({"name": NAMES | JSON_VALUES, "arguments": ARGUMENTS})
ANY_TEXT = st.text(st.characters(codec=None), max_size=30)
TEXTS = st.one_of(
    ANY_TEXT,
    NESTED,
    JSON_VALUES.map(json.dumps),
    BODIES.map(json.dumps),
    BODIES.map(lambda body: json.dumps({"action": body})),
    BODIES.map(lambda body: f"Thought:\nx\nAction:\n{json.dumps(body)}"),
    BODIES.map(lambda body: f"Action: {json.dumps(body)[:-2]}"),
    NESTED.map(lambda text: f'Action: {{"name": "light", "arguments": {{"lamp": {text}}}}}'),
)
CALLS = st.one_of(
    JSON_VALUES,
    st.fixed_dictionaries(
        {"id": st.none() | st.text(max_size=3), "function": JSON_VALUES},
    ),
    st.fixed_dictionaries(
        {"function": st.fixed_dictionaries({"name": NAMES, "arguments": ARGUMENTS | TEXTS})}
    ),
)
REPLIES = st.fixed_dictionaries(
    {"role": st.just("assistant"), "content": st.none() | TEXTS},
    optional={"tool_calls": st.none() | st.lists(CALLS, max_size=4)},
)


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: strategy.name)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(answers=st.lists(REPLIES, min_size=1, max_size=6), stops=st.booleans())
def test_whatever_a_model_writes_playing_ends(
    strategy: AgentStrategy, tmp_path: Path, answers: list[Answer], stops: bool
) -> None:
    limit, max_steps = 3, 5
    options = options_of(strategy, tmp_path) | {"unusable_limit": str(limit)}
    user = ScriptedUser([] if stops else ["Go on."] * 50)
    played = Played(strategy, answers, user=user, options=options, max_steps=max_steps)
    asyncio.run(played.play())
    steps, requests = played.environment.steps, len(played.model.requests)
    # Each request led to a step or to a notice, and never to `limit` notices in a row and on.
    assert len(steps) <= max_steps
    assert requests <= max_steps * limit
    assert played.environment.over or requests >= limit
    assert_answered(played.messages)
    # All of it can be kept.
    assert orjson.dumps(played.messages)
    assert orjson.dumps([[step.action.name, dict(step.action.kwargs)] for step in steps])


def assert_answered(messages: list[ChatMessage]) -> None:
    """Every call has its answer right behind it, as providers demand, and no reply is empty."""
    seen: set[str] = set()
    for place, message in enumerate(messages):
        if message["role"] != "assistant":
            continue
        ids = [one["id"] for one in message.get("tool_calls", [])]
        assert ids or message["content"].strip()
        assert not seen & set(ids)
        seen.update(ids)
        answers = messages[place + 1 : place + 1 + max(1, len(ids))]
        assert [answer.get("tool_call_id") for answer in answers] == (ids or [None])
