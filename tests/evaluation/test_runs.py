from __future__ import annotations

import gc
import json
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import anyio
import pytest

from greenroom import chat_workflow, workflow
from greenroom.api import evaluate
from greenroom.errors import DataError, InputError, UnknownName
from greenroom.evaluation import (
    check_evaluation_config,
    find_test_set,
    reopen_evaluation,
    run_evaluation,
    start_evaluation,
)
from greenroom.evaluation.cells import RowCell
from greenroom.models import BudgetExhausted
from greenroom.store import ResultRecord, Store, open_store, this_process
from greenroom.workflows import LocalTarget, Workflow, report_usage
from greenroom.workflows.calls import WorkflowUnavailable
from tests.evaluation.evaluating import QUESTIONS, chatting, completing, evaluated, scores
from tests.store.samples import hold

CHATS = [
    {"chat": [{"role": "user", "content": row["question"]}], "expected": row["expected"]}
    for row in QUESTIONS
]


def config(**fields: Any) -> Any:
    given = {"workflow": "w", "test_set": "rows", "evaluators": ["exact_match"], **fields}
    return check_evaluation_config(given)


def go_on(store: Store, name: str, target: Workflow, **changes: Any) -> None:
    """Resume an evaluation of a workflow of this process."""

    async def resume() -> None:
        found, prepared = await reopen_evaluation(store, name, changes, target=LocalTarget(target))
        await run_evaluation(store, found, prepared)

    anyio.run(resume)


def test_a_chat_workflow_over_texts(store: Store) -> None:
    found = evaluated(store, chatting, QUESTIONS)
    assert scores(found) == [1.0, 1.0, 0.0]
    record = store.evaluations.find(found.name)
    assert (record.status, record.is_chat, record.row_count) == ("complete", True, 3)
    assert found.figures.evaluators[0].passed.value == pytest.approx(2 / 3)
    last = list(found.results())[2]
    assert last.outputs == {"role": "assistant", "content": "I do not know."}
    score = last.scores["exact_match"]
    assert (score.compared, score.against) == ("I do not know.", "Lima")


@pytest.mark.parametrize(
    ("target", "rows", "treat_as", "is_chat"),
    [
        (completing, QUESTIONS, None, False),
        (completing, CHATS, None, False),
        (chatting, CHATS, None, True),
        (chatting, CHATS, "completion", False),
        (chatting, QUESTIONS, "completion", False),
        (chatting, QUESTIONS, "chat", True),
    ],
)
def test_chats_and_completions_on_each_others_test_sets(
    target: Workflow, rows: list[dict[str, Any]], treat_as: str | None, is_chat: bool
) -> None:
    found = evaluated(open_store(), target, rows, treat_as=treat_as)
    assert scores(found) == [1.0, 1.0, 0.0]
    assert found.evaluation.is_chat is is_chat
    compared = [result.scores["exact_match"].compared for result in found.results()]
    assert compared == ["Paris", "Rome", "I do not know."]


def test_what_takes_no_messages_is_not_evaluated_as_chat() -> None:
    with pytest.raises(InputError, match=r"takes no messages.*leave out --as chat.*question"):
        evaluated(open_store(), completing, QUESTIONS, treat_as="chat")


def test_every_row_is_given_as_often_as_asked(store: Store) -> None:
    seen: Counter[str] = Counter()

    @workflow
    def counting(question: str) -> str:
        seen[question] += 1
        return "Paris"

    found = evaluated(store, counting, QUESTIONS, repeats=3, row_limit=2)
    assert list(seen.values()) == [3, 3]
    keys = [(result.row, result.repeat) for result in found.results()]
    assert keys == [(row, repeat) for row in range(2) for repeat in range(3)]
    assert (found.evaluation.planned, found.figures.rows) == (6, 2)


@pytest.mark.parametrize("at_once", [1, 3])
def test_no_more_calls_are_under_way_than_allowed(at_once: int) -> None:
    under_way, most = 0, 0

    @workflow
    async def slow(n: int) -> int:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await anyio.sleep(0.01)
        under_way -= 1
        return n

    rows = [{"n": n, "expected": n} for n in range(12)]
    found = evaluated(open_store(), slow, rows, max_concurrency=at_once)
    assert most == at_once
    assert scores(found) == [1.0] * 12


@pytest.mark.slow
def test_only_what_is_under_way_is_held_in_memory() -> None:
    store = open_store()
    store.test_sets.save("rows", [{"n": n, "expected": n} for n in range(1_000)])
    held: list[int] = []
    done = 0

    @workflow
    async def same(n: int) -> int:
        return n

    def note(record: ResultRecord) -> None:
        nonlocal done
        done += 1
        if done % 200 == 0:
            held.append(sum(isinstance(one, (ResultRecord, RowCell)) for one in gc.get_objects()))

    async def run() -> None:
        found, prepared = await start_evaluation(store, config(), target=LocalTarget(same))
        await run_evaluation(store, found, prepared, on_result=note)

    anyio.run(run)
    assert len(held) == 5
    assert max(held) <= 4 * 10, "cells and records of ten calls at once"


def test_as_many_plain_functions_run_at_once_as_calls() -> None:
    together = threading.Barrier(60, timeout=20)

    @workflow
    def meeting(n: int) -> int:
        together.wait()
        return n

    rows = [{"n": n, "expected": n} for n in range(60)]
    found = evaluated(open_store(), meeting, rows, max_concurrency=60)
    assert scores(found) == [1.0] * 60


class Moody:
    """A workflow that fails on purpose, and remembers what it was called with."""

    def __init__(self, failures: int, rows: tuple[int, ...] = (1,)) -> None:
        self.left = dict.fromkeys(rows, failures)
        self.called: list[int] = []

        @workflow(name="moody")
        def moody(n: int) -> str:
            self.called.append(n)
            report_usage(prompt_tokens=10, completion_tokens=1, cost=0.5)
            if self.left.get(n, 0):
                self.left[n] -= 1
                raise WorkflowUnavailable("the line is dead")
            return "ok"

        self.workflow = moody


ROWS = [{"n": n, "expected": "ok"} for n in range(4)]


@pytest.mark.slow
def test_a_call_without_an_answer_is_made_again(store: Store) -> None:
    moody = Moody(failures=2)
    found = evaluated(store, moody.workflow, ROWS)
    assert scores(found) == [1.0] * 4
    assert Counter(moody.called)[1] == 3
    assert [result.attempts for result in found.results()] == [1, 3, 1, 1]
    attempts = store.evaluations.attempts(found.evaluation.id)
    assert [(one.key[0], one.error) for one in attempts] == [(1, "the line is dead")] * 2


def test_an_error_stays_an_error_and_is_never_a_zero(store: Store) -> None:
    moody = Moody(failures=9)
    found = evaluated(store, moody.workflow, ROWS, max_retries=1)
    figures = found.figures
    assert (figures.errors, figures.with_result) == (1, 3)
    assert figures.evaluators[0].mean.value == 1.0
    assert figures.common_errors == {"the line is dead": 1}
    broken = list(found.results())[1]
    assert (broken.outcome, broken.scores, broken.attempts) == ("infrastructure_error", {}, 2)
    assert store.evaluations.find(found.name).status == "interrupted"


def test_resuming_calls_only_what_has_no_result(store: Store) -> None:
    moody = Moody(failures=9, rows=(1, 3))
    found = evaluated(store, moody.workflow, ROWS, max_retries=0, name="moody")
    moody.left, moody.called[:] = {}, []
    go_on(store, "moody", moody.workflow)
    assert sorted(moody.called) == [1, 3]
    assert store.evaluations.find("moody").status == "complete"
    assert scores(found) == [1.0] * 4
    assert len(store.evaluations.attempts(found.evaluation.id)) == 2
    go_on(store, "moody", moody.workflow)
    assert sorted(moody.called) == [1, 3], "there was nothing left to do"


def test_what_is_refused_is_not_tried_again(store: Store) -> None:
    found = evaluated(store, Moody(0).workflow, [{"n": "seven", "expected": "ok"}])
    (result,) = found.results()
    assert (result.outcome, result.attempts) == ("infrastructure_error", 1)
    assert "inputs.n: Input should be a valid integer" in (result.error or "")


def test_money_is_counted_by_purse(store: Store) -> None:
    found = evaluated(store, Moody(failures=1).workflow, ROWS)
    agent = found.figures.purses["agent"]
    assert (agent.calls, agent.cost, agent.tokens) == (5, 2.0, 44)
    assert found.figures.cost == 2.0
    assert [result.cost for result in found.results()] == [0.5] * 4


def test_what_nobody_tells_the_price_of_is_not_free() -> None:
    found = evaluated(open_store(), chatting, QUESTIONS)
    assert found.figures.cost is None
    assert [result.cost for result in found.results()] == [None] * 3


def test_a_spent_budget_ends_it_and_a_larger_one_goes_on(store: Store) -> None:
    moody = Moody(0)
    options: dict[str, Any] = {"max_cost": 0.9, "max_concurrency": 1, "name": "dear"}
    with pytest.raises(BudgetExhausted, match=r"The budget of \$0.90 is spent"):
        evaluated(store, moody.workflow, ROWS, **options)
    assert moody.called == [0, 1]
    with pytest.raises(BudgetExhausted):
        go_on(store, "dear", moody.workflow)
    assert moody.called == [0, 1], "what was spent before counts"
    go_on(store, "dear", moody.workflow, max_cost=9)
    assert moody.called == [0, 1, 2, 3]
    assert store.evaluations.find("dear").status == "complete"


def test_one_process_at_a_time(store: Store) -> None:
    moody = Moody(failures=9)
    found = evaluated(store, moody.workflow, ROWS, max_retries=0, name="held")
    hold(store.evaluations, found.evaluation, this_process())
    calls = len(moody.called)
    with pytest.raises(InputError, match="Another process works on the evaluation 'held'"):
        go_on(store, "held", moody.workflow)
    assert len(moody.called) == calls


def test_stopped_in_the_middle_what_is_done_is_kept(store: Store) -> None:
    store.test_sets.save("rows", [{"n": n, "expected": n} for n in range(20)])

    @workflow
    async def slow(n: int) -> int:
        if n == 5:
            report_usage(cost=0.25)
            await anyio.sleep(30)
        return n

    kept: list[ResultRecord] = []

    async def interrupted() -> str:
        found, prepared = await start_evaluation(store, config(), target=LocalTarget(slow))
        async with anyio.create_task_group() as group:

            def note(record: ResultRecord) -> None:
                kept.append(record)
                if len(kept) == 19:
                    group.cancel_scope.cancel()

            async def run() -> None:
                await run_evaluation(store, found, prepared, on_result=note)

            group.start_soon(run)
        return found.id

    key = anyio.run(interrupted)
    assert store.evaluations.finished(key) == {(n, 0) for n in range(20) if n != 5}
    assert store.evaluations.find(key).status == "interrupted"


def test_an_evaluator_that_a_person_has_to_mend_ends_it(store: Store) -> None:
    judge = "llm_judge:model=m,api_base=http://127.0.0.1:9/v1,prompt={{weather}}"
    with pytest.raises(InputError, match=r"prompt has \{\{weather\}\}"):
        evaluated(store, chatting, QUESTIONS, judge)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"evaluators": []}, "Say how outputs are scored: --evaluator exact_match"),
        ({"evaluators": ["exact_mach"]}, "Did you mean 'exact_match'"),
        ({"evaluators": ["exact_match", "exact_match"]}, "Two evaluators are called"),
        ({"evaluators": ["exact_match:casing=1"]}, "Unknown setting of the exact_match evaluator"),
        ({"gates": ["contains>=1"]}, "Unknown subject of a gate 'contains'"),
        ({"gates": ["exact_match"]}, "is no gate"),
        ({"rows": "nothing"}, "Unknown test set 'nothing'"),
        ({"rows": "rows@7"}, "has no version 7"),
        ({"message": "nothing"}, "Unknown column 'nothing'"),
        ({"expected": "nothing"}, "Unknown column 'nothing'"),
        ({"prices": "missing.json"}, "missing.json"),
    ],
)
def test_nothing_is_called_or_kept_if_anything_is_amiss(fields: dict[str, Any], words: str) -> None:
    store = open_store()
    moody = Moody(0)
    given: dict[str, Any] = {"rows": "rows", "evaluators": ["exact_match"], **fields}
    store.test_sets.save("rows", ROWS)
    with pytest.raises(InputError, match=words):
        evaluate(moody.workflow, store=store, **given)
    assert moody.called == []
    assert store.evaluations.all() == []


def test_every_row_is_looked_at_before_the_first_call() -> None:
    store = open_store()
    moody = Moody(0)
    rows: list[dict[str, Any]] = [*ROWS] * 300 + [{"m": 1}]
    with pytest.raises(InputError, match="Row 1201 has no n, which the workflow needs"):
        evaluated(store, moody.workflow, rows)
    assert (moody.called, store.evaluations.all()) == ([], [])


def test_simulated_users_are_checked_only_where_there_are_any() -> None:
    store = open_store()
    evaluated(store, chatting, QUESTIONS, user_strategy="llm")
    goals = [{"goal": "Find the capital of France", "expected": "Paris"}]
    with pytest.raises(InputError, match="The llm user asks a language model: name it by"):
        evaluated(store, chatting, goals, user_strategy="llm")


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("repeats", 0, "--repeats should be greater than or equal to 1, not 0"),
        ("treat_as", "x", "--treat-as should be 'chat' or 'completion', not 'x'"),
        ("row_limit", -1, "--rows should be"),
        ("timeout", 0, "--timeout should be greater than 0"),
    ],
)
def test_settings_that_will_not_do_are_told_by_their_flag(
    field: str, value: Any, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        config(**{field: value})


def test_a_file_is_imported_and_a_new_version_made_only_if_it_changed(tmp_path: Path) -> None:
    store = open_store()
    file = tmp_path / "cities.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in QUESTIONS))
    first = evaluate(chatting, file, ["exact_match"], store=store)
    again = evaluate(chatting, str(file), ["exact_match"], store=store)
    assert [str(find_test_set(store, name)) for name in ("cities", str(file))] == ["cities@1"] * 2
    assert first.name != again.name
    file.write_text(json.dumps(QUESTIONS[0]) + "\n")
    changed = evaluate(chatting, file, ["exact_match"], store=store)
    versions = [one.evaluation.test_set_version for one in (first, again, changed)]
    assert versions == [1, 1, 2]
    old = evaluate(chatting, "cities@1", ["exact_match"], store=store)
    assert old.evaluation.row_count == 3


def test_files_that_cannot_be_a_test_set(tmp_path: Path) -> None:
    store = open_store()
    (tmp_path / "rows.txt").write_text("question\nHi\n")
    with pytest.raises(InputError, match="does not tell its format"):
        find_test_set(store, str(tmp_path / "rows.txt"))
    with pytest.raises(DataError, match=r"missing\.csv is missing"):
        find_test_set(store, str(tmp_path / "missing.csv"))
    with pytest.raises(UnknownName, match="Unknown test set 'rows'"):
        find_test_set(store, "rows")


def test_an_evaluation_keeps_its_version_of_the_test_set() -> None:
    store = open_store()
    moody = Moody(failures=9)
    evaluated(store, moody.workflow, ROWS, max_retries=0, name="old")
    store.test_sets.save("rows", [{"n": 99, "expected": "ok"}])
    moody.left, moody.called[:] = {}, []
    go_on(store, "old", moody.workflow)
    assert moody.called == [1]


def test_a_workflow_that_chats_no_more_is_not_gone_on_with() -> None:
    store = open_store()
    evaluated(store, chatting, QUESTIONS, name="before")

    @workflow
    def chatting_no_more(question: str) -> str:
        return question

    with pytest.raises(InputError, match="has changed: it was evaluated as chat, and no longer"):
        go_on(store, "before", chatting_no_more)


def test_odd_outputs_and_scores_are_kept_as_well_as_json_can(store: Store, tmp_path: Path) -> None:
    functions = tmp_path / "odd.py"
    functions.write_text(
        "def sets(output):\n"
        "    return {'score': 1, 'compared': {1}, 'against': float('nan')}\n"
        "def objects(output):\n"
        "    return {'score': float('nan'), 'compared': object()}\n"
        "def raises(output):\n"
        "    raise RuntimeError('no')\n"
    )

    @workflow
    def odd(n: int) -> Any:
        return {"nan": float("nan"), "half": "\ud800", "zero": "\0"}

    names = ("sets", "objects", "raises")
    specs = [f"{name}=python:function={functions}:{name}" for name in names]
    found = evaluated(store, odd, [{"n": 1}], *specs)
    (result,) = found.results()
    assert result.outputs == {"nan": None, "half": "\ud800", "zero": "\0"}
    assert (result.scores["sets"].score, result.scores["sets"].against) == (1.0, None)
    assert result.scores["objects"].score is None
    assert result.scores["raises"].broken
    figures = {one.alias: one for one in found.figures.evaluators}
    assert (figures["objects"].unscored, figures["raises"].broken) == (1, 1)


def test_parameters_go_along_with_every_call() -> None:
    @chat_workflow(parameters={"tone": "kind"})
    def toned(messages: list[dict[str, Any]], parameters: dict[str, Any]) -> dict[str, Any]:
        return {"role": "assistant", "content": parameters["tone"]}

    found = evaluated(
        open_store(), toned, [{"q": "Hi", "expected": "warm"}], parameters={"tone": "warm"}
    )
    assert scores(found) == [1.0]


def test_a_workflow_that_takes_too_long_has_not_answered() -> None:
    @workflow
    async def hanging(n: int) -> int:
        await anyio.sleep(n * 30)
        return n

    rows = [{"n": n, "expected": n} for n in (0, 1)]
    found = evaluated(open_store(), hanging, rows, timeout=0.05, max_retries=1)
    quick, slow = found.results()
    assert (quick.outcome, slow.outcome, slow.attempts) == ("answered", "infrastructure_error", 2)
    assert slow.error == "It did not answer within 0.05 seconds."


def test_a_workflow_of_a_module_can_be_gone_on_with_by_name() -> None:
    found = evaluated(open_store(), chatting, QUESTIONS)
    assert found.evaluation.workflow == "tests.evaluation.evaluating:chatting"
    nested = evaluated(open_store(), Moody(0).workflow, ROWS)
    assert nested.evaluation.workflow == "moody"


def test_failed_gates_are_asserted_with_what_did_not_pass() -> None:
    found = evaluated(open_store(), chatting, [*QUESTIONS] * 5, name="cities")
    found.assert_gate("exact_match>=0.6", "errors<=0")
    with pytest.raises(AssertionError) as error:
        found.assert_gate("exact_match>=0.99")
    assert "FAILED  exact_match>=0.99: exact_match.mean is 0.667" in str(error.value)
    assert "row 3, exact_match: compared 'I do not know.' against 'Lima'" in str(error.value)
    assert "greenroom evals show cities" in str(error.value)
    found.assert_gate("exact_match>=0.7")
    with pytest.raises(AssertionError):
        found.assert_gate("exact_match>=0.7", strict=True)
