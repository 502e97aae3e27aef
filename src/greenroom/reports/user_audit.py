"""The audit of a job's simulated users, and its sections in a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from greenroom.audit import (
    KINDS,
    AuditTally,
    FaultyTalk,
    Finding,
    Talk,
    UserAudit,
    audit_episodes,
    talk_of_messages,
    with_persona,
)
from greenroom.reports import sections
from greenroom.reports import shared_sections as shared
from greenroom.reports.exclusions import of_run
from greenroom.reports.judge_checks import check_of_judging, short_words
from greenroom.reports.report import EvaluatedRow
from greenroom.reports.sections import AnySection, Cell
from greenroom.reports.texts import plural
from greenroom.store import CellKey, JudgingRecord, RunRecord, Store
from greenroom.util.raw_json import raw_text

MOST_KS = 4
NOTES = (
    "The checks ask no model. They may be wrong, and they miss what is said in other words.",
    "Leaving out is choosing: hard tasks have more faults. The official figure is of all episodes.",
)


def audit_run(store: Store, run: RunRecord) -> UserAudit:
    """The audit of a run's simulated users; every conversation is read, one after the other."""
    judging = next(iter(store.judgings.all(parent=run.id)), None)
    judged = {} if judging is None else _judged(store, judging)
    found = audit_episodes(
        of_run(run, store.runs.results(run.id)),
        task_indices=run.task_indices,
        num_trials=run.num_trials,
        judged=judged,
        persona=run.config.get("user_persona"),
    )
    if judging is None or not judged:
        return found
    known = f"{judging.judge}: {short_words(check_of_judging(store, judging))}"
    return found.model_copy(update={"judge": known})


def _judged(store: Store, judging: JudgingRecord) -> dict[CellKey, Finding]:
    """The failures that a judge of the run blames on the user."""
    return {
        one.key: Finding(
            kind="blamed_by_judge",
            sentence=f"{judging.judge}: {one.author_description or 'the user is at fault'}",
            turn=0,
            words=one.author_words or "",
            source="judge",
        )
        for one in store.judgings.results(judging.id)
        if one.author == "user"
    }


def audit_rows(results: Iterable[EvaluatedRow], persona: str | None = None) -> UserAudit:
    """The audit of the users that talked to a workflow; other rows are none of it."""
    counted = AuditTally()
    for result in results:
        talk = talk_of_row(result, persona)
        if talk is not None:
            key = result.row, result.repeat
            counted.add(talk, key, result.shown_outcome, failed=result.solved is False)
    return counted.audit()


def talk_of_row(result: EvaluatedRow, persona: str | None = None) -> Talk | None:
    """The conversation of a user with a goal; None for a row without one."""
    goal, told_persona = result.inputs.get("goal"), result.inputs.get("persona") or ""
    if not goal or not result.conversation:
        return None
    told = raw_text(result.tool_calls) if result.tool_calls else ""
    instruction = with_persona(f"{goal}\n\nWho you are: {told_persona}", persona)
    return talk_of_messages(instruction, result.conversation, more_known=told)


def audit_sections(audit: UserAudit | None, item: str = "task") -> Iterator[AnySection]:
    """What the audit found: figures, counts by kind, and each finding with its evidence."""
    if audit is None or not audit.talks:
        return
    yield sections.Figures(
        id="user-audit",
        title="Simulated users",
        figures=list(_figures(audit)),
        units=f"{item}s",
        notes=[*NOTES, *_unread(audit)],
    )
    rows = (
        [KINDS[kind].label, KINDS[kind].meaning, count, count / audit.talks]
        for kind, count in audit.by_kind.items()
    )
    if audit.by_kind:
        head = ("Finding", "The user ...:text:wide", "Conversations:count", "Share:percent.1")
        notes = [f"{label}: shown, and not counted as a fault." for label in _harmless(audit)]
        notes += [f"The judge, {audit.judge}."] if audit.judge else []
        yield shared.table("user-audit-kinds", "What users did", head, rows, notes=notes)
    failed = [one for one in audit.faulty if one.failed]
    yield from _talks("user-audit-failures", "Failures that may be the user's", failed, item)
    rest = [one for one in audit.faulty if not one.failed]
    yield from _talks("user-audit-rest", "Faults that did not decide", rest, item, detail=True)


def _figures(audit: UserAudit) -> Iterator[sections.Figure]:
    share = f"{audit.with_fault:,} of {plural(audit.talks, 'conversation')}"
    yield shared.fig("user_faults", "With a user fault", audit.share, share, "percent")
    failures = f"of {plural(audit.failures, 'failure')}: the user may be why"
    yield shared.fig(
        "user_failures", "Failures with a user fault", audit.user_failures, failures, "count"
    )
    passes = audit.passes
    if passes is None:
        return
    for k, official in sorted(passes.official.items()):
        if k > MOST_KS or k not in passes.without:
            continue
        yield shared.fig(
            f"pass^{k}_all", f"pass^{k}, all episodes", official, "the official figure", "percent"
        )
        yield shared.fig(
            f"pass^{k}_without_user_faults",
            f"pass^{k}, without user faults",
            passes.without[k],
            "beside it, not in its place",
            "percent",
            n=passes.tasks.get(k),
        )
    meaning = "of what was planned is left without user faults"
    yield shared.fig(
        "coverage_without_user_faults",
        "Coverage without them",
        passes.coverage,
        meaning,
        "percent",
        0,
    )


def _unread(audit: UserAudit) -> Iterator[str]:
    if audit.unread:
        one = plural(audit.unread, "conversation")
        yield (
            f"{one} could not be read (pruned, never begun, or recited by a scripted user); they "
            "stay in every figure."
        )


def _harmless(audit: UserAudit) -> list[str]:
    return [KINDS[kind].label for kind in audit.by_kind if not KINDS[kind].is_fault]


def _talks(
    section_id: str, title: str, talks: list[FaultyTalk], item: str, *, detail: bool = False
) -> Iterator[AnySection]:
    rows: list[list[Cell]] = [
        [
            talk.item,
            talk.trial,
            one.turn,
            KINDS[one.kind].label,
            one.sentence,
            one.words,
            one.instruction,
            one.source,
        ]
        for talk in talks
        for one in talk.findings
        if one.is_fault or one.source == "judge"
    ]
    if rows:
        trial = "Trial" if item == "task" else "Repeat"
        place = f"{item.capitalize()}:count", f"{trial}:count", "Turn:count"
        wide = "The user:text:wide", "The instruction:text:wide", "Found by:text:wide"
        head = (*place, "Finding", "What is wrong", *wide)
        yield shared.table(section_id, title, head, rows, detail=detail)
