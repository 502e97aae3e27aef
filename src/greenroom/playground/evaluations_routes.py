"""The API of evaluations: start, watch, stop and resume them, read results, compare two of them."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Annotated

import anyio.to_thread
from fastapi import APIRouter, Depends, FastAPI, Query, Request
from fastapi import Path as InPath

from greenroom.errors import InputError, UnknownName
from greenroom.evaluation import check_evaluation_config, evaluator_names
from greenroom.playground.evaluation_comparisons import (
    RowComparison,
    compare_rows,
    compared_rows,
)
from greenroom.playground.evaluation_jobs import EvaluationJobs, evaluation_jobs
from greenroom.playground.evaluation_models import (
    Change,
    ComparedRow,
    Evaluation,
    EvaluationComparisonPage,
    EvaluationItem,
    EvaluationReportPage,
    Evaluators,
    Result,
    ResultItem,
)
from greenroom.playground.evaluation_requests import (
    OPTIONS_SCHEMA,
    EvaluationRequest,
    config_of,
    evaluator_info,
    in_page_words,
    target_of,
    workflow_of,
)
from greenroom.playground.evaluation_views import (
    evaluation_item,
    evaluation_of,
    result_item,
    whole_result,
)
from greenroom.playground.paging import After, Limit, Page, key_of, numbers_of, page_of
from greenroom.playground.remembered import Remembered
from greenroom.playground.runs_routes import Gate
from greenroom.playground.shown import shown
from greenroom.playground.state import InPlayground, Playground
from greenroom.reports.evaluation_figures import build_figures
from greenroom.store import (
    EvaluationRecord,
    ResultFilter,
    Standing,
    cell_filter,
    evaluated_rows,
)

MOST_NUMBER = 2**31 - 1
"""The largest position of a row that databases take."""


@dataclass(frozen=True)
class EvaluationState:
    """What the requests about evaluations share."""

    jobs: EvaluationJobs
    figures: Remembered[EvaluationReportPage] = field(
        default_factory=Remembered[EvaluationReportPage]
    )
    comparisons: Remembered[RowComparison] = field(
        default_factory=lambda: Remembered[RowComparison](4)
    )


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncGenerator[None]:
    """Evaluations live with the application: what is under way at its end is stopped."""
    opened = evaluation_jobs(app.state.playground.store)
    jobs = await anyio.to_thread.run_sync(opened.__enter__)
    app.state.evaluations = EvaluationState(jobs)
    try:
        yield
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(opened.__exit__, None, None, None)


def _state(request: Request) -> EvaluationState:
    return request.app.state.evaluations


router = APIRouter(lifespan=_lifespan)

InEvaluations = Annotated[EvaluationState, Depends(_state)]
Number = Annotated[int, InPath(ge=0, le=MOST_NUMBER)]
First = Annotated[str, Query(description="The evaluation before: the baseline.")]
Second = Annotated[str, Query(description="The evaluation that is compared with it.")]


@router.get("/evaluators")
def list_evaluators() -> Evaluators:
    """The evaluators that pages can choose, and the options of an evaluation, as JSON schemas."""
    items = [evaluator_info(name) for name in evaluator_names()]
    return Evaluators(items=items, options=OPTIONS_SCHEMA)


@router.get("/evaluations")
def list_evaluations(
    playground: InPlayground,
    state: InEvaluations,
    q: Annotated[str, Query(description="Stands in the name, workflow or test set.")] = "",
    test_set: Annotated[str | None, Query(description="Only those of this test set.")] = None,
    after: After = None,
    limit: Limit = 50,
) -> Page[EvaluationItem]:
    """Evaluations, the newest first: those that a terminal works on now, too."""
    key = key_of(after, 2)
    place = None if key is None else (str(key[0]), str(key[1]))
    pages = playground.store.evaluations.pages
    found = pages.jobs(after=place, limit=limit + 1, text=q, test_set=test_set)
    items = [evaluation_item(one, state.jobs) for one in found]
    return page_of(items, limit, lambda one: (one.created_at, one.id))


@router.post("/evaluations", status_code=201)
async def create_evaluation(
    playground: InPlayground, state: InEvaluations, wanted: EvaluationRequest
) -> Evaluation:
    """Start an evaluation in this server. It goes on when the page is closed.

    Everything is checked before anything is called. What is refused leaves nothing behind.
    """
    workflow = await workflow_of(playground, wanted.workflow)

    def start() -> Evaluation:
        config = config_of(playground.store, wanted, workflow)
        found = state.jobs.start(config, wanted.name or None, target_of(playground, config))
        return _evaluation(playground, state, found.id)

    try:
        return await anyio.to_thread.run_sync(start)
    except InputError as error:
        raise in_page_words(error) from error


@router.get("/evaluations/compare")
def compare_two_evaluations(
    playground: InPlayground, state: InEvaluations, a: First, b: Second
) -> EvaluationComparisonPage:
    """Two evaluations of the same rows: the verdict in words, figures of both, what changed.

    `GET /evaluations/compare/rows` lists the rows.
    """
    pair, found = _compared(playground, state, a, b)
    counts = {change: len(rows) for change, rows in found.by_change.items()}
    items = [evaluation_item(_standing(playground, one.id), state.jobs) for one in pair]
    return EvaluationComparisonPage(
        a=items[0],
        b=items[1],
        verdict=found.compared.verdict,
        sentence=found.report.headline,
        notes=found.report.notes,
        sections=shown(found.report.sections),
        evaluators=[one.alias for one in found.compared.evaluators],
        broke=counts["broke"],
        healed=counts["healed"],
        same=counts["same"],
        left_out=found.left_out,
    )


@router.get("/evaluations/compare/rows")
def list_compared_rows(
    playground: InPlayground,
    state: InEvaluations,
    a: First,
    b: Second,
    change: Annotated[Change | None, Query(description="Only rows that changed so.")] = None,
    after: After = None,
    limit: Limit = 50,
) -> Page[ComparedRow]:
    """The rows that both have an answer of, with both outputs, by position."""
    pair, found = _compared(playground, state, a, b)
    key = numbers_of(after, 1)
    rows = found.rows(change, None if key is None else key[0], limit + 1)
    page = page_of(rows, limit, lambda row: (row,))
    items = compared_rows(playground.store, pair, found, page.items)
    return Page(items=items, next=page.next)


@router.post("/evaluations/{name:path}/stop")
def stop_evaluation(playground: InPlayground, state: InEvaluations, name: str) -> Evaluation:
    """Stop an evaluation that this server works on. What is finished is kept."""
    state.jobs.stop(playground.store.evaluations.find(name))
    return _evaluation(playground, state, name)


@router.post("/evaluations/{name:path}/resume")
def resume_evaluation(playground: InPlayground, state: InEvaluations, name: str) -> Evaluation:
    """Go on with an evaluation in this server: only calls without a result are made."""
    evaluation = playground.store.evaluations.find(name)
    state.jobs.check_free(evaluation)
    config = check_evaluation_config(evaluation.config)
    state.jobs.resume(evaluation, target_of(playground, config))
    return _evaluation(playground, state, name)


@router.get("/evaluations/{name:path}/report")
def get_evaluation_report(
    playground: InPlayground, state: InEvaluations, name: str
) -> EvaluationReportPage:
    """The figures of an evaluation with intervals, as its report has them.

    While a large evaluation is under way they may be some seconds old: `counted` says of how many
    results they are.
    """
    store = playground.store
    evaluation = store.evaluations.find(name)
    counts = store.evaluations.pages.outcomes(evaluation.id)

    def build() -> EvaluationReportPage:
        report = build_figures(store, evaluation)
        return EvaluationReportPage(
            headline=report.headline,
            notes=report.notes,
            facts=report.facts,
            gates=[
                Gate(gate=one.gate, verdict=one.verdict, passed=one.passed, reason=one.reason)
                for one in report.gates
            ],
            sections=shown(report.sections),
            counted=sum(counts.values()),
        )

    moving = evaluation.status == "running"
    return state.figures.get(evaluation.id, (counts, evaluation.status), build, moving=moving)


@router.get("/evaluations/{name:path}/results")
def list_results(
    playground: InPlayground,
    name: str,
    outcome: Annotated[str | None, Query(description="Only results that ended so.")] = None,
    failed: Annotated[bool, Query(description="Only what did not pass.")] = False,
    evaluator: Annotated[str | None, Query(description="Only what this one looked at.")] = None,
    q: Annotated[str, Query(description="Stands in the row or the result.")] = "",
    row: Annotated[int | None, Query(ge=0, le=MOST_NUMBER)] = None,
    after: After = None,
    limit: Limit = 50,
) -> Page[ResultItem]:
    """Results by row and repeat: inputs, outputs, scores, and what was compared with what."""
    store = playground.store
    evaluation = store.evaluations.find(name)
    aliases = [str(one["alias"]) for one in evaluation.evaluators]
    if evaluator is not None and evaluator not in aliases:
        raise UnknownName("evaluator", evaluator, aliases)
    wanted = ResultFilter(outcome=outcome, failed=failed, evaluator=evaluator, text=q, row=row)
    key = numbers_of(after, 2)
    records = store.evaluations.pages.records(
        evaluation.id,
        after=None if key is None else (key[0], key[1]),
        limit=limit + 1,
        wanted=cell_filter(store.engine, evaluation, wanted),
    )
    page = page_of(records, limit, lambda one: one.key)
    rows = evaluated_rows(store.engine, evaluation, (one.row for one in page.items))
    items = [result_item(evaluation, one, rows[one.row]) for one in page.items]
    return Page(items=items, next=page.next)


@router.get("/evaluations/{name:path}/results/{item}/{trial}")
def get_result(playground: InPlayground, name: str, item: Number, trial: Number) -> Result:
    """One result as a whole: the conversation, raw outputs, what was compared with what."""
    store = playground.store
    evaluation = store.evaluations.find(name)
    record = store.evaluations.result(evaluation.id, (item, trial))
    if record is None:
        raise UnknownName("result", f"row {item + 1}, repeat {trial + 1}", ())
    row = evaluated_rows(store.engine, evaluation, [item])[item]
    trials = store.evaluations.pages.trials(evaluation.id, item)
    return whole_result(evaluation, record, row, trials)


@router.get("/evaluations/{name:path}")  # the last of these: a name may have slashes in it
def get_evaluation(playground: InPlayground, state: InEvaluations, name: str) -> Evaluation:
    """One evaluation, by its name or id: how it stands now."""
    return _evaluation(playground, state, name)


def _evaluation(playground: Playground, state: EvaluationState, name: str) -> Evaluation:
    return evaluation_of(playground.store, _standing(playground, name), state.jobs)


def _standing(playground: Playground, name: str) -> Standing[EvaluationRecord]:
    jobs = playground.store.evaluations
    found = jobs.pages.standing(jobs.find(name).id)
    if found is None:
        raise InputError(f"The evaluation '{name}' was just deleted.")
    return found


def _compared(
    playground: Playground, state: EvaluationState, a: str, b: str
) -> tuple[tuple[EvaluationRecord, EvaluationRecord], RowComparison]:
    store = playground.store
    pair = (store.evaluations.find(a), store.evaluations.find(b))
    if pair[0].id == pair[1].id:
        raise InputError(f"'{pair[0].name}' is compared with itself: choose another evaluation.")
    counts = [store.evaluations.pages.outcomes(one.id) for one in pair]
    found = state.comparisons.get(
        (pair[0].id, pair[1].id),
        counts,
        lambda: compare_rows(store, *pair),
        moving="running" in (pair[0].status, pair[1].status),
    )
    return pair, found
