"""`greenroom identify`: a language model says who was at fault in failed episodes."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from greenroom.cli.config_options import takes
from greenroom.cli.options import Json
from greenroom.cli.output import console, echo, print_json, print_table
from greenroom.cli.result_files import NO_WORKERS, Env, flags_to_repeat, opened_jobs
from greenroom.cli.worker_options import WorkerOptions
from greenroom.cli.working import hand_over, work
from greenroom.errors import InputError, redacted
from greenroom.judging.config import JudgingConfig
from greenroom.options import checked

if TYPE_CHECKING:
    from greenroom.analysis.judge_checks import JudgeCheck
    from greenroom.store import JudgementRecord, JudgingRecord, Store


app = typer.Typer()

Examples = Annotated[
    int, typer.Option("--examples", help="How many judgements to show in full.", min=0)
]


@app.command()
@takes(JudgingConfig, without=("gates", "strict", "seed", "max_retries"))
def identify(
    fields: dict[str, Any],
    target: Annotated[
        str,
        typer.Argument(
            help="The name or id of a run, or a Tau Bench result file.", metavar="RUN|FILE"
        ),
    ],
    env: Env = "retail",
    examples: Examples = 10,
    again: Annotated[
        bool, typer.Option("--again", help="Ask anew about what this judge has judged already.")
    ] = False,
    *,
    workers: WorkerOptions,
    json: Json = False,
) -> None:
    """Have a model judge the failures of a run: whose fault, and what the agent did wrong.

    The judgements of a run are kept with it, each as soon as it is there; those that this judge
    gave before are not asked for again.
    """
    from greenroom.judging import failures_of, start_judging, summarise
    from greenroom.reports.judge_checks import check_of_judging
    from greenroom.reports.texts import plural
    from greenroom.store import RunRecord

    config, is_file = checked(JudgingConfig, fields), Path(target).is_file()
    if is_file and workers.shared:
        raise InputError(NO_WORKERS)
    with opened_jobs([target], env) as (store, (run,)):
        if not isinstance(run, RunRecord):
            raise InputError(f"'{run.name}' is an evaluation: runs have failures to judge.")
        failures = failures_of(store, run.id)
        wanted = set(failures.keys[: config.max_failures])
        judgements: list[JudgementRecord] = []
        check: JudgeCheck | None = None
        if wanted:
            judging = start_judging(store, run, config, again=again)
            words = ["greenroom", "identify", target, *flags_to_repeat(config, env, is_file)]
            resume = redacted(shlex.join(words))
            _judge(store, judging, config, resume, workers, kept=not is_file, shown=not json)
            found = store.judgings.results(judging.id)
            check = check_of_judging(store, judging)
            judgements = [one for one in found if one.key in wanted]
    if json:
        print_json(
            {
                "source": run.name,
                "judge": config.judge,
                "check": None if check is None else check.model_dump(mode="json"),
                "episodes": failures.episodes,
                "failures": len(failures.keys),
                "pruned": failures.pruned,
                "summary": summarise(judgements).model_dump(),
                "judgements": [one.model_dump(mode="json") for one in judgements],
            }
        )
    else:
        print_judgements(run.name, config.judge, len(failures.keys), judgements, examples, check)
        if failures.pruned:
            more = plural(failures.pruned, "more failure")
            echo(f"{more} left out: the conversations were pruned.")


def _judge(
    store: Store,
    judging: JudgingRecord,
    config: JudgingConfig,
    resume: str,
    workers: WorkerOptions,
    *,
    kept: bool,
    shown: bool,
) -> None:
    from greenroom.judging import enqueue_judging, run_judging

    if judging.planned == len(store.judgings.finished(judging.id)):
        return
    if workers.shared:
        hand_over(store.judgings, judging, partial(enqueue_judging, store, judging), workers)
    work(
        store.judgings,
        judging,
        partial(run_judging, store, judging, config),
        "",
        lambda _: None,
        noun="judgements",
        resume=resume,
        kept=kept,
        shown=shown,
        workers=workers,
    )


def print_judgements(
    title: str,
    judge: str,
    failures: int,
    judgements: Sequence[JudgementRecord],
    examples: int,
    check: JudgeCheck | None,
) -> None:
    """Print judgements counted, and some of them in full; then how far the judge can be trusted."""
    from greenroom.judging import summarise
    from greenroom.reports.judge_checks import check_words

    out = console()
    if not judgements:
        out.print(f"No failures to judge in {title}.")
        return
    summary = summarise(judgements)
    heading = f"{title}: {summary.judged} of {failures} failures judged by {judge}"
    out.print(heading, soft_wrap=True)
    counts: list[tuple[str, int]] = []
    for author, count in summary.by_author.items():
        counts.append((author, count))
        kinds = summary.by_kind if author == "agent" else {}
        counts += [(f"  {kind.replace('_', ' ')}", number) for kind, number in kinds.items()]
    rows = [(name, str(count), f"{count / summary.judged:.0%}") for name, count in counts]
    print_table(None, ("At fault", "Episodes", "Share"), rows, right=("Episodes", "Share"))
    if summary.without_verdict:
        out.print(f"Without a verdict: {summary.without_verdict} (the judge gave no usable answer)")
    for one in judgements[:examples]:
        _print_one(one)
    if len(judgements) > examples:
        out.print(f"... and {len(judgements) - examples} more: --examples or --json shows them")
    usage = summary.usage
    cost = ", cost unknown: give the judge's price by --prices"
    if usage.cost is not None:
        cost = f", {usage.cost:.4f} US dollars"
    tokens = usage.prompt_tokens + usage.completion_tokens
    out.print(f"Judging took {usage.calls} calls, {tokens} tokens{cost}.")
    for words in check_words(check, f"identify --judge-model {judge}"):
        out.print(words, markup=False, soft_wrap=True)


def _print_one(one: JudgementRecord) -> None:
    out = console()
    kind = f", {one.kind.replace('_', ' ')}" if one.kind else ""
    verdict = f"{one.author}{kind}" if one.author else "no verdict"
    out.print(f"task {one.task_index}, trial {one.trial}: {verdict}", soft_wrap=True)
    words = f"The user: {one.author_words}" if one.author_words else None
    for text in (one.author_description, words, one.kind_description, one.error):
        if text:
            out.print(f"    {text}", soft_wrap=True, style="dim")
