"""`greenroom.run` and `greenroom.evaluate` with plain callables, as in a notebook."""

from __future__ import annotations

import asyncio
import json
import signal
import threading
from contextlib import closing
from io import StringIO
from pathlib import Path
from typing import Any

import anyio
import pytest
from rich.console import Console

import greenroom
from greenroom.agents import Stage, find_strategy
from greenroom.domains.tasks import respond
from greenroom.errors import InputError
from greenroom.evaluation.evaluators import exact_match
from greenroom.store import Store, open_store

ROWS = [
    {"text": "hi", "expected": "HI"},
    {"text": "bye", "expected": "BYE"},
    {"text": "no", "expected": "yes"},
]


async def goodbye(stage: Stage) -> None:
    """Ends every conversation at once."""
    await stage.step(respond("Goodbye."))


def chatty(messages: list[dict[str, Any]]) -> dict[str, Any]:
    return {"role": "assistant", "content": f"You said {len(messages)} things."}


def shout(text: str) -> str:
    return text.upper()


def short(output: str) -> bool:
    return len(output) < 3


@pytest.fixture
def store(tmp_path: Path) -> Any:
    opened = open_store()
    yield opened
    opened.close()


@pytest.mark.parametrize("agent", ["oracle", goodbye, chatty])
def test_run_takes_a_name_or_a_plain_callable(store: Store, agent: Any) -> None:
    steps = 30 if agent == "oracle" else 3
    found = greenroom.run(
        "retail", agent=agent, trials=2, tasks=[1, 2], store=store, max_num_steps=steps
    )
    assert found.figures.planned == 4
    assert found.figures.main.pass_hat_k[1].value == (1.0 if agent == "oracle" else 0.0)
    assert [episode.key for episode in found.episodes()] == [(1, 0), (1, 1), (2, 0), (2, 1)]
    assert store.runs.find(found.name).status == "complete"


def test_both_work_where_a_loop_runs_already_and_show_progress(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    async def notebook() -> None:
        ran = greenroom.run("retail", agent=goodbye, tasks=[1], store=store)
        assert ran.figures.with_result == 1
        found = greenroom.evaluate(shout, ROWS, [exact_match, short], store=store)
        assert found.figures.with_result == 3
        again = await greenroom.evaluate_async(
            shout, ROWS, ["exact_match"], store=store, show_progress=False
        )
        assert again.evaluation.test_set_id == found.evaluation.test_set_id
        played = await greenroom.run_async("retail", tasks=[1], store=store, show_progress=False)
        assert played.figures.main.pass_hat_k[1].value == 1.0

    anyio.run(notebook)
    shown = capsys.readouterr().err
    assert "goodbye-retail-1: 1/1 (pass^1 0.00)" in shown
    assert "3/3 (exact_match 0.67)" in shown


def test_an_interrupted_cell_stops_its_run(store: Store) -> None:
    async def patient(stage: Stage) -> None:
        begun.append(stage.opening)
        if len(begun) == 1:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        await anyio.sleep(30)

    async def cell() -> None:
        greenroom.run("retail", agent=patient, tasks=[1, 2], store=store, name="interrupted")

    begun: list[str] = []
    loop = asyncio.new_event_loop()
    with closing(loop), pytest.raises(KeyboardInterrupt):
        loop.run_until_complete(cell())
    assert store.runs.find("interrupted").status == "interrupted"
    assert store.runs.finished(store.runs.find("interrupted").id) == set()


def test_callables_of_one_name_are_kept_apart(store: Store) -> None:
    def saying(word: str) -> Any:
        async def oracle(stage: Stage) -> None:
            await stage.step(respond(word))

        return oracle

    async def side_by_side() -> list[str]:
        said: dict[str, str] = {}

        async def play(word: str) -> None:
            found = await greenroom.run_async(
                "retail", agent=saying(word), tasks=[1], store=store, show_progress=False
            )
            said[word] = next(found.episodes()).steps[0].action.kwargs["content"]

        async with anyio.create_task_group() as group:
            group.start_soon(play, "one")
            group.start_soon(play, "two")
        return [said["one"], said["two"]]

    assert anyio.run(side_by_side) == ["one", "two"]
    shipped = greenroom.run("retail", agent="oracle", tasks=[1], store=store)
    again = greenroom.run("retail", agent=find_strategy("oracle"), tasks=[1], store=store)
    for found in (shipped, again):
        assert found.figures.main.pass_hat_k[1].value == 1.0
        assert found.run.config["agent_strategy"] == "oracle"


def test_evaluators_may_be_lambdas(store: Store) -> None:
    evaluators: list[Any] = [lambda output: len(output) < 3, lambda output: True]  # pyright: ignore
    found = greenroom.evaluate(shout, ROWS, evaluators, store=store)
    figures = found.figures.named()
    assert (figures["lambda.mean"].value, figures["lambda_2.mean"].value) == (2 / 3, 1.0)


def test_a_run_is_compared_saved_and_held_to_gates(store: Store, tmp_path: Path) -> None:
    before = greenroom.run("retail", agent=goodbye, tasks=range(12), store=store)
    after = greenroom.run("retail", agent="oracle", tasks=range(12), store=store)
    compared = after.compare(before)
    assert compared.regressed == []
    assert before.compare(after.name).regressed == [before.name]
    after.assert_gate("pass^1>=0.9")
    with pytest.raises(AssertionError, match=r"FAILED.*pass\^1"):
        before.assert_gate("pass^1>=0.9")
    saved = json.loads(after.save(tmp_path / "report.json").read_text())
    assert saved["kind"] == "greenroom.run"
    assert after.save(tmp_path / "episodes.csv").read_text().count("\n") == 13
    assert "<title>" in after.save(tmp_path / "report.html").read_text()
    with pytest.raises(InputError, match="no form of a report"):
        after.save(tmp_path / "report.xyz")


def test_an_evaluation_of_plain_callables(store: Store, tmp_path: Path) -> None:
    found = greenroom.evaluate(shout, ROWS, [exact_match, short], store=store, name="plain")
    figures = found.figures.named()
    assert figures["exact_match.mean"].value == pytest.approx(2 / 3)
    assert figures["short.mean"].value == pytest.approx(2 / 3)
    assert [result.outputs for result in found.results()] == ["HI", "BYE", "NO"]
    assert "<title>" in found.save(tmp_path / "report.html").read_text()
    other = greenroom.evaluate(shout, ROWS, exact_match, store=store, name="again")
    assert other.compare(found).regressed == []


def test_results_show_themselves(store: Store) -> None:
    found = greenroom.run("retail", agent="oracle", tasks=[1], store=store, name="shown")
    assert repr(found).startswith("<RunResult 'shown': Solved the only task")
    console = Console(width=100, record=True, file=StringIO())
    console.print(found)
    assert "Figures" in console.export_text()
    page = found._repr_html_()  # pyright: ignore[reportPrivateUsage]
    assert page.startswith('<iframe sandbox="allow-scripts"')


def install_only(monkeypatch: pytest.MonkeyPatch, installed: set[str]) -> None:
    def find(name: str) -> object | None:
        return object() if name in installed else None

    monkeypatch.setattr("greenroom.api.find_spec", find)


def test_to_frame(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    found = greenroom.evaluate(shout, ROWS, [exact_match], store=store)
    frame = found.to_frame()
    assert len(frame) == 3
    assert "scores.exact_match.score" in frame.columns
    install_only(monkeypatch, {"polars"})
    assert type(found.to_frame()).__module__.startswith("polars")
    install_only(monkeypatch, set())
    with pytest.raises(InputError, match="pandas or polars"):
        found.to_frame()


def test_a_chat_function_is_told_by_its_first_parameter(store: Store) -> None:
    rows = [{"question": "hi", "expected": "You said 1 things."}]
    found = greenroom.evaluate(chatty, rows, ["exact_match"], store=store)
    assert found.evaluation.is_chat
    assert found.figures.named()["exact_match.mean"].value == 1.0


def test_what_cannot_play_is_refused(store: Store) -> None:
    with pytest.raises(InputError, match="not usable as agent strategy"):
        greenroom.run("retail", agent=object(), store=store)
    with pytest.raises(InputError, match="give an object as `agent`"):
        greenroom.run(workflow=chatty, store=store)
    with pytest.raises(InputError, match="no tasks to play"):
        greenroom.run("retail", agent="oracle", tasks=[], store=store)
