"""A store with something of everything, as a person has after a day."""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio

from greenroom.benchmark import check_config, play_run, start_run
from greenroom.evaluation import check_evaluation_config, run_evaluation, start_evaluation
from greenroom.store import EvaluationRecord, NoteSubject, RunRecord, Store
from tests.conftest import ROOT
from tests.playground.conftest import Running

DESK = Path(os.path.relpath(ROOT / "examples/workflows/library_desk.py"))
CHAT = f"{DESK}:library_desk"
COMPLETION = f"{DESK}:shelf_mark"

BOOKS = [
    {"title": "Middlemarch", "expected": {"title": "Middlemarch", "mark": "E4", "known": True}},
    {"title": "Solaris", "expected": {"title": "Solaris", "mark": "L1", "known": True}},
    {"title": "Ulysses", "expected": {"title": "Ulysses", "mark": "U2", "known": True}},
]
QUESTIONS = [
    {
        "messages": [{"role": "user", "content": f"Is {title} in?"}],
        "expected": {"role": "assistant", "content": answer},
    }
    for title, answer in (("Solaris", "Friday"), ("The Waves", "W7"), ("Ulysses", "no"))
]


def in_thread(work: Callable[[], Coroutine[Any, Any, object]]) -> None:
    """Run this in another thread: a browser's event loop may be running in this one."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(anyio.run, work).result()


def play(
    store: Store, strategy: str, name: str, *, tasks: int = 8, trials: int = 2, seed: int = 10
) -> RunRecord:
    """A run of an agent without a model."""
    fields = {
        "agent_strategy": strategy,
        "num_trials": trials,
        "end_index": tasks,
        "seed": seed,
    }
    run, context = start_run(store, check_config(fields), name=name)
    in_thread(lambda: play_run(store, run, context))
    return store.runs.find(name)


def evaluate(
    store: Store, workflow: str, test_set: str, evaluators: list[str], name: str
) -> EvaluationRecord:
    """An evaluation of a workflow over a test set of the store."""
    config = check_evaluation_config(
        {"workflow": workflow, "test_set": test_set, "evaluators": evaluators}
    )

    async def run() -> None:
        evaluation, context = await start_evaluation(store, config, name=name)
        await run_evaluation(store, evaluation, context)

    in_thread(run)
    return store.evaluations.find(name)


def seed(store: Store) -> None:
    """Runs, test sets, evaluations and notes."""
    play(store, "oracle", "oracle")
    play(store, "synthetic", "monday")
    play(store, "synthetic", "tuesday", seed=11)
    store.test_sets.save("books", BOOKS, note="three books")
    store.test_sets.save("questions", QUESTIONS, note="three questions")
    evaluate(store, COMPLETION, "books", ["exact_match"], "marks")
    evaluate(store, CHAT, "questions", ["contains"], "desk")
    evaluate(store, CHAT, "questions", ["contains"], "desk-again")
    _mark(store)


def _mark(store: Store) -> None:
    """Two people mark the same episodes, and differ about one of them."""
    run = store.runs.find("monday")
    for task in range(6):
        subject = NoteSubject(job_id=run.id, item=task, trial=0)
        ann = "task" if task == 3 else "agent"
        store.notes.add(subject, text="It never asked.", tag="tone", verdict=ann, author="Ann")
        verdict = "agent" if task else "user"
        store.notes.add(subject, text="The order was wrong.", verdict=verdict, author="Bob")


def names_of(running: Running) -> dict[str, Any]:
    """The names that the addresses of pages need; boards are made for them."""
    store = running.store
    monday = store.runs.find("monday")
    failed = next(one for one in store.runs.summaries(monday.id) if one.outcome != "success")
    listed = running.api.get("workflows").raise_for_status().json()["items"]
    address = {one["name"]: one["address"] for one in listed}
    boards: dict[str, str] = {}
    for name, workflow in (("chat", "library_desk"), ("completion", "shelf_mark")):
        specification: dict[str, Any] = {"address": address[workflow]}
        if name == "completion":
            specification["inputs"] = {"title": "Solaris"}
        made = running.api.post("boards", json={"title": name, "threads": [specification]})
        boards[name] = made.raise_for_status().json()["id"]
    thread = running.api.get(f"boards/{boards['chat']}").json()["threads"][0]
    said = {
        "version": thread["version"],
        "messages": [{"role": "user", "content": "Is Solaris in?"}],
    }
    running.api.post(f"threads/{thread['id']}/turns", json=said).raise_for_status()
    # The same conversation over another set of parameters.
    brief = {"address": address["library_desk"], "parameters": {"tone": "brief"}, "copy_of": 0}
    running.api.post(f"boards/{boards['chat']}/columns", json=brief).raise_for_status()
    running.api.post(f"boards/{boards['chat']}/run", json={}).raise_for_status()
    running.api.post(f"boards/{boards['completion']}/run", json={}).raise_for_status()
    return {**boards, "task": failed.task_index, "trial": failed.trial}


__all__ = [
    "BOOKS",
    "CHAT",
    "COMPLETION",
    "DESK",
    "QUESTIONS",
    "evaluate",
    "names_of",
    "play",
    "seed",
]
