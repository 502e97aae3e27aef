"""Agreement between people, and between people and judges, about the same episodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel

from greenroom.analysis.agreement import (
    AgreementFigure,
    Opinions,
    Question,
    RaterKind,
    count_raters,
    load_opinions,
    measure_agreement,
)
from greenroom.errors import InputError
from greenroom.playground.note_models import job_id_of
from greenroom.playground.paging import After, Limit, Page, cursor, key_of
from greenroom.playground.state import InPlayground
from greenroom.store import CellKey, JudgingRecord, NoteFilter, Store

router = APIRouter()

_LONGEST_REASON = 600
_MOST_NOTES_OF_A_CASE = 50

RunName = Annotated[str | None, Query(description="The name or id of a run.")]
EvaluationName = Annotated[str | None, Query(description="The name or id of an evaluation.")]


class RaterSummary(BaseModel):
    """Who marked episodes, and how many."""

    kind: RaterKind
    name: str
    episodes: int


class Agreement(BaseModel):
    """How far raters agree about a run or an evaluation."""

    raters: list[RaterSummary]
    figures: list[AgreementFigure]


class Statement(BaseModel):
    """What one rater says of an episode."""

    rater: str
    kind: RaterKind
    answer: str | None
    """What counts in the comparison; null if they said nothing to it."""
    verdict: str | None
    tags: list[str]
    text: str
    """Their reasons, shortened."""
    note_ids: list[str]


class DifferingCase(BaseModel):
    """An episode or a row about which raters differ."""

    item: int
    trial: int
    statements: list[Statement]


@router.get("/agreement")
def get_agreement(
    playground: InPlayground, run: RunName = None, evaluation: EvaluationName = None
) -> Agreement:
    """Krippendorff's alpha for verdicts and tags, and how many episodes and raters are behind."""
    opinions, _ = load_opinions(playground.store, _job_id(playground.store, run, evaluation))
    raters = [
        RaterSummary(kind=rater.kind, name=rater.name, episodes=number)
        for rater, number in count_raters(opinions)
    ]
    return Agreement(raters=raters, figures=measure_agreement(opinions))


@router.get("/agreement/cases")
def list_differing_cases(
    playground: InPlayground,
    run: RunName = None,
    evaluation: EvaluationName = None,
    about: Literal["verdict", "tag"] = "verdict",
    value: Annotated[str | None, Query(description="One verdict, or the tag.")] = None,
    with_judges: bool = False,
    after: After = None,
    limit: Limit = 20,
) -> Page[DifferingCase]:
    """The episodes about which raters differ, each with who says what."""
    if about == "tag" and value is None:
        raise InputError("Name the tag, as in ?about=tag&value=rude.")
    store = playground.store
    job_id = _job_id(store, run, evaluation)
    opinions, judgings = load_opinions(store, job_id)
    question = Question(about, value, with_judges)
    keys = question.differing(opinions)
    key = key_of(after, 2)
    if key is not None:
        keys = [one for one in keys if list(one) > key]
    cases = [
        DifferingCase(
            item=one[0],
            trial=one[1],
            statements=_statements(store, job_id, one, question, opinions, judgings),
        )
        for one in keys[:limit]
    ]
    return Page(items=cases, next=cursor(*keys[limit - 1]) if len(keys) > limit else None)


def _job_id(store: Store, run: str | None, evaluation: str | None) -> str:
    job_id = job_id_of(store, run, evaluation)
    if job_id is None:
        raise InputError("Name a run or an evaluation, as in ?run=NAME.")
    return job_id


def _statements(
    store: Store,
    job_id: str,
    key: CellKey,
    question: Question,
    opinions: Opinions,
    judgings: Mapping[str, JudgingRecord],
) -> list[Statement]:
    wanted = NoteFilter(job_id=job_id, item=key[0], trial=key[1])
    notes = store.notes.page(wanted, limit=_MOST_NOTES_OF_A_CASE)
    found: list[Statement] = []
    for rater, opinion in opinions[key].items():
        if rater.kind == "judge":
            if not question.with_judges:
                continue
            judgement = store.judgings.result(judgings[rater.name].id, key)
            reasons = (
                []
                if judgement is None
                else [judgement.author_description, judgement.kind_description]
            )
            ids: list[str] = []
        else:
            own = [note for note in reversed(notes) if note.author == rater.name]
            reasons: Sequence[str | None] = [note.text for note in own]
            ids = [note.id for note in own]
        found.append(
            Statement(
                rater=rater.name,
                kind=rater.kind,
                answer=question.answer(rater, opinion),
                verdict=opinion.verdict,
                tags=sorted(opinion.tags),
                text="\n".join(reason for reason in reasons if reason)[:_LONGEST_REASON],
                note_ids=ids,
            )
        )
    return found
