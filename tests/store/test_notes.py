"""Notes in the store: kept, changed, deleted, restored and found, on both databases."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import insert

from greenroom.errors import Conflict, InputError
from greenroom.store import (
    NoteFilter,
    NoteRecord,
    NoteSubject,
    Store,
    UnknownNote,
    open_store,
)
from greenroom.store.schema import boards, threads, turns
from tests.store.samples import sample_episode, sample_evaluation, sample_result, sample_run

EVERY = NoteFilter()
EPISODE = NoteSubject(job_id="id-sample", item=0, trial=0)


def with_run(store: Store) -> Store:
    run = store.runs.create(sample_run())
    store.runs.add(run.id, [sample_episode(task, trial) for task in (0, 1) for trial in (0, 1)])
    return store


def with_thread(store: Store) -> NoteSubject:
    times = {"created_at": "2026", "updated_at": "2026", "record": "{}"}
    with store.engine.begin() as connection:
        connection.execute(insert(boards).values(id="board", title="", **times))
        connection.execute(
            insert(threads).values(
                id="thread", board_id="board", row_number=0, column_number=0, version=1, **times
            )
        )
        connection.execute(
            insert(turns).values(
                id="turn", thread_id="thread", status="done", created_at="2026", record="{}"
            )
        )
    return NoteSubject(thread_id="thread", turn_id="turn")


def listed(store: Store, **wanted: Any) -> list[str]:
    return [note.text for note in store.notes.page(NoteFilter(**wanted), limit=100)]


def test_a_note_comes_back_with_the_names_of_what_it_is_about(store: Store) -> None:
    with_run(store)
    version, _ = store.test_sets.save("capitals", [{"country": "Peru"}])
    evaluation = store.evaluations.create(sample_evaluation(version))
    store.evaluations.add(evaluation.id, [sample_result()])
    step = EPISODE.model_copy(update={"step": 1})
    note = store.notes.add(step, tag=" rude ", text="na\0ïve", verdict="agent", author="Ann")
    assert (note.job_kind, note.job_name, note.tag) == ("run", "sample", "rude")
    assert (note.text, note.verdict, note.author) == ("na\ufffdïve", "agent", "Ann")
    assert note.subject == step
    assert store.notes.find(note.id) == note
    row = store.notes.add(NoteSubject(job_id=evaluation.id, item=0, trial=0), text="odd")
    assert (row.job_kind, row.job_name, row.author) == ("evaluation", "evaluation", "me")
    turn = store.notes.add(with_thread(store), text="slow")
    assert (turn.board_id, turn.job_kind, turn.subject.turn_id) == ("board", None, "turn")
    assert store.notes.page(EVERY, limit=9) == [turn, row, note]


@pytest.mark.parametrize(
    ("subject", "words"),
    [
        (NoteSubject(), "about an episode, a row or a thread"),
        (NoteSubject(job_id="id-sample", item=7, trial=0), "no result of 7, trial 0"),
        (NoteSubject(job_id="id-sample", item=2**40, trial=0), "no result"),
        (NoteSubject(job_id="other", item=0, trial=0), "no result"),
        (NoteSubject(job_id="id-sample", item=0, trial=0, step=2), "no step 2: the episode has 2"),
        (NoteSubject(thread_id="gone"), "no thread 'gone'"),
        (NoteSubject(thread_id="thread", turn_id="gone"), "no turn 'gone'"),
    ],
)
def test_a_note_is_about_something_that_is_there(
    store: Store, subject: NoteSubject, words: str
) -> None:
    with_run(store)
    with_thread(store)
    with pytest.raises(InputError, match=words):
        store.notes.add(subject, text="?")
    assert listed(store) == []


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"text": " \n"}, "says something"),
        ({"text": "x" * 100_001}, "at most 100000"),
        ({"tag": "x" * 201}, "at most 200"),
        ({"text": "x", "author": " "}, "author's name"),
    ],
)
def test_a_note_says_something_of_a_bearable_length(
    store: Store, said: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        with_run(store).notes.add(EPISODE, **said)


def test_of_two_people_who_change_a_note_the_second_is_told(store: Store) -> None:
    notes = with_run(store).notes
    read = notes.add(EPISODE, text="first", tag="kept")
    changed = notes.change(read.id, read.updated_at, text="second", verdict="user")
    assert (changed.text, changed.tag, changed.verdict) == ("second", "kept", "user")
    assert changed.created_at == read.created_at
    with pytest.raises(Conflict, match="load it again"):
        notes.change(read.id, read.updated_at, text="third")
    assert notes.find(read.id) == changed
    cleared = notes.change(read.id, changed.updated_at, verdict=None)
    assert cleared.verdict is None
    notes.delete(read.id)
    with pytest.raises(Conflict, match="restore it first"):
        notes.change(read.id, cleared.updated_at, text="late")


def test_of_many_changes_at_once_one_wins(store: Store) -> None:
    notes = with_run(store).notes
    read = notes.add(EPISODE, text="first")

    def change(number: int) -> bool:
        try:
            notes.change(read.id, read.updated_at, text=str(number))
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(change, range(8)))
    assert won.count(True) == 1
    assert notes.find(read.id).text == str(won.index(True))


def test_what_is_deleted_is_hidden_and_comes_back_as_it_was(store: Store) -> None:
    notes = with_run(store).notes
    note = notes.add(EPISODE, text="oops", tag="t", verdict="task")
    deleted = notes.delete(note.id)
    assert deleted.deleted_at is not None
    assert notes.delete(note.id) == deleted
    assert listed(store) == []
    assert (notes.tags(), notes.marks("id-sample")) == ([], [])
    assert listed(store, deleted=True) == ["oops"]
    assert notes.restore(note.id) == note
    assert notes.restore(note.id) == note
    for call in (notes.delete, notes.restore, notes.find):
        with pytest.raises(UnknownNote, match="no note 'none'"):
            call("none")


def test_notes_go_with_their_run(store: Store) -> None:
    with_run(store).notes.add(EPISODE, text="gone")
    store.runs.delete(store.runs.find("sample"))
    assert listed(store) == []


def test_every_filter_finds_its_notes(store: Store) -> None:
    add = with_run(store).notes.add
    add(EPISODE, text="100% Wrong", tag="rude", verdict="agent", author="Ann")
    add(EPISODE.model_copy(update={"trial": 1}), text="100 wrong", verdict="user", author="Bob")
    add(with_thread(store), text="fine", tag="Rude")
    found: dict[str, list[str]] = {
        "Ann": listed(store, author="Ann"),
        "rude": listed(store, tag="rude"),
        "run": listed(store, job_id="id-sample"),
        "trial": listed(store, job_id="id-sample", trial=1),
        "thread": listed(store, thread_id="thread", turn_id="turn"),
        "user": listed(store, verdict="user"),
        "any": listed(store, verdict="any"),
        "none": listed(store, verdict="none"),
        "q": listed(store, q="wrong"),
        "q%": listed(store, q="0%"),
        "q tag": listed(store, q="RUDE"),
        "q nul": listed(store, q="\0"),
    }
    assert found == {
        "Ann": ["100% Wrong"],
        "rude": ["100% Wrong"],
        "run": ["100 wrong", "100% Wrong"],
        "trial": ["100 wrong"],
        "thread": ["fine"],
        "user": ["100 wrong"],
        "any": ["100 wrong", "100% Wrong"],
        "none": ["fine"],
        "q": ["100 wrong", "100% Wrong"],
        "q%": ["100% Wrong"],
        "q tag": ["fine", "100% Wrong"],
        "q nul": [],
    }


def test_pages_give_every_note_once(store: Store) -> None:
    notes = with_run(store).notes
    made = [notes.add(EPISODE, text=str(number)).id for number in range(25)]
    seen: list[str] = []
    after: tuple[str, str] | None = None
    while page := notes.page(EVERY, limit=4, after=after):
        seen += [note.id for note in page]
        after = (page[-1].created_at, page[-1].id)
    assert seen == made[::-1]
    assert [note.id for note in notes.each(EVERY)] == seen


def test_tags_and_cells_are_counted(store: Store) -> None:
    add = with_run(store).notes.add
    add(EPISODE, tag="rude", verdict="agent")
    add(EPISODE, tag="rude", verdict="agent", author="Bob")
    add(EPISODE, text="only words")
    add(NoteSubject(job_id="id-sample", item=1, trial=0), tag="slow", verdict="task")
    assert store.notes.tags() == [("rude", 2), ("slow", 1)]
    assert store.notes.tags(q="LO") == [("slow", 1)]
    first, second = store.notes.marked_cells(NoteFilter(job_id="id-sample"), limit=9)
    assert (first.item, first.trial, first.notes) == (0, 0, 3)
    assert (first.verdicts, first.tags) == ({"agent": 2}, {"rude": 2})
    assert (second.item, second.notes, second.verdicts) == (1, 1, {"task": 1})
    wanted = NoteFilter(job_id="id-sample", verdict="agent")
    assert store.notes.marked_cells(wanted, limit=9) == [first]
    after = store.notes.marked_cells(NoteFilter(job_id="id-sample"), limit=1, after=(0, 0))
    assert after == [second]


def test_notes_of_another_store_are_kept_if_they_are_newer(store: Store) -> None:
    notes = with_run(store).notes
    note = notes.add(EPISODE, text="here")
    assert notes.put([note]) == 0
    newer = note.model_copy(update={"text": "there", "updated_at": "2999-01-01T00:00:00+00:00"})
    assert notes.put([newer, note]) == 1
    assert notes.find(note.id).text == "there"
    stray = note.model_copy(update={"id": "b", "subject": NoteSubject(thread_id="gone")})
    with pytest.raises(InputError, match="Note 2: There is no thread 'gone'"):
        notes.put([note.model_copy(update={"id": "a"}), stray])
    assert [one.id for one in notes.each(EVERY)] == [note.id]


TEXTS = st.text(max_size=20)
ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(["add", "change", "undo", "delete", "restore"]),
        st.integers(0, 3),
        TEXTS,
        st.sampled_from([None, "agent", "user", "task", "environment"]),
    ),
    max_size=12,
)


@pytest.mark.slow
@settings(max_examples=min(40, settings().max_examples))
@given(ACTIONS)
def test_any_edits_can_be_undone(actions: list[tuple[str, int, str, str | None]]) -> None:
    """A change, and the values before it as another change, leave the note as it was."""
    store = open_store()
    try:
        if not store.runs.all():
            with_run(store)
        ids: list[str] = []
        model: dict[str, NoteRecord] = {}
        for action, number, text, verdict in actions:
            if action == "add":
                note = store.notes.add(EPISODE, tag="t", text=text, verdict=verdict)
                ids.append(note.id)
                model[note.id] = note
            elif ids:
                _act(store, action, ids[number % len(ids)], text, verdict, model)
        for one, expected in model.items():
            assert _said(store.notes.find(one)) == _said(expected)
        shown = {note.id for note in store.notes.each(EVERY)}
        assert shown & {*model} == {one for one in model if model[one].deleted_at is None}
    finally:
        store.close()


def _act(
    store: Store,
    action: str,
    one: str,
    text: str,
    verdict: str | None,
    model: dict[str, NoteRecord],
) -> None:
    before = store.notes.find(one)
    calls: dict[str, Callable[[str], NoteRecord]] = {
        "delete": store.notes.delete,
        "restore": store.notes.restore,
    }
    if action in calls:
        model[one] = calls[action](one)
    elif before.deleted_at is None:
        changed = store.notes.change(one, before.updated_at, text=text, verdict=verdict)
        if action == "undo":
            store.notes.change(one, changed.updated_at, text=before.text, verdict=before.verdict)
        else:
            model[one] = changed


def _said(note: NoteRecord) -> tuple[Any, ...]:
    return note.tag, note.text, note.verdict, note.deleted_at is None, note.author, note.subject
