"""Strange values of agents, users, tools and packs: the run ends, is kept, and can be told."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import greenroom
from greenroom.agents import AgentContext, Stage
from greenroom.api import RunResult
from greenroom.domains import DomainPlugin
from greenroom.domains.packs import Pack, PackInfo
from greenroom.domains.tasks import Action, Task, respond
from greenroom.domains.tools import Refused, Toolset
from greenroom.domains.world import World
from greenroom.store import EpisodeRecord, Store, open_store
from tests.cli.running import Greenroom
from tests.domains import small
from tests.strange.outputs import check_done, check_every_form, check_markdown
from tests.strange.values import MARK, deep, examples, kept, normal, texts, values

pytestmark = pytest.mark.slow

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
    pack: str = "lamps"
    name: str = ""


def play(  # noqa: C901
    strange: Strange,
    store: Store,
    **options: Any,
) -> RunResult:
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
        name=f"n{strange.name[:150]}{next(NUMBER)}",
        show_progress=False,
        max_retries=0,
        **options,
    )


KEPT: dict[str, Callable[[EpisodeRecord], Any]] = {
    "said": lambda episode: episode.steps[3].action.kwargs["content"],
    "arguments": lambda episode: episode.steps[1].action.kwargs["lamp"],
    "tool": lambda episode: episode.steps[1].action.name,
    "message": lambda episode: (episode.messages or [])[0]["content"],
    "opening": lambda episode: episode.opening,
    "reply": lambda episode: episode.steps[3].observation,
    "observed": lambda episode: episode.steps[2].observation,
    "instruction": lambda episode: episode.task.instruction,
    "tag": lambda episode: episode.task.tags[0],
    "output": lambda episode: episode.task.outputs[0],
    "fact": lambda episode: episode.facts["version"],
}
"""Where a text is found in the record of an episode."""
BREAKING = ("agent_error", "user_error")
TEXTS = [*KEPT, *BREAKING, "refused", "tool_error", "policy", "described", "pack", "name"]
ANYTHING = ("arguments", "message", "observed", "fact", "tally")

strange_texts = st.dictionaries(st.sampled_from(TEXTS), texts, min_size=1, max_size=6)
strange_values = st.fixed_dictionaries(dict.fromkeys(ANYTHING, values))


def commands(name: str, other: str, file: Path) -> list[tuple[object, ...]]:
    """Every command that tells of a run."""
    return [
        ("runs", "list"),
        ("runs", "list", "--json"),
        ("runs", "show", name, "--all", "--by", "tag", "--by", "tool"),
        ("runs", "show", name, "--json"),
        ("runs", "watch", name),
        ("runs", "check", name),
        ("runs", "export", name, "--format", "csv"),
        ("errors", name),
        ("errors", name, "--json"),
        ("compare", other, name),
        ("compare", other, name, "--json"),
        ("compare", other, name, "-o", file),
    ]


def check_kept(store: Store, result: RunResult, given: dict[str, Any]) -> list[EpisodeRecord]:
    """The run is whole, and what was said is in its records as it was said."""
    episodes = list(store.runs.results(result.run.id))
    assert len(episodes) == 2
    broken = any(given.get(place) for place in BREAKING)
    first = episodes[0]
    if not broken:
        assert store.runs.find(result.run.name).status == "complete"
        for place in KEPT.keys() & given.keys() - {"observed"} | {"said"} & given.keys():
            if isinstance(given[place], str):
                assert KEPT[place](first) == normal(given[place]), place
    for place in BREAKING:
        if given.get(place) and place == "user_error":
            assert first.outcome == "infrastructure_error"
    if broken:
        assert first.error is not None
        assert MARK in first.error
    return episodes


def check_told(result: RunResult, given: dict[str, Any]) -> None:
    """Every form can be written and read; what the parties said can be recognised in it."""
    told = check_every_form(result.report)
    if "observed" in given or "said" in given:
        for form in ("json", "jsonl", "csv", "tau-bench"):
            assert MARK in told[form], form


@examples(2)
@given(strange=strange_texts)
def test_strange_texts_in_a_run(store: Store, strange: dict[str, Any]) -> None:
    result = play(Strange(**strange), store)
    check_kept(store, result, strange)
    check_told(result, strange)


@examples(3)
@given(strange=strange_values)
def test_strange_values_in_a_run(store: Store, strange: dict[str, Any]) -> None:
    result = play(Strange(**strange), store)
    (first, _) = check_kept(store, result, {})
    assert first.steps[1].action.kwargs["lamp"] == kept(strange["arguments"])
    assert first.messages == [{"role": "user", "content": kept(strange["message"])}]
    check_every_form(result.report)


@pytest.mark.slow
@examples(25)
@given(strange=strange_texts)
def test_many_strange_texts_in_a_run(store: Store, strange: dict[str, Any]) -> None:
    result = play(Strange(**strange), store)
    check_kept(store, result, strange)
    check_told(result, strange)


@pytest.mark.slow
@examples(25)
@given(strange=strange_values)
def test_many_strange_values_in_a_run(store: Store, strange: dict[str, Any]) -> None:
    result = play(Strange(**strange), store)
    check_every_form(result.report)


@pytest.mark.slow
@examples(5)
@given(strange=strange_texts)
def test_commands_tell_of_strange_runs(
    store: Store, greenroom: Greenroom, tmp_path: Path, strange: dict[str, Any]
) -> None:
    given = {place: text for place, text in strange.items() if place != "pack"}
    # Twice, because runs of different tasks or tools are refused.
    result, other = play(Strange(**given), store), play(Strange(**given), store)
    plain = play(Strange(), store)
    refusable = ("compare", plain.name, result.run.name)
    assert check_done(greenroom(*refusable), refusable).status in (0, 1, 2)
    for command in commands(result.run.name, other.name, tmp_path / "compared.md"):
        done = check_done(greenroom(*command), command)
        assert done.status in (0, 1), (command, done.err)
    check_markdown((tmp_path / "compared.md").read_text())


OTHER_TYPES: list[Any] = [
    None, 7, math.nan, 10**5000, b"\xff\0", {1, 2}, {None: 1, (1, 2): object()}, object(),
    deep(190), deep(10_000), [0] * 20_000, {MARK + "\ud800\0": [math.nan, 2**70]},
]  # fmt: skip


@pytest.mark.parametrize("value", OTHER_TYPES, ids=range(len(OTHER_TYPES)))
def test_an_agent_may_leave_anything_behind(value: Any) -> None:
    with closing(open_store()) as store:
        for place in (*ANYTHING, "tool"):
            unknown = place == "tool" and value.__hash__ is None
            result = play(Strange(**{place: value}), store)
            episodes = list(store.runs.results(result.run.id))
            # Its own mistakes count against the agent: nothing else broke.
            expected = "crashed" if unknown else episodes[0].outcome
            assert {one.outcome for one in episodes} == {expected}, (place, episodes[0].error)
            assert "infrastructure_error" not in {one.outcome for one in episodes}
            check_every_form(result.report)


@pytest.mark.parametrize("place", ["opening", "reply"])
@pytest.mark.parametrize("value", [None, 7, ["hello"]])
def test_a_user_that_says_no_text_is_not_the_agents_fault(place: str, value: Any) -> None:
    with closing(open_store()) as store:
        result = play(Strange(**{place: value}), store)
        (first, _) = store.runs.results(result.run.id)
    assert first.outcome == "infrastructure_error"
    assert first.error == (
        f"The simulated user broke: TypeError: it answered with {type(value).__name__} instead of "
        "a text"
    )


def test_an_observation_of_ten_megabytes(greenroom: Greenroom, tmp_path: Path) -> None:
    with closing(open_store()) as store:
        result = play(Strange(observed="plum\x1b[31m" + "x" * 10_000_000), store)
        first = next(store.runs.results(result.run.id))
    assert len(first.steps[2].observation) > 10_000_000
    done = check_done(greenroom("runs", "show", result.name, "--all"))
    assert len(done.out) < 100_000
    assert greenroom("runs", "report", result.name, "-o", tmp_path / "r.html").status == 0
    assert (tmp_path / "r.html").stat().st_size < 20_000_000


def test_a_run_is_found_by_the_name_that_it_was_given() -> None:
    name = "\udc00\ud83d\ude00 \0 \udcff"
    with closing(open_store()) as store:
        result = play(Strange(name=name), store)
        given = f"n{name}{result.name[-1]}"
        assert store.runs.find(result.name).id == result.run.id
        assert [run.name for run in store.runs.all()] == [result.name]
        assert MARK not in given
