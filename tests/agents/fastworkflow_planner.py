"""What FastWorkflow makes of commands, without an agent: run in a process of its own.

Reads a job from the file that it is given, and prints what came of each command as JSON.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from greenroom.agents.fastworkflow import session as session
from greenroom.agents.fastworkflow import worker as worker
from greenroom.agents.fastworkflow.folders import place_copies
from tests.conftest import ROOT


@dataclass(frozen=True)
class Order:
    """A command, and what is to become of it."""

    command: str
    extracted: dict[str, Any] | None = None
    """What the model for parameters answers if it is asked."""
    run: bool = False
    """Carry it out with FastWorkflow alone, instead of only planning it."""
    session: str = "one"


@dataclass(frozen=True)
class Outcome:
    """What FastWorkflow made of a command."""

    success: bool
    name: str | None
    parameters: dict[str, Any] | None
    extractions: int
    """How often the model for parameters was asked."""
    text: str


def plan(
    workflow: Path, orders: list[Order], folder: Path, *, artifacts: Path | None = None, **env: str
) -> list[Outcome]:
    """Have FastWorkflow make what it makes of commands."""
    job = folder / "job.json"
    job.write_text(
        json.dumps(
            {
                "workflow": str(workflow),
                "artifacts": None if artifacts is None else str(artifacts),
                "orders": [asdict(order) for order in orders],
            }
        )
    )
    done = subprocess.run(
        [sys.executable, "-m", "tests.agents.fastworkflow_planner", str(job)],
        cwd=ROOT,
        env=os.environ
        | {"DSPY_CACHEDIR": str(folder / "dspy"), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "2"}
        | env,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return [Outcome(**one) for one in json.loads(done.stdout.splitlines()[-1])]


class _Extraction:
    """Plays the model that finds parameters in words."""

    def __init__(self) -> None:
        self.answer: dict[str, Any] = {}
        self.asked = 0

    def complete(self, role: str, request: dict[str, Any]) -> dict[str, Any]:
        self.asked += 1
        text = json.dumps({"reasoning": "It is said.", **self.answer})
        return {"text": text, "finish_reason": "stop", "prompt_tokens": 1, "completion_tokens": 1}


def main(job: Path) -> None:
    warnings.simplefilter("ignore")
    given = json.loads(job.read_text())
    original = Path(given["workflow"])
    artifacts = given["artifacts"]
    workflow = place_copies(original, job.parent, None if artifacts is None else Path(artifacts))
    worker.load_fastworkflow(job.parent, str(workflow), trained=artifacts is not None)
    extraction = _Extraction()
    session.place_models(extraction.complete, reasoning=True)
    contexts: dict[str, Any] = {}
    outcomes = [
        asdict(_outcome(Order(**order), contexts, str(workflow), extraction))
        for order in given["orders"]
    ]
    print(json.dumps(outcomes))


def _outcome(
    order: Order, contexts: dict[str, Any], workflow: str, extraction: _Extraction
) -> Outcome:
    fastworkflow: Any = importlib.import_module("fastworkflow")
    executor: Any = importlib.import_module("fastworkflow.command_executor").CommandExecutor
    if order.session not in contexts:
        contexts[order.session] = _context(fastworkflow, workflow, order.session)
    context = contexts[order.session]
    extraction.answer, extraction.asked = order.extracted or {}, 0
    if order.run:
        context.push_active_workflow(context.app_workflow)
        output = executor.invoke_command(context, order.command)
        context.pop_active_workflow()
        name, parameters = output.command_name, output.command_parameters
    else:
        output = executor.perform_action(
            context.cme_workflow,
            fastworkflow.Action(command_name="wildcard", command=order.command),
        )
        artifacts = _response(output).artifacts
        name, parameters = artifacts.get("command_name"), artifacts.get("cmd_parameters")
    context.cme_workflow.end_command_processing()
    return Outcome(
        success=output.success,
        name=name,
        parameters=parameters.model_dump() if hasattr(parameters, "model_dump") else None,
        extractions=extraction.asked,
        text=_response(output).response,
    )


def _response(output: Any) -> Any:
    # One since 3.0, a list of one before.
    return getattr(output, "command_response", None) or output.command_responses[0]


def _context(fastworkflow: Any, workflow: str, key: str) -> Any:
    context = fastworkflow.WorkflowExecutionContext(run_as_agent=True, session_key=key)
    application = fastworkflow.Workflow.create(
        workflow, workflow_id_str=key, workflow_context={"run_as_agent": True}
    )
    context.bind_app_workflow(application)
    return context


if __name__ == "__main__":
    main(Path(sys.argv[1]))
