"""The API of notes and agreement, over HTTP and both databases."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from greenroom.playground.note_files import NoteRow, check_rows, import_notes, write_notes
from greenroom.store import (
    JudgementRecord,
    JudgingRecord,
    NoteFilter,
    NoteSubject,
    Store,
    open_store,
)
from tests.playground.conftest import Open, Running
from tests.store.samples import (
    MOMENT,
    sample_episode,
    sample_evaluation,
    sample_result,
    sample_run,
)
from tests.store.test_notes import with_thread

EPISODE = {"run": "sample", "task": 0, "trial": 0}


def filled(store: Store, tasks: int = 2) -> Store:
    """A store with a run, an evaluation and a thread."""
    run = store.runs.create(sample_run(task_indices=list(range(tasks))))
    store.runs.add(
        run.id, [sample_episode(task, trial) for task in range(tasks) for trial in (0, 1)]
    )
    version, _ = store.test_sets.save("capitals", [{"country": "Peru"}])
    evaluation = store.evaluations.create(sample_evaluation(version))
    store.evaluations.add(evaluation.id, [sample_result()])
    with_thread(store)
    return store


@pytest.fixture
def running(store: Store, open_playground: Open) -> Running:
    return open_playground(filled(store))


def write(running: Running, subject: dict[str, Any] = EPISODE, **said: Any) -> dict[str, Any]:
    answer = running.api.post("notes", json={"subject": subject, **said})
    assert answer.status_code == 201, answer.text
    return answer.json()


def test_a_note_about_each_kind_of_subject_comes_back(running: Running) -> None:
    step = write(running, EPISODE | {"step": 1}, tag="rude", verdict="agent", author="Ann")
    assert step["subject"] == {**EPISODE, "step": 1}
    row = write(running, {"evaluation": "evaluation", "item": 0, "trial": 0}, text="odd")
    assert row["subject"] == {"evaluation": "evaluation", "item": 0, "trial": 0}
    turn = write(running, {"thread": "thread", "turn": "turn"}, text="slow")
    assert turn["subject"] == {"thread": "thread", "turn": "turn", "board": "board"}
    assert running.api.get("notes").json() == {"items": [turn, row, step], "next": None}
    assert running.api.get(f"notes/{row['id']}").json() == row
    by = {
        "run=sample": [step],
        "run=id-sample&item=0&trial=0": [step],
        "run=sample&trial=1": [],
        "evaluation=evaluation": [row],
        "thread=thread&turn=turn": [turn],
        "verdict=agent": [step],
        "verdict=none&author=me": [turn, row],
        "tag=rude&q=ann": [step],
    }
    for query, notes in by.items():
        assert running.api.get(f"notes?{query}").json()["items"] == notes, query


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"subject": {"run": "other", "task": 0}, "text": "x"}, 404, "Unknown run 'other'"),
        ({"subject": {"run": "sample", "task": 9}, "text": "x"}, 404, "no result of 9"),
        ({"subject": {"thread": "gone"}, "text": "x"}, 404, "no thread 'gone'"),
        ({"subject": EPISODE}, 422, "says something"),
        ({"subject": {"run": "sample", "thread": "thread"}, "text": "x"}, 422, "subject"),
        ({"subject": EPISODE, "verdict": "weather"}, 422, "verdict"),
        ({"subject": EPISODE, "text": "x" * 100_001}, 422, "text"),
        ({"subject": {"run": "sample", "task": 2**40}, "text": "x"}, 422, "task"),
    ],
)
def test_what_cannot_be_noted_is_told_in_words(
    running: Running, body: dict[str, Any], status: int, words: str
) -> None:
    answer = running.api.post("notes", json=body)
    assert (answer.status_code, words in answer.json()["detail"]) == (status, True), answer.text


def test_a_change_that_comes_too_late_is_a_conflict(running: Running) -> None:
    note = write(running, text="first", tag="t")
    change = {"updated_at": note["updated_at"], "text": "second"}
    changed = running.api.patch(f"notes/{note['id']}", json=change).json()
    assert (changed["text"], changed["tag"]) == ("second", "t")
    late = running.api.patch(f"notes/{note['id']}", json=change)
    assert (late.status_code, "load it again" in late.text) == (409, True)
    assert running.api.patch("notes/none", json=change).status_code == 404


def test_a_deleted_note_can_be_restored(running: Running) -> None:
    note = write(running, text="oops")
    assert running.api.delete(f"notes/{note['id']}").json()["deleted_at"]
    assert running.api.get("notes").json()["items"] == []
    assert [one["id"] for one in running.api.get("notes?deleted=true").json()["items"]] == [
        note["id"]
    ]
    assert running.api.post(f"notes/{note['id']}/restore").json() == note
    assert running.api.get("notes").json()["items"] == [note]


def test_lists_are_given_in_pages(running: Running) -> None:
    made = [write(running, EPISODE | {"trial": n % 2}, text=str(n))["id"] for n in range(5)]
    seen: list[str] = []
    after = ""
    while after is not None:
        page = running.api.get(f"notes?limit=2{after and '&after=' + after}").json()
        seen += [note["id"] for note in page["items"]]
        after = page["next"]
    assert seen == made[::-1]
    first = running.api.get("notes/subjects?run=sample&limit=1").json()
    assert first["items"] == [{"item": 0, "trial": 0, "notes": 3, "verdicts": {}, "tags": {}}]
    rest = running.api.get(f"notes/subjects?run=sample&after={first['next']}").json()
    assert [one["trial"] for one in rest["items"]] == [1]
    for path in ("notes?after=x", "notes/subjects?run=sample&after=WyJhIiwiYiJd", "notes/subjects"):
        assert running.api.get(path).status_code == 422, path


def test_episodes_are_narrowed_to_those_with_notes(running: Running) -> None:
    write(running, EPISODE, verdict="agent")
    write(running, EPISODE | {"task": 1}, text="odd")
    gone = write(running, EPISODE | {"trial": 1}, verdict="agent")
    running.api.delete(f"notes/{gone['id']}")

    def places(query: str) -> list[tuple[int, int]]:
        found = running.api.get(f"runs/sample/episodes?{query}").raise_for_status().json()
        return [(one["task"], one["trial"]) for one in found["items"]]

    assert places("noted=any") == [(0, 0), (1, 0)]
    assert places("noted=agent") == [(0, 0)]
    assert places("noted=user") == []
    assert places("noted=any&tool=light&task=1") == [(1, 0)]
    assert len(places("")) == 4


def test_tags_are_offered_for_completion(running: Running) -> None:
    for tag in ("rude", "rude", "slow"):
        write(running, tag=tag)
    assert running.api.get("notes/tags").json() == [
        {"tag": "rude", "notes": 2},
        {"tag": "slow", "notes": 1},
    ]
    assert running.api.get("notes/tags?q=sl").json() == [{"tag": "slow", "notes": 1}]


def test_notes_are_exported_in_three_forms(running: Running) -> None:
    write(running, EPISODE | {"step": 0}, text='=1+1\n"quoted", ü', verdict="user")
    write(running, {"thread": "thread"}, tag="rude")
    lines = running.api.get("notes/export?format=jsonl&run=sample")
    assert lines.headers["content-disposition"] == 'attachment; filename="notes.jsonl"'
    (row,) = map(json.loads, lines.text.splitlines())
    assert (row["run"], row["item"], row["step"], row["thread"]) == ("sample", 0, 0, None)
    both = running.api.get("notes/export?format=json").json()
    assert [one["tag"] for one in both] == ["rude", ""]
    table = running.api.get("notes/export")
    assert table.headers["content-type"].startswith("text/csv")
    cells = list(csv.DictReader(io.StringIO(table.text)))
    assert cells[1]["text"] == '=1+1\n"quoted", ü'  # read back as it was said, as all exports are
    assert (cells[0]["run"], cells[0]["thread"]) == ("", "thread")


def test_exported_notes_can_be_imported(running: Running) -> None:
    note = write(running, text="x")
    rows = running.api.get("notes/export?format=json").json()
    answer = running.api.post("notes/import", json={"notes": rows})
    assert answer.json() == {"read": 1, "kept": 0}
    rows[0] |= {"id": "other", "author": "Bob"}
    assert running.api.post("notes/import", json={"notes": rows}).json()["kept"] == 1
    (bob,) = running.api.get("notes?author=Bob").json()["items"]
    assert bob["subject"] == note["subject"]
    for wrong in ({"id": "../x"}, {"updated_at": "soon"}, {"run": "gone"}, {"run": None}):
        answer = running.api.post("notes/import", json={"notes": [rows[0] | wrong]})
        assert answer.status_code in (404, 422), answer.text


def judge(store: Store) -> None:
    """A judge over the first six tasks: the agent, but for the last."""
    judging = store.judgings.create(
        JudgingRecord(
            id="judging",
            name="judging",
            created_at=MOMENT,
            greenroom_version="0",
            run_id="id-sample",
            run_name="sample",
            judge="big-model",
            episodes=[(task, 0) for task in range(6)],
        )
    )
    store.judgings.add(
        judging.id,
        [
            JudgementRecord(
                task_index=task,
                trial=0,
                outcome="answered",
                started_at=MOMENT,
                author="agent" if task < 5 else "user",
                author_description=f"because of {task}",
                kind="called_wrong_tool" if task < 5 else None,
            )
            for task in range(6)
        ],
    )


@pytest.mark.slow
def test_agreement_is_told_with_who_said_what(store: Store, open_playground: Open) -> None:
    running = open_playground(filled(store, tasks=6))
    for task in range(6):
        subject = {"run": "sample", "task": task, "trial": 0}
        write(running, subject, verdict="agent", author="Ann", text=f"Ann on {task}")
        write(running, subject, verdict="agent" if task else "task", author="Bob")
    judge(store)
    found = running.api.get("agreement?run=sample").json()
    assert found["raters"] == [
        {"kind": "judge", "name": "big-model", "episodes": 6},
        {"kind": "person", "name": "Ann", "episodes": 6},
        {"kind": "person", "name": "Bob", "episodes": 6},
    ]
    people, *_, together = [one for one in found["figures"] if one["value"] is None]
    assert (people["raters"], people["episodes"], people["agreed"]) == (2, 6, 5)
    assert (together["raters"], together["agreed"], together["with_judges"]) == (3, 4, True)
    page = running.api.get("agreement/cases?run=sample&with_judges=true&limit=1").json()
    (case,) = page["items"]
    said = {
        one["rater"]: (one["kind"], one["verdict"], one["answer"]) for one in case["statements"]
    }
    assert said == {
        "Ann": ("person", "agent", "agent"),
        "Bob": ("person", "task", "environment"),
        "big-model": ("judge", "agent", "agent"),
    }
    texts = {one["rater"]: one["text"] for one in case["statements"]}
    assert texts == {"Ann": "Ann on 0", "Bob": "", "big-model": "because of 0"}
    rest = running.api.get(
        f"agreement/cases?run=sample&with_judges=true&after={page['next']}"
    ).json()
    assert ([one["item"] for one in rest["items"]], rest["next"]) == ([5], None)
    alone = running.api.get("agreement/cases?run=sample").json()["items"]
    assert [len(one["statements"]) for one in alone] == [2]


def test_agreement_needs_a_run_with_marks(running: Running) -> None:
    found = running.api.get("agreement?run=sample").json()
    assert found["raters"] == []
    assert found["figures"][0]["alpha"] is None
    assert found["figures"][0]["words"].startswith("Not enough")
    assert running.api.get("agreement").status_code == 422
    assert running.api.get("agreement?run=other").status_code == 404
    assert running.api.get("agreement?evaluation=evaluation").status_code == 200
    assert running.api.get("agreement/cases?run=sample&about=tag").status_code == 422


SAID = st.tuples(
    st.sampled_from(
        [
            NoteSubject(job_id="id-sample", item=0, trial=1),
            NoteSubject(job_id="id-sample", item=1, trial=0, step=1),
            NoteSubject(job_id="id-evaluation", item=0, trial=0),
            NoteSubject(thread_id="thread"),
            NoteSubject(thread_id="thread", turn_id="turn"),
        ]
    ),
    st.text(max_size=30),
    st.sampled_from(["rude", "=1+1", "a,b;c", "ü\n"]),
    st.sampled_from([None, "agent", "user", "task", "environment"]),
    st.text("Ann =,\";'", min_size=1, max_size=5).filter(str.strip),
)


@pytest.mark.slow
@settings(max_examples=min(40, settings().max_examples))
@given(st.lists(SAID, max_size=4), st.sampled_from(["csv", "json", "jsonl"]))
def test_what_is_exported_is_imported_as_it_was(
    said: list[tuple[NoteSubject, str, str, Any, str]], form: Any
) -> None:
    store = open_store()
    try:
        if not store.runs.all():
            filled(store)
        for subject, text, tag, verdict, author in said:
            store.notes.add(subject, text=text, tag=tag, verdict=verdict, author=author)
        before = list(store.notes.each(NoteFilter()))
        exported = "".join(write_notes(store, NoteFilter(), form))
        with store.engine.begin() as connection:
            connection.exec_driver_sql("DELETE FROM notes")
        assert import_notes(store, read(exported, form)) == len(before)
        assert list(store.notes.each(NoteFilter())) == before
        assert "".join(write_notes(store, NoteFilter(), form)) == exported
        with store.engine.begin() as connection:
            connection.exec_driver_sql("DELETE FROM notes")
    finally:
        store.close()


def read(text: str, form: Any) -> list[NoteRow]:
    from greenroom.evaluation.test_sets import parse_rows

    lines = io.StringIO(text, newline="" if form == "csv" else "\n")
    return list(check_rows(parse_rows(lines, form, "notes"), "notes"))
