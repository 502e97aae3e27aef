"""Round trips as properties: edits and undo, chat and completion, messages and turns."""

from __future__ import annotations

from typing import Any, Literal

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from greenroom.playground.app import create_app
from greenroom.playground.board_work import edit, step
from greenroom.playground.conversation import messages_so_far, turns_of
from greenroom.playground.state import Playground
from greenroom.playground.thread_models import EditRequest
from greenroom.store import Store
from greenroom.store.history import History
from greenroom.store.thread_records import (
    BoardRecord,
    ThreadRecord,
    TurnContent,
    TurnRecord,
    cut_content,
    json_text,
)
from greenroom.util.raw_json import raw_value
from greenroom.workflows.serve.server import running_app
from tests.playground.stores import fresh_store
from tests.playground.talking import APP, Talk, address

SIDES: list[Literal["said", "answer"]] = ["said", "answer"]

ids = st.lists(st.sampled_from("abcdefgh"), max_size=8)


@given(st.lists(ids, max_size=12), st.data())
def test_undo_and_redo_move_between_all_lists_that_ever_were(
    lists: list[list[str]], data: st.DataObject
) -> None:
    history, states = History(), [list[str]()]
    for wanted in lists:
        for _ in range(data.draw(st.integers(0, 2))):
            if history.can_undo:
                history = history.undo()
        before = history.turns
        history = History.model_validate_json(history.changed(wanted).model_dump_json())
        assert history.turns == wanted
        if before != wanted:
            assert history.undo().turns == before
            assert history.undo().redo() == history
            states.append(wanted)
    history = newest = _newest(history)
    passed: list[list[str]] = [history.turns]
    while history.can_undo:
        history = history.undo()
        passed.append(history.turns)
    for state in states:
        assert state in passed  # nothing was forgotten
    assert _newest(history) == newest


def _newest(history: History) -> History:
    while history.can_redo:
        history = history.redo()
    return history


def test_a_long_history_stays_small() -> None:
    history = History()
    for number in range(300):
        history = history.changed([*history.turns, f"{number:032}"])
    assert len(history.model_dump_json()) < 40_000


texts = st.text(max_size=20)
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


def _message(role: str, content: Any, extra: dict[str, Any]) -> dict[str, Any]:
    return {**extra, "role": role, "content": content}


def _part(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


messages: st.SearchStrategy[dict[str, Any]] = st.builds(
    _message,
    st.sampled_from(["system", "user", "assistant", "tool"]),
    texts | st.lists(st.builds(_part, texts), max_size=2),
    st.dictionaries(
        texts.filter(lambda key: key not in ("role", "content")), json_values, max_size=2
    ),
)
conversations = st.lists(messages, max_size=8)


@given(conversations)
def test_messages_become_turns_and_messages_again(said: list[dict[str, Any]]) -> None:
    turns = turns_of(said, "thread")
    assert messages_so_far(turns) == said
    assert all(turn.status == "done" for turn in turns[:-1])


@given(json_values)
def test_what_is_kept_comes_back(value: Any) -> None:
    content = TurnContent(outputs=value, inputs={"a": value})
    kept = raw_value(json_text(content.model_dump()))
    assert kept["outputs"] == value
    assert len(json_text(cut_content(TurnContent(text="x" * 10**6, outputs=value)))) < 64 * 1024


@pytest.mark.slow
@given(conversations, json_values)
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_view_is_a_view(shared: Talk, said: list[dict[str, Any]], value: Any) -> None:
    spec = {"address": address("recorder"), "messages": said, "inputs": {"a": value}}
    thread = shared.post("boards", threads=[spec])["threads"][0]
    path = f"threads/{thread['id']}"
    before = shared.get(path)
    version = before["version"]
    for view in ("completion", "chat", "completion", None):
        version = shared.patch(path, version=version, treat_as=view)["version"]
    after = shared.get(path)
    passing = ("version", "updated_at")
    assert {k: v for k, v in after.items() if k not in passing} == {
        k: v for k, v in before.items() if k not in passing
    }
    shown = [m for turn in after["turns"] for m in [*turn["said"], *turn["replies"]]]
    assert shown == said


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """One playground for many examples."""
    with fresh_store(tmp_path_factory.mktemp("shared") / "store.db") as store:
        playground = Playground(store, [str(APP)])
        with (
            running_app(create_app(playground), on_end=playground.end) as served,
            httpx.Client(base_url=f"{served}/api/v1/") as api,
        ):
            yield Talk(api)


class Editing(RuleBasedStateMachine):
    """Edits of all kinds in any order; a model beside it knows what there should be."""

    store: Store

    @initialize(said=conversations.filter(bool))
    def begin(self, said: list[dict[str, Any]]) -> None:
        self.playground = Playground(self.store)
        board = BoardRecord()
        self.store.boards.create(board)
        thread = ThreadRecord(board_id=board.id, address="none")
        turns = turns_of(said, thread.id)
        thread.history = History(turns=[one.id for one in turns])
        self.store.threads.add(board.id, [thread], turns)
        self.key = thread.id
        self.past: list[list[Any]] = []
        self.future: list[list[Any]] = []
        self.version = 1

    def contents(self) -> list[tuple[Any, Any]]:
        """What the thread holds, as the store tells it."""
        thread = self.store.threads.find(self.key)
        found = self.store.turns.listed(thread.history.turns)
        return [
            (found[key].content.said, found[key].content.replies) for key in thread.history.turns
        ]

    def turns(self) -> list[TurnRecord]:
        thread = self.store.threads.find(self.key)
        found = self.store.turns.listed(thread.history.turns)
        return [found[key] for key in thread.history.turns]

    @rule(data=st.data(), message=st.none() | messages)
    def change(self, data: st.DataObject, message: dict[str, Any] | None) -> None:
        turns = self.turns()
        if not turns:
            return
        turn = data.draw(st.sampled_from(turns))
        side = data.draw(st.sampled_from(SIDES))
        listed = turn.content.said if side == "said" else turn.content.replies
        most = len(listed) - (message is None)
        if most < 0:
            return
        index = data.draw(st.integers(0, most))
        before = self.contents()
        wanted = EditRequest(
            version=self.version, turn_id=turn.id, side=side, index=index, message=message
        )
        self.version = edit(self.playground, self.key, wanted).version
        expected = [*listed[:index], *([] if message is None else [message]), *listed[index + 1 :]]
        place = [one.id for one in turns].index(turn.id)
        pair = (expected, turn.content.replies) if side == "said" else (turn.content.said, expected)
        after = [*before[:place], *([pair] if any(pair) else []), *before[place + 1 :]]
        assert self.contents() == after
        # What was undone before becomes part of the past.
        undone = [*self.future]
        self.past += [before] if not undone else []
        if undone:
            path = [before, *reversed(undone)]
            self.past += [*path, *reversed(path[:-1])]
            self.future = []

    @precondition(lambda self: self.past)
    @rule()
    def undo(self) -> None:
        now = self.contents()
        self.version = step(self.playground, self.key, self.version, back=True).version
        expected = self.past.pop()
        self.future.append(now)
        assert self.contents() == expected

    @precondition(lambda self: self.future)
    @rule()
    def redo(self) -> None:
        now = self.contents()
        self.version = step(self.playground, self.key, self.version, back=False).version
        expected = self.future.pop()
        self.past.append(now)
        assert self.contents() == expected


@pytest.mark.slow
def test_edits_and_undo_are_a_round_trip(store: Store) -> None:
    class OnThisStore(Editing):
        pass

    OnThisStore.store = store
    run_state_machine_as_test(  # pyright: ignore[reportUnknownMemberType]
        OnThisStore, settings=settings(max_examples=15, stateful_step_count=15)
    )
