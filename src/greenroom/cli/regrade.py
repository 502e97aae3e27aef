"""`greenroom regrade`: episodes of a run are graded again, without being played."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from greenroom.benchmark.regrading_config import RegradingConfig
from greenroom.cli.config_options import takes
from greenroom.cli.options import Json, RepeatedListsCommand
from greenroom.cli.output import console, print_json, print_table
from greenroom.cli.result_files import NO_WORKERS, Env, flags_to_repeat, opened_jobs
from greenroom.cli.worker_options import WorkerOptions
from greenroom.cli.working import hand_over, work
from greenroom.errors import InputError, redacted
from greenroom.options import checked

if TYPE_CHECKING:
    from greenroom.analysis.judge_checks import JudgeCheck
    from greenroom.benchmark.regradings import RegradingSummary
    from greenroom.store import GradeRecord, RegradingRecord, RunRecord, Store, TaskSetRecord, Usage

app = typer.Typer()

_MOST_REFUSALS: Final = 12


@app.command(cls=RepeatedListsCommand)
@takes(RegradingConfig, without=("gates", "strict", "seed", "max_retries"))
def regrade(
    fields: dict[str, Any],
    target: Annotated[
        str,
        typer.Argument(
            help="The name or id of a run, or a result file of Tau Bench or tau2-bench.",
            metavar="RUN|FILE",
        ),
    ],
    env: Env = "retail",
    stored: Annotated[
        bool, typer.Option("--list", help="List the regradings of the run that are kept.")
    ] = False,
    *,
    workers: WorkerOptions,
    json: Json = False,
) -> None:
    """Grade the episodes of a run again without playing: other tasks, another basis, a new judge.

    Both grades are kept with what they are by. Flips are listed with their reasons. Episodes that
    cannot be replayed on the data are refused; the exit status is 1 if all are.
    """
    from greenroom.benchmark.regradings import regrading_domain, start_regrading
    from greenroom.reports.judge_checks import check_of_sentences
    from greenroom.store import RunRecord

    config = checked(RegradingConfig, fields)
    with opened_jobs([target], env) as (store, (run,)):
        if not isinstance(run, RunRecord):
            raise InputError(f"'{run.name}' is an evaluation: episodes of runs are graded again.")
        is_file = Path(target).is_file()
        if stored and is_file:
            raise InputError(f"{target} is a file: second grades are kept for runs alone.")
        if stored:
            _list(store, run, json=json)
            return
        if is_file and workers.shared:
            raise InputError(NO_WORKERS)
        domain = regrading_domain(run, config)
        regrading = start_regrading(store, run, config, domain)
        words = ["greenroom", "regrade", target, *flags_to_repeat(config, env, is_file)]
        again = redacted(shlex.join(words))
        _work(store, regrading, config, domain, again, workers, kept=not is_file, shown=not json)
        check = check_of_sentences(store, regrading)
        grades = sorted(store.regradings.results(regrading.id), key=lambda one: one.key)
    show_regrading(run, regrading, grades, check, json=json)
    if grades and all(one.refused for one in grades):
        raise typer.Exit(1)


def _work(
    store: Store,
    regrading: RegradingRecord,
    config: RegradingConfig,
    domain: Any,
    again: str,
    workers: WorkerOptions,
    *,
    kept: bool,
    shown: bool,
) -> None:
    from greenroom.benchmark.regradings import enqueue_regrading, run_regrading

    if workers.shared:
        enqueue = partial(enqueue_regrading, store, regrading)
        hand_over(store.regradings, regrading, enqueue, workers)
    work(
        store.regradings,
        regrading,
        partial(run_regrading, store, regrading, config, domain),
        "reward",
        lambda grade: grade.reward,
        noun="grades",
        resume=again,
        kept=kept,
        shown=shown,
        workers=workers,
    )


def _list(store: Store, run: RunRecord, *, json: bool) -> None:
    from greenroom.benchmark.regradings import summarise_regrading

    found = [
        (one, summarise_regrading(store.regradings.results(one.id)))
        for one in store.regradings.all(parent=run.id)
    ]
    if json:
        print_json([_plain(one, summary) for one, summary in found])
        return
    if not found:
        console().print(f"'{run.name}' has not been graded again.")
        return
    print_table(
        None,
        ["Regrading", "Made", "By", "Graded", "Refused", "Up", "Down", "Before", "Now"],
        [
            [
                one.name,
                f"{one.created_at:%Y-%m-%d %H:%M}",
                _by(one),
                _graded(one, summary),
                str(summary.refused),
                str(summary.up),
                str(summary.down),
                _figure(summary.reward_before),
                _figure(summary.reward),
            ]
            for one, summary in found
        ],
    )


def _graded(regrading: RegradingRecord, summary: RegradingSummary) -> str:
    left = regrading.planned - summary.episodes
    return f"{summary.graded}, {left} left" if left else str(summary.graded)


def _plain(regrading: RegradingRecord, summary: RegradingSummary) -> dict[str, Any]:
    return {
        "regrading": regrading.model_dump(
            mode="json",
            include={"id", "name", "created_at", "greenroom_version", "task_split", "status"},
        ),
        "pack": regrading.pack,
        "task_set": _hashes(regrading.task_set),
        "run_pack": regrading.run_pack,
        "run_task_set": _hashes(regrading.run_task_set),
        "judge": regrading.judge or None,
        "basis": regrading.basis or None,
        "excluded": [one.model_dump(mode="json") for one in regrading.excluded],
        "summary": summary.model_dump(mode="json"),
    }


def show_regrading(
    run: RunRecord,
    regrading: RegradingRecord,
    grades: Sequence[GradeRecord],
    check: JudgeCheck | None,
    *,
    json: bool,
) -> None:
    """Print what came of a regrading."""
    from greenroom.benchmark.regradings import summarise_regrading
    from greenroom.reports.exclusions import exclusion_words
    from greenroom.reports.judge_checks import check_words

    summary = summarise_regrading(grades)
    if json:
        shown = {"task_index", "trial", "task_id", "before", "reward", "refused", "reasons"}
        print_json(
            {
                "run": run.name,
                "check": None if check is None else check.model_dump(mode="json"),
                **_plain(regrading, summary),
                "flips": [one.model_dump(mode="json", include=shown) for one in grades if one.flip],
                "refused": [
                    one.model_dump(mode="json", include=shown) for one in grades if one.refused
                ],
            }
        )
        return
    out = console()
    out.print(f"{run.name}, graded by {_by(regrading)}", markup=False, soft_wrap=True)
    for sentence in exclusion_words(regrading.excluded):
        out.print(sentence, markup=False, soft_wrap=True)
    for one in grades:
        if one.flip:
            out.print(
                f"{_place(one)}, trial {one.trial}: {one.before:g} -> "
                f"{one.reward:g}: {'; '.join(one.reasons) or 'no difference found'}",
                markup=False,
                soft_wrap=True,
            )
    _print_refusals(grades)
    _print_figures(regrading, summary)
    if regrading.judge:
        for words in check_words(check, f"statements --judge-model {regrading.judge}"):
            out.print(words, markup=False, soft_wrap=True)


def _place(grade: GradeRecord) -> str:
    """The task, with its id in the data where that is another than its number."""
    known = grade.task_id in (None, str(grade.task_index))
    return f"task {grade.task_index}" + ("" if known else f" (id '{grade.task_id}')")


def _hashes(task_set: TaskSetRecord | None) -> dict[str, Any] | None:
    return None if task_set is None else task_set.model_dump(exclude={"task_hashes"})


def _print_refusals(grades: Sequence[GradeRecord]) -> None:
    out = console()
    refused: dict[tuple[str, str], list[int]] = {}
    for one in grades:
        if one.refused:
            refused.setdefault((_place(one), one.refused), []).append(one.trial)
    for (task, reason), trials in list(refused.items())[:_MOST_REFUSALS]:
        which = f"trial{'s' * (len(trials) > 1)} {', '.join(map(str, trials))}"
        out.print(f"refused: {task}, {which}: {reason}", markup=False, soft_wrap=True)
    if len(refused) > _MOST_REFUSALS:
        out.print(f"... and {len(refused) - _MOST_REFUSALS} more refusals: --json has them all")
    if grades and all(one.refused for one in grades):
        out.print(
            "All are refused: --data names the tasks to grade by, and --env the domain of a file",
            soft_wrap=True,
        )


def _print_figures(regrading: RegradingRecord, summary: RegradingSummary) -> None:
    from greenroom.reports.texts import plural

    out = console()
    out.print(
        f"{summary.graded} of {summary.episodes} episodes graded again, {summary.refused} refused"
    )
    out.print(f"Flips: {summary.up} from 0 to 1, {summary.down} from 1 to 0")
    if summary.kept_verdicts:
        out.print(
            f"{plural(summary.kept_verdicts, 'sentence')} judged by the run's own judge: its "
            "verdicts are kept",
            soft_wrap=True,
        )
    if summary.unjudged:
        why = next(iter(summary.judge_problems), "give --judge-model").removeprefix("not judged: ")
        out.print(
            f"{plural(summary.unjudged, 'sentence')} not judged, and left out: {why}",
            markup=False,
            soft_wrap=True,
        )
    if regrading.judge:
        out.print(f"The judge {_used(summary.usage)}", markup=False, soft_wrap=True)
    if summary.graded:
        worst = f", {_figure(summary.reward_if_rejected)} if all that is not judged were rejected"
        out.print(
            f"Mean reward of these episodes: {_figure(summary.reward_before)} then, "
            f"{_figure(summary.reward)} now, "
            f"{_figure(summary.reward_without_judge)} now without a judge"
            f"{worst if summary.unjudged else ''}",
            soft_wrap=True,
        )


def _used(usage: Usage) -> str:
    from greenroom.reports.texts import money, plural

    cost = "" if usage.cost is None else f", {money(usage.cost)}"
    tokens = plural(usage.prompt_tokens + usage.completion_tokens, "token")
    return f"was asked {plural(usage.calls, 'time')}: {tokens}{cost}"


def _by(regrading: RegradingRecord) -> str:
    pack, played = _pack(regrading.pack), _pack(regrading.run_pack)
    now, then = regrading.task_set, regrading.run_task_set
    if played == pack and now is not None and then is not None and now.hash != then.hash:
        pack, played = f"{pack}, hash {now.hash[:12]}", f"hash {then.hash[:12]}"
    pack += f" (played on {played})" if played != pack else ""
    judge = f", judge {regrading.judge}" if regrading.judge else ""
    basis = f", by {', '.join(regrading.basis)}" if regrading.basis else ""
    return f"{pack}, split {regrading.task_split}{basis}{judge}"


def _pack(pack: dict[str, Any]) -> str:
    return " ".join(str(pack.get(key) or "") for key in ("name", "version")).strip()


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
