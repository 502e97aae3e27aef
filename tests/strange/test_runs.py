"""Strange values of agents, users, tools and packs: the run ends, is kept, and can be told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count
from typing import Annotated, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import greenroom
from greenroom.agents import AgentContext, Stage
from greenroom.api import RunResult
from greenroom.domains import DomainPlugin
from greenroom.domains.packs import Pack, PackInfo
from greenroom.domains.tasks import Action, Task, respond
from greenroom.domains.tools import Refused, Toolset
from greenroom.domains.world import World
from greenroom.store import EpisodeRecord, Store
from tests.cli.running import Greenroom
from tests.domains import small
from tests.strange.outputs import check_every_form, check_piped, strict_json
from tests.strange.values import MARK, kept, normal, texts, values

# Each command opens the store for itself; its connections end with the process.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

NUMBER = count()


@dataclass
class Strange:
    """What each party says and does in a run."""

    said: str = "hello"
    arguments: Any = "hall"
    tool: str = "light"
    fact: Any = "1"
    tally: Any = 1.0
    message: Any = "hello"
    agent_error: str = ""
    opening: str = "Good morning"
    reply: str = "Thanks."
    user_error: str = ""
    observed: Any = "done"
    refused: str = ""
    tool_error: str = ""
    instruction: str = "Light the hall."
    output: str = "10"
    tag: str = "lamp"
    policy: str = "Ask first."
    described: str = "Light a lamp."
    record: Any = 1
    pack: str = "lamps"
    name: str = ""


def play(strange: Strange, store: Store, **options: Any) -> RunResult:
    """Two tasks by an agent, with a user, tools and a pack that all are strange."""

    class Agent:
        def __init__(self, context: AgentContext) -> None:
            self.facts = {"version": strange.fact, f"{MARK} {strange.said}": "1"}
            self.tallies = {f"calls {strange.said}": {strange.said: strange.tally}}
            self.messages = [{"role": "user", "content": strange.message}]

        async def play(self, stage: Stage) -> None:
            await stage.step(Action("light", {"lamp": "hall"}))
            await stage.step(Action(strange.tool, {"lamp": strange.arguments}))
            await stage.step(Action("tell", {}))
            await stage.step(respond(strange.said))
            if strange.agent_error:
                raise ValueError(strange.agent_error)
            await stage.step(respond("Anything else?"))

    class User:
        def __init__(self) -> None:
            self.replies = 0

        async def open(self, instruction: str) -> str:
            return strange.opening

        async def reply(self, content: str) -> str:
            self.replies += 1
            if strange.user_error:
                raise ValueError(strange.user_error)
            return strange.reply if self.replies == 1 else "Bye. ###STOP###"

    tools = Toolset()
    tools.include(small.tools)

    @tools.add()
    def tell(world: World) -> Any:
        """Tell something."""
        if strange.refused:
            raise Refused(strange.refused)
        if strange.tool_error:
            raise ValueError(strange.tool_error)
        return strange.observed

    @tools.add(writes=True)
    def light(world: World, lamp: Annotated[str, "Which lamp."]) -> str:
        """Light a lamp."""
        world["lamps"]["hall"]["lit"] = lamp
        return "ok"

    def pack() -> Pack:
        tasks = [
            Task(
                strange.instruction,
                (Action("light", {"lamp": "hall"}),),
                (strange.output,),
                tags=(strange.tag,),
                id=strange.tag,
            ),
            small.TASKS[1],
        ]
        made = small.small_pack(*tasks)
        infos = tools.infos
        infos[0]["function"]["description"] = strange.described
        return replace(
            made,
            info=PackInfo(name=strange.pack, version=strange.pack, source=strange.pack, licence=""),
            policy=strange.policy,
            tool_infos=tuple(infos),
        )

    return greenroom.run(
        DomainPlugin("lamps", tools, pack),
        agent=Agent,
        user=User,
        store=store,
        name=f"{strange.name}{next(NUMBER)}",
        show_progress=False,
        max_retries=0,
        **options,
    )


def text_of(place: str) -> Callable[[EpisodeRecord], Any]:
    """Where a text is found in the record of an episode."""
    return {
        "said": lambda episode: episode.steps[3].action.kwargs["content"],
        "arguments": lambda episode: episode.steps[1].action.kwargs["lamp"],
        "tool": lambda episode: episode.steps[1].action.name,
        "message": lambda episode: episode.messages[0]["content"],
        "opening": lambda episode: episode.opening,
        "reply": lambda episode: episode.steps[3].observation,
        "observed": lambda episode: episode.steps[2].observation,
        "instruction": lambda episode: episode.task.instruction,
        "tag": lambda episode: episode.task.tags[0],
        "output": lambda episode: episode.task.outputs[0],
        "fact": lambda episode: episode.facts["version"],
        "agent_error": lambda episode: episode.error.removeprefix("ValueError: "),
    }[place]


TEXTS = [
    "said", "arguments", "tool", "message", "opening", "reply", "observed", "instruction", "tag",
    "output", "fact", "agent_error", "user_error", "refused", "tool_error", "policy", "described",
    "pack", "name",
]  # fmt: skip


def commands(name: str, other: str) -> list[tuple[str, ...]]:
    """Every command that tells of a run."""
    return [
        ("runs", "list"),
        ("runs", "list", "--json"),
        ("runs", "show", name),
        ("runs", "show", name, "--all", "--by", "tag", "--by", "tool"),
        ("runs", "show", name, "--json"),
        ("runs", "watch", name),
        ("runs", "check", name),
        ("errors", name),
        ("errors", name, "--json"),
        ("compare", name, other),
        ("compare", name, other, "--json"),
    ]


few = settings(max_examples=3, suppress_health_check=[HealthCheck.function_scoped_fixture])


@few
@given(text=texts)
@pytest.mark.parametrize("place", TEXTS)
def test_a_strange_text_is_kept_and_told(
    store: Store, greenroom: Greenroom, place: str, text: str
) -> None:
    result = play(Strange(**{place: text}), store)
    episodes = list(store.runs.results(result.run.id))
    assert len(episodes) == 2
    told = check_every_form(result.report)
    for command in commands(result.run.name, play(Strange(), store).name):
        done = greenroom(*command)
        assert done.status in (0, 1), (command, done.err)
        assert "bug" not in done.err
        if "--json" in command:
            strict_json(done.out)
        else:
            check_piped(done.out)
        check_piped(done.err)
