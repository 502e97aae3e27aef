"""`greenroom judges`: how far judges agree with people and with themselves, and what sways them."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from greenroom.cli.config_options import takes
from greenroom.cli.options import Json, Run
from greenroom.cli.output import console, echo, print_json, print_table
from greenroom.cli.reporting import FAILED
from greenroom.cli.working import work
from greenroom.judges.config import CheckConfig
from greenroom.options import checked

if TYPE_CHECKING:
    from greenroom.analysis.judge_checks import BiasFigures, JudgeCheck
    from greenroom.store import EvaluationRecord, Store

app = typer.Typer(
    help="Check judges by labelled cases, list what was found, and make cases to label.",
    no_args_is_help=True,
)


@app.command()
@takes(CheckConfig, without=("gates", "strict"))
def check(
    fields: dict[str, Any],
    name: Annotated[
        str | None, typer.Option("--name", help="A name for the check; one is made up otherwise.")
    ] = None,
    json: Json = False,
) -> None:
    """Measure a judge by labelled cases: agreement with people and itself, bias, cost.

    The exit status is 1 if it agrees with people less than --min-agreement.
    """
    import anyio

    from greenroom.judges import finish_check, start_check
    from greenroom.reports.judge_checks import check_of
    from greenroom.store import open_store
    from greenroom.trials import remove_if_refused

    config = checked(CheckConfig, fields)
    store = open_store()
    evaluation, context = anyio.run(partial(start_check, store, config, name=name))
    with remove_if_refused(store.evaluations, evaluation):
        _work(store, evaluation, context, shown=not json)
    found = check_of(store, finish_check(store, evaluation))
    if json:
        print_json(_plain(found))
    else:
        _print(found)
    if found.is_below:
        raise typer.Exit(FAILED)


def _work(store: Store, evaluation: EvaluationRecord, context: Any, *, shown: bool) -> None:
    from greenroom.evaluation import run_evaluation
    from greenroom.reports.judge_checks import ALIAS
    from greenroom.store.evaluation_records import score_of

    work(
        store.evaluations,
        evaluation,
        partial(run_evaluation, store, evaluation, context),
        ALIAS,
        lambda result: score_of(result, ALIAS),
        noun="verdicts",
        shown=shown,
    )


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="The name of a check.", metavar="CHECK")],
    json: Json = False,
) -> None:
    """Show a check again: what it found of the judge."""
    from greenroom.errors import InputError
    from greenroom.reports.judge_checks import check_of, is_check, is_over
    from greenroom.store import open_store

    store = open_store()
    evaluation = store.evaluations.find(name)
    if not is_check(evaluation):
        raise InputError(f"'{name}' is no check of a judge: greenroom evals show {name}")
    if not is_over(evaluation):
        raise InputError(f"'{name}' is not over. Go on with: greenroom evals resume {name}")
    found = check_of(store, evaluation)
    if json:
        print_json(_plain(found))
    else:
        _print(found)


@app.command()
def cases(
    run: Run,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="The file: .csv, .json or .jsonl.", metavar="FILE"),
    ] = Path("cases.csv"),
    json: Json = False,
) -> None:
    """Write the failures of a run as cases of identify, for people to label.

    Verdicts that people noted in the playground are their labels.
    """
    from greenroom.judges import write_cases
    from greenroom.reports.texts import plural
    from greenroom.store import open_store
    from greenroom.util.files import check_directory

    check_directory(output)
    store = open_store()
    found = store.runs.find(run)
    count = write_cases(store, found, output)
    if json:
        print_json({"run": found.name, "file": str(output), "cases": count})
    else:
        echo(f"Wrote {plural(count, 'case')} to {output}")


@app.command("list")
def list_judges(json: Json = False) -> None:
    """List the judges, and the checks that are kept, the newest first."""
    from greenroom.judges import JUDGES
    from greenroom.reports.judge_checks import check_of, in_words, is_over
    from greenroom.store import open_store

    store = open_store()
    found = [
        check_of(store, standing.job)
        for standing in store.evaluations.pages.jobs(text="judge-")
        if is_over(standing.job)
    ]
    if json:
        judges = [{"judge": one.name, "summary": one.summary} for one in JUDGES.values()]
        print_json({"judges": judges, "checks": [_plain(one) for one in found]})
        return
    summaries = [(one.name, one.summary) for one in JUDGES.values()]
    summaries.append(("llm_judge, ...", "an evaluator that asks a model, with its settings"))
    print_table("Judges", ("Judge", "What it decides"), summaries)
    if found:
        rows = [
            (
                one.name,
                one.judge,
                in_words(one.figures.agreement),
                str(one.figures.cases),
                f"{one.checked_at:%Y-%m-%d}",
                ", ".join(one.flaws),
            )
            for one in found
        ]
        heads = ("Check", "Judge", "Agreement", "Cases", "Made", "Marked")
        print_table("Checks", heads, rows, right=("Cases",))


def _plain(found: JudgeCheck) -> dict[str, Any]:
    shown = found.model_dump(mode="json")
    biases = {"order": found.figures.order, "length": found.figures.length}
    shown["biased"] = {name: None if one is None else one.is_biased for name, one in biases.items()}
    return shown | {"below": found.is_below, "flaws": found.flaws}


def _print(found: JudgeCheck) -> None:
    from greenroom.reports.judge_checks import check_notes, in_words
    from greenroom.reports.texts import money, one_line, plural

    out, figures = console(), found.figures
    problem = one_line(figures.problem, 120)
    out.print(f"{found.judge}: {plural(figures.cases, 'case')}", markup=False)
    rows = [
        ("Agreement with people", in_words(figures.agreement)),
        ("Cohen's kappa", in_words(figures.kappa)),
        ("Krippendorff's alpha", in_words(figures.alpha)),
        ("Agreement with itself", in_words(figures.self_agreement)),
        ("Order turned round", _bias_words(figures.order)),
        ("Answers padded", _bias_words(figures.length)),
        ("Without a verdict", f"{figures.without_verdict}: {problem}" if problem else "0"),
        ("Calls", f"{figures.usage.calls:,}; {figures.usage.tokens:,} tokens"),
        ("Cost", "unknown" if figures.usage.cost is None else money(figures.usage.cost)),
    ]
    if figures.people_alpha is not None:
        rows.insert(3, ("People among themselves", f"alpha {figures.people_alpha:.2f}"))
    print_table(None, ("Figure", "Value (95 % interval)"), rows)
    for label, said in figures.confusion.items():
        answers = ", ".join(f"{one} {count}" for one, count in said.items())
        out.print(f"People say {label}: the judge says {answers}", markup=False)
    for note in check_notes(found):
        out.print(note, markup=False, soft_wrap=True)
    out.print(f"Kept as '{found.name}'", markup=False)


def _bias_words(bias: BiasFigures | None) -> str:
    from greenroom.reports.judge_checks import in_words

    if bias is None:
        return "not tested"
    mark = "; it sways the judge" if bias.is_biased else ""
    drift = "" if bias.towards_pass is None else f"; {bias.towards_pass:+.2f} towards pass"
    chance = bias.between_repeats
    beside = "" if chance is None else f", {chance:.2f} between repeats"
    return f"{in_words(bias.changed)} of the verdicts change{beside}{drift}{mark}"
