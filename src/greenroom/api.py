"""Greenroom from Python: `greenroom.run` and `greenroom.evaluate`, and what they return."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

import anyio
import anyio.to_thread
from anyio.from_thread import start_blocking_portal

from greenroom.analysis.gates import GateResult, check_gates, parse_gates
from greenroom.errors import InputError
from greenroom.reports.build import build_report
from greenroom.reports.build_comparison import compare_stored
from greenroom.reports.forms import flat_records, form_of, pieces, render
from greenroom.reports.report import ComparisonReport, EvaluationReport, RunReport
from greenroom.reports.sections import Failures
from greenroom.reports.texts import one_line
from greenroom.store import (
    EpisodeRecord,
    EvaluationRecord,
    ResultRecord,
    RunRecord,
    Store,
    open_store,
)
from greenroom.store.evaluation_records import score_of
from greenroom.trials import remove_if_refused, watch_job
from greenroom.util.files import write_whole

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

    from greenroom.analysis.evaluations import EvaluationFigures
    from greenroom.analysis.figures import RunMetrics

P = ParamSpec("P")
T = TypeVar("T")

_LONGEST = 120
_SHOWN_FAILURES = 5


@dataclass(frozen=True)
class Result:
    """A run or an evaluation that has been worked through: its report, and what to do with it."""

    store: Store
    report: RunReport | EvaluationReport

    @property
    def job(self) -> RunRecord | EvaluationRecord:
        """What was run."""
        report = self.report
        return report.run if isinstance(report, RunReport) else report.evaluation

    @property
    def name(self) -> str:
        """The name that it is stored under."""
        return self.job.name

    @property
    def figures(self) -> RunMetrics | EvaluationFigures:
        """All figures; `figures.named()` has them by the names that gates use."""
        report = self.report
        return report.metrics if isinstance(report, RunReport) else report.figures

    def check(self, *gates: str, strict: bool = False) -> list[GateResult]:
        """Whether gates hold, such as "pass^1>=0.8" or "exact_match>=0.9"."""
        figures = self.figures.named()
        return check_gates(parse_gates(gates, figures), figures, strict=strict)

    def assert_gate(self, *gates: str, strict: bool = False) -> None:
        """Raise an AssertionError with the evidence unless all gates hold."""
        failed = [gate for gate in self.check(*gates, strict=strict) if not gate.passed]
        if failed:
            raise AssertionError("\n".join([*map(str, failed), *self._evidence()]))

    def compare(self, other: Result | str) -> ComparisonReport:
        """This compared with an earlier one, or its name, task by task or row by row."""
        kept: Any = self.store.runs if isinstance(self.job, RunRecord) else self.store.evaluations
        jobs: Any = [kept.find(other) if isinstance(other, str) else other.job, self.job]
        return compare_stored(self.store, jobs)

    def to_frame(self) -> Any:
        """The records as a data frame: of pandas, or else of polars."""
        rows = list(flat_records(self.report))
        for library in ("pandas", "polars"):
            if find_spec(library) is not None:
                frames: Any = import_module(library)
                return frames.DataFrame(rows)
        raise InputError("A data frame needs pandas or polars: pip install one of them.")

    def save(self, path: str | Path) -> Path:
        """Write the report to a file; its ending says the form: .html, .md, .json, .csv, ..."""
        file = Path(path)
        write_whole(file, pieces(self.report, form_of(file.suffix)))
        return file

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from greenroom.reports.console import print_report

        with console.capture() as capture:
            print_report(self.report, console)
        from rich.text import Text

        yield Text.from_ansi(capture.get().rstrip("\n"))

    def _repr_html_(self) -> str:
        from html import escape

        page = str(render(self.report, "html"))
        return (
            f'<iframe sandbox="allow-scripts" srcdoc="{escape(page, quote=True)}" '
            'style="width:100%;height:640px;border:1px solid #ccc"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}: {self.report.headline}>"

    def _evidence(self) -> Iterator[str]:
        yield f"{self.name}: {self.report.headline}"
        yield from self.report.notes
        for section in self.report.sections:
            if isinstance(section, Failures):
                for one in section.failures[:_SHOWN_FAILURES]:
                    evidence = [f"{e.label} {one_line(e.text, _LONGEST)!r}" for e in one.evidence]
                    yield f"{one.label}, {one.kind}: {' '.join(evidence) or one.sentence}"
        group = "runs" if isinstance(self.report, RunReport) else "evals"
        yield f"Look at it: greenroom {group} show {self.name}"


@dataclass(frozen=True, repr=False)
class RunResult(Result):
    """A run that has been played."""

    report: RunReport

    @property
    def run(self) -> RunRecord:
        """What was played."""
        return self.report.run

    @property
    def figures(self) -> RunMetrics:
        """All figures."""
        return self.report.metrics

    def episodes(self) -> Iterator[EpisodeRecord]:
        """All episodes, by task and trial."""
        return self.store.runs.results(self.run.id)


@dataclass(frozen=True, repr=False)
class EvaluationResult(Result):
    """An evaluation that has been run."""

    report: EvaluationReport

    @property
    def evaluation(self) -> EvaluationRecord:
        """What was evaluated."""
        return self.report.evaluation

    @property
    def figures(self) -> EvaluationFigures:
        """All figures."""
        return self.report.figures

    def results(self) -> Iterator[ResultRecord]:
        """All results, by row and repeat."""
        return self.store.evaluations.results(self.evaluation.id)


async def run_async(
    env: Any = "retail",
    *,
    agent: Any = None,
    trials: int = 1,
    tasks: Sequence[int | str] | None = None,
    user: Any = None,
    store: Store | None = None,
    name: str | None = None,
    show_progress: bool = True,
    **options: Any,
) -> RunResult:
    """Let an agent play tasks of a domain, keep every episode, and measure it.

    `env` is a domain: a name, file.py:name, or a DomainPlugin. `agent` is a name, file.py:name, an
    AgentStrategy, a class or async function that plays on a stage, a chat workflow, or a function
    of `messages`. `user` is who it talks to, in the same forms. `options` are those of RunConfig:
    model, user_model, max_concurrency and so on; and settings of the agent, such as agent_command,
    whose only agent plays if none is named. `run` is the same without `await`; it works in a
    notebook, too.
    """
    from greenroom.agents import name_of_strategy
    from greenroom.agents.flags import with_agent_settings
    from greenroom.benchmark import check_config, play_run, start_run
    from greenroom.benchmark.config import RunConfig, default_agent
    from greenroom.domains.plugins import name_of_plugin
    from greenroom.users import name_of_user_strategy

    fields: dict[str, Any] = {"env": name_of_plugin(env), "num_trials": trials, **options}
    if agent is not None:
        fields["agent_strategy"] = name_of_strategy(agent)
    if tasks is not None:
        fields["task_ids"] = list(tasks)
        if not fields["task_ids"]:
            raise InputError("There are no tasks to play: `tasks` is empty.")
    if user is not None:
        fields["user_strategy"] = name_of_user_strategy(user)
    if not isinstance(options.get("workflow", ""), str):
        raise InputError("`workflow` is an address or file.py:name: give an object as `agent`.")
    fields = with_agent_settings(fields, RunConfig.model_fields, default_agent(fields))
    opened = store or open_store()
    start = partial(start_run, opened, check_config(fields), name=name)
    run, context = await anyio.to_thread.run_sync(start)
    with (
        remove_if_refused(opened.runs, run),
        watch_job(
            run.name,
            run.planned,
            "pass^1",
            lambda episode: float(episode.solved),
            shown=show_progress,
        ) as watcher,
    ):
        await play_run(opened, run, context, on_plan=watcher.on_plan, on_result=watcher.on_result)
    report = await anyio.to_thread.run_sync(lambda: build_report(opened, opened.runs.find(run.id)))
    return RunResult(opened, report)


async def evaluate_async(
    workflow: Any,
    rows: str | Path | Iterable[Mapping[str, Any]],
    evaluators: Any,
    *,
    store: Store | None = None,
    name: str | None = None,
    show_progress: bool = True,
    **options: Any,
) -> EvaluationResult:
    """Evaluate a workflow over rows, keep every result, and score it.

    `workflow` is an address, app.py:name, a declared workflow or a plain function (one of
    `messages` chats). `rows` are a test set's name, a file, or a list of mappings. `evaluators`
    are names, specifications, kinds such as `exact_match` or plain functions, one or a list of
    them. `options` are those of EvaluationConfig: repeats, max_concurrency and so on. `evaluate` is
    the same without `await`; it works in a notebook, too.
    """
    from greenroom.evaluation import check_evaluation_config, run_evaluation, start_evaluation
    from greenroom.evaluation.evaluators.registry import name_of_evaluator
    from greenroom.util.imports import place_of
    from greenroom.workflows import LocalTarget
    from greenroom.workflows.declare import as_workflow

    opened = store or open_store()
    several = isinstance(evaluators, (list, tuple))
    chosen = cast("Sequence[Any]", evaluators) if several else [evaluators]
    given = workflow if isinstance(workflow, str) else as_workflow(workflow)
    target = None if isinstance(given, str) else LocalTarget(given)
    label = given if isinstance(given, str) else place_of(given.handler, given) or given.name
    if isinstance(rows, (str, Path)):
        test_set = str(rows)
    else:
        title = name or (given if isinstance(given, str) else given.slug)
        save = partial(opened.test_sets.save, f"{Path(title).name}-rows", list(rows))
        test_set = str((await anyio.to_thread.run_sync(save))[0])
    config = check_evaluation_config(
        {
            "workflow": label,
            "test_set": test_set,
            "evaluators": [
                dict(cast("Mapping[str, Any]", one))
                if isinstance(one, Mapping)
                else name_of_evaluator(one)
                for one in chosen
            ],
            **options,
        }
    )
    evaluation, context = await start_evaluation(opened, config, name=name, target=target)
    alias = str(evaluation.evaluators[0]["alias"])
    with (
        remove_if_refused(opened.evaluations, evaluation),
        watch_job(
            evaluation.name,
            evaluation.planned,
            alias,
            lambda result: score_of(result, alias),
            shown=show_progress,
        ) as watcher,
    ):
        await run_evaluation(
            opened, evaluation, context, on_plan=watcher.on_plan, on_result=watcher.on_result
        )
    report = await anyio.to_thread.run_sync(
        lambda: build_report(opened, opened.evaluations.find(evaluation.id))
    )
    return EvaluationResult(opened, report)


def _blocking(function: Callable[P, Awaitable[T]]) -> Callable[P, T]:
    """The same function for plain code, and for code inside a running event loop."""

    @wraps(function)
    def call(*arguments: P.args, **named: P.kwargs) -> T:
        work = partial(function, *arguments, **named)
        if not _in_event_loop():
            return anyio.run(work)
        with start_blocking_portal() as portal:
            future = portal.start_task_soon(work)
            try:
                return future.result()
            except BaseException:
                future.cancel()  # an interrupted cell of a notebook stops its work
                raise

    return call


def _in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


run = _blocking(run_async)
evaluate = _blocking(evaluate_async)
