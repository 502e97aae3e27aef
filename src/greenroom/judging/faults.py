"""Who was at fault in a failed episode, and how: asked of a language model.

Two questions, as Tau Bench's error identification asks them: whose doing the failure is, and, if
it is the agent's, what it did wrong. The judge sees the task with its ground truth, the
conversation, and what `analysis.errors` finds by comparing them.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from greenroom.analysis.errors import diagnose
from greenroom.analysis.figures import Diagnosis
from greenroom.errors import InputError, redacted
from greenroom.judging.answers import (
    KIND,
    SYSTEM,
    AnswerT,
    Assignment,
    KindAnswer,
    assignment,
    parse_answer,
    response_format,
)
from greenroom.judging.evidence import DETAILS, evidence
from greenroom.models.json_answers import RETRIES, Unusable, ask_for
from greenroom.models.purses import Ledger
from greenroom.models.types import (
    BudgetExhausted,
    ChatMessage,
    ContextWindowExceeded,
    Model,
    ModelError,
)
from greenroom.store import NO_RESULT, EpisodeRecord, JudgementRecord


async def judge_episode(
    model: Model, episode: EpisodeRecord, ledger: Ledger, *, policy: str, attempt: int = 1
) -> JudgementRecord:
    """A model's verdict on a failed episode; the ledger counts what the model takes.

    A model that gives no usable answer leaves a judgement with an error.
    """
    diagnosis = diagnose(episode)
    if diagnosis is None:
        raise InputError(
            f"Task {episode.task_index}, trial {episode.trial} was solved: nobody is at fault."
        )
    hearing, verdict = _Hearing(model), dict[str, Any]()
    started_at, start, error = datetime.now(UTC), time.monotonic(), None
    try:
        assignment = await _assignment(hearing, episode, diagnosis, policy)
        verdict |= {"author": assignment.author, "author_description": assignment.description}
        if assignment.author == "user":
            verdict["author_words"] = assignment.words or None
        if assignment.author == "agent":
            kind = await hearing.ask(KIND, KindAnswer)
            verdict |= {"kind": kind.kind, "kind_description": kind.description}
    except BudgetExhausted:
        raise
    except (ModelError, Unusable) as problem:
        error = _reason(problem)
    return JudgementRecord(
        task_index=episode.task_index,
        trial=episode.trial,
        **verdict,
        outcome="answered" if error is None else NO_RESULT,
        error=error,
        attempts=attempt,
        started_at=started_at,
        seconds=time.monotonic() - start,
        usage=ledger.usage(),
        model_seconds=ledger.latencies(),
    )


def prompt_digest() -> str:
    """What tells versions of the judge's questions apart."""
    return sha256(f"{SYSTEM}\n{assignment()}\n{KIND}".encode()).hexdigest()[:12]


async def ask_author(model: Model, shown: str, *, turned: bool = False) -> Assignment:
    """Whose doing a failure was, by the evidence as `evidence` writes it.

    `turned` asks with the possible answers in the other order.
    """
    hearing = _Hearing(model, [{"role": "system", "content": SYSTEM}])
    return await hearing.ask(f"{shown}\n\n{assignment(turned=turned)}", Assignment, turned=turned)


async def _assignment(
    hearing: _Hearing, episode: EpisodeRecord, diagnosis: Diagnosis, policy: str
) -> Assignment:
    for detail in DETAILS:
        hearing.messages = [{"role": "system", "content": SYSTEM}]
        shown = evidence(episode, diagnosis, policy=policy, detail=detail)
        try:
            return await hearing.ask(f"{shown}\n\n{assignment()}", Assignment)
        except ContextWindowExceeded:
            if detail is DETAILS[-1]:
                raise
    raise AssertionError("there is at least one level of detail")


def _reason(error: ModelError | Unusable) -> str:
    if isinstance(error, Unusable):
        return redacted(f"No usable answer after {RETRIES + 1} attempts: {error}")
    return redacted(f"{type(error).__name__}: {error}")


@dataclass
class _Hearing:
    """A conversation with the judge."""

    model: Model
    messages: list[ChatMessage] = field(default_factory=list[ChatMessage])

    async def ask(self, question: str, answer: type[AnswerT], *, turned: bool = False) -> AnswerT:
        """The answer to a question, which is asked again while it cannot be used."""
        self.messages.append({"role": "user", "content": question})
        given = await ask_for(
            lambda text: parse_answer(text, answer),
            self.model,
            self.messages,
            response_format(answer, turned=turned),
        )
        # What went wrong on the way is of no use for the next question.
        self.messages.append({"role": "assistant", "content": given.model_dump_json()})
        return given
