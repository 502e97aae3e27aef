"""Evaluating from Python: one call, and the result to look at and to hold gates against."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from greenroom.analysis.evaluations import EvaluationFigures
from greenroom.analysis.gates import GateResult, check_gates, parse_gates
from greenroom.evaluation.config import check_evaluation_config
from greenroom.evaluation.running import run_evaluation
from greenroom.evaluation.runs import start_evaluation
from greenroom.reports.build import build_report
from greenroom.reports.report import EvaluationReport
from greenroom.reports.sections import Failures
from greenroom.reports.texts import one_line
from greenroom.store import EvaluationRecord, ResultRecord, Store, open_store
from greenroom.workflows.call.local import LocalTarget
from greenroom.workflows.declare.workflow import Workflow

_LONGEST = 120
_SHOWN_FAILURES = 5

EvaluatorGiven = str | Mapping[str, Any]
"""An evaluator as it is written at the command line, or as an object."""


@dataclass(frozen=True)
class Evaluated:
    """An evaluation that has been run."""

    store: Store
    report: EvaluationReport

    @property
    def name(self) -> str:
        """What it is kept under."""
        return self.evaluation.name

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

    def check(self, *gates: str, strict: bool = False) -> list[GateResult]:
        """Whether gates hold, such as "exact_match>=0.9"."""
        figures = self.figures.named()
        return check_gates(parse_gates(gates, figures), figures, strict=strict)

    def assert_gate(self, *gates: str, strict: bool = False) -> None:
        """Raise an AssertionError, with what did not pass, unless all gates hold."""
        failed = [gate for gate in self.check(*gates, strict=strict) if not gate.passed]
        if failed:
            raise AssertionError("\n".join([*map(str, failed), *self._evidence()]))

    def _evidence(self) -> Iterator[str]:
        yield f"{self.name}: {self.report.headline}"
        yield from self.report.notes
        for section in self.report.sections:
            if isinstance(section, Failures):
                for one in section.failures[:_SHOWN_FAILURES]:
                    evidence = [f"{e.label} {one_line(e.text, _LONGEST)!r}" for e in one.evidence]
                    yield f"{one.label}, {one.kind}: {' '.join(evidence) or one.sentence}"
        yield f"Look at it: greenroom evals show {self.name}"


async def evaluate_async(
    workflow: str | Workflow,
    test_set: str | Path,
    evaluators: Sequence[EvaluatorGiven],
    *,
    store: Store | None = None,
    name: str | None = None,
    **options: Any,
) -> Evaluated:
    """Evaluate a workflow over a test set, keep every result, and say how it did.

    The workflow is an address, app.py:name, or a declared one of this process. `options` are those
    of EvaluationConfig: repeats, max_concurrency and so on.
    """
    opened = store or open_store()
    target = LocalTarget(workflow) if isinstance(workflow, Workflow) else None
    config = check_evaluation_config(
        {
            "workflow": workflow if isinstance(workflow, str) else _place(workflow),
            "test_set": str(test_set),
            "evaluators": [one if isinstance(one, str) else dict(one) for one in evaluators],
            **options,
        }
    )
    evaluation, prepared = await start_evaluation(opened, config, name=name, target=target)
    await run_evaluation(opened, evaluation, prepared)

    def report() -> EvaluationReport:
        return build_report(opened, opened.evaluations.find(evaluation.id))

    return Evaluated(opened, await anyio.to_thread.run_sync(report))


def evaluate(
    workflow: str | Workflow,
    test_set: str | Path,
    evaluators: Sequence[EvaluatorGiven],
    *,
    store: Store | None = None,
    name: str | None = None,
    **options: Any,
) -> Evaluated:
    """The same from plain code."""

    async def run() -> Evaluated:
        return await evaluate_async(
            workflow, test_set, evaluators, store=store, name=name, **options
        )

    return anyio.run(run)


def _place(workflow: Workflow) -> str:
    """Where a workflow of this process is found again, if it can be."""
    handler = workflow.handler
    name = getattr(handler, "__qualname__", "")
    return f"{handler.__module__}:{name}" if name.isidentifier() else workflow.name
