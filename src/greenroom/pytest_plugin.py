"""The pytest plugin: a fixture that evaluates a workflow within a test.

    def test_support(greenroom_eval):
        result = greenroom_eval("app.py:support", "questions.csv", evaluators=["exact_match"])
        result.assert_gate("exact_match>=0.9")

pytest imports this module wherever Greenroom is installed, so it imports nothing itself: what an
evaluation takes is imported when a test first asks for one.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from greenroom.api import EvaluationResult
    from greenroom.store import Store
    from greenroom.workflows import Workflow


class Evaluate(Protocol):
    """What the fixture gives: evaluates a workflow over a test set, and keeps the results."""

    def __call__(
        self,
        workflow: str | Workflow,
        test_set: str | Path,
        evaluators: Sequence[str | dict[str, Any]],
        *,
        store: Store | None = None,
        name: str | None = None,
        **options: Any,
    ) -> EvaluationResult:
        """The result; files are looked for beside the test first, then where pytest runs."""
        ...


@pytest.fixture
def greenroom_eval(request: pytest.FixtureRequest) -> Evaluate:
    """Evaluate a workflow over a test set: `greenroom eval` for tests."""
    folder = request.path.parent

    def evaluate_here(
        workflow: str | Workflow,
        test_set: str | Path,
        evaluators: Sequence[str | dict[str, Any]],
        **options: Any,
    ) -> EvaluationResult:
        from greenroom.api import evaluate

        if isinstance(workflow, str):
            file, separator, name = workflow.partition(".py:")
            found = _beside(folder, f"{file}.py" if separator else workflow)
            workflow = f"{found}:{name}" if separator else found
        return evaluate(workflow, _beside(folder, str(test_set)), evaluators, **options)

    return evaluate_here


def _beside(folder: Path, name: str) -> str:
    path = folder / name
    return str(path) if path.is_file() else name
