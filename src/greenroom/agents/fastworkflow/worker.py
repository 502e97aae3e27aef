"""The process that forks FastWorkflow's workers, and the work of a worker.

FastWorkflow takes seconds and hundreds of megabytes to load. One process loads it and a workflow,
and forks for each episode: a worker starts in milliseconds, shares that memory, and takes the state
of its episode with it when it ends. Every worker has its own copy of the workflow's folder.

Run as `python -m greenroom.agents.fastworkflow.worker FOLDER NAME [trained]`: a folder as
`prepare_workers` leaves it, the name of the workflow there, and whether it has intent models. It
ends when its standard input does.
"""

from __future__ import annotations

import gc
import importlib
import inspect
import os
import select
import shutil
import signal
import socket
import sys
from pathlib import Path
from typing import Any

import orjson

from greenroom.agents.fastworkflow import session as session
from greenroom.agents.fastworkflow.commands import fastworkflow
from greenroom.agents.fastworkflow.fastworkflow_bridge import check_entry_points
from greenroom.agents.fastworkflow.folders import WORKFLOWS, models_folder, place_policy
from greenroom.agents.fastworkflow.processes import load_package

SOCKET = "workers.sock"
READY = "ready.json"

_MODEL_FILES = ("*.pth", "*.pkl", "*.safetensors", "*.bin", "*.csv")


class NoIntentModel:
    """Replaces an untrained router: every utterance is out of scope."""

    modelpipeline = None

    def predict(self, command: str) -> list[str]:
        """No command at all."""
        return ["wildcard"]


def main(folder: Path, name: str, *, trained: bool) -> None:
    """Load FastWorkflow, report that it is ready, and fork a worker for each connection."""
    listener = socket.socket(socket.AF_UNIX)
    workflow = str(folder / WORKFLOWS / name)
    load_fastworkflow(folder, workflow, trained=trained)
    facts = {
        "commands": session.command_names(workflow),
        "floats": session.float_parameters(workflow),
    }
    listener.bind(str(folder / SOCKET))
    listener.listen(256)
    # Keep the garbage collector from touching, and so copying, the shared pages.
    gc.collect()
    gc.freeze()
    partial = folder / f"{READY}.part"
    partial.write_bytes(orjson.dumps(facts))
    partial.rename(folder / READY)
    # Workers that ended are not waited for.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    number = 0
    while True:
        waiting, _, _ = select.select([listener, sys.stdin], [], [])
        if sys.stdin in waiting:
            return
        connection, _ = listener.accept()
        number += 1
        if os.fork() == 0:
            listener.close()
            os._exit(_work(workflow, connection, number))
        connection.close()


def load_fastworkflow(folder: Path, workflow: str, *, trained: bool = False) -> None:
    """Prepare to run a workflow, with its intent models if it was trained."""
    load_package(folder, {"LOG_LEVEL": "ERROR"})
    dspy: Any = importlib.import_module("dspy")
    dspy.configure_cache(enable_disk_cache=False, enable_memory_cache=False)
    torch: Any = importlib.import_module("torch")
    # A pool of threads would not survive the fork.
    torch.set_num_threads(1)
    for module in ("workflow_agent", "command_executor", "model_pipeline_training"):
        fastworkflow(module)
    importlib.import_module("greenroom.agents.fastworkflow.models")
    check_entry_points()
    _place_routers(workflow, trained=trained)
    _warm_up(workflow)


def _place_routers(workflow: str, *, trained: bool) -> None:
    router = fastworkflow("model_pipeline_training").CommandRouter
    for context in fastworkflow().RoutingRegistry.get_definition(workflow).contexts:
        folder = models_folder(workflow, context)
        if not trained:
            router._instances_cache[str(folder)] = NoIntentModel()
        elif folder.is_dir():
            router(str(folder))


def _warm_up(workflow: str) -> None:
    # Do all first-use work once, here, but do not resolve a command in words: that opens a
    # database, which must not be carried over a fork.
    package = fastworkflow()
    context = package.WorkflowExecutionContext(run_as_agent=True, session_key="warm-up")
    application = package.Workflow.create(workflow, workflow_id_str="warm-up")
    context.bind_app_workflow(application)
    context.push_active_workflow(application)
    try:
        context._ensure_agent_initialized()
        fastworkflow("workflow_agent")._what_can_i_do(context)
    finally:
        context.pop_active_workflow()
        context.close()


def _work(template: str, connection: socket.socket, number: int) -> int:
    # In the forked process: one episode, then it ends.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    workflow = Path(f"{template}_{number}")
    try:
        wire = session.WorkerEnd(connection)
        wire.send(kind="hello", pid=os.getpid())
        start = wire.receive()
        shutil.copytree(template, workflow, ignore=shutil.ignore_patterns(*_MODEL_FILES))
        policy = start.pop("policy")
        if not _place_policy(workflow, policy):
            start["policy"] = policy
        _share_routers(template, str(workflow))
        session.hold(wire, str(workflow), session.SessionSettings(**start))
    except (session.Disconnected, session.ModelGone):
        return 0
    except BaseException as problem:
        print(f"worker {number}: {type(problem).__name__}: {problem}", file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(workflow, ignore_errors=True)
    return 0


def _place_policy(workflow: Path, policy: str) -> bool:
    # Put it where FastWorkflow reads it; False if this version's sessions do not read it.
    source = inspect.getsource(fastworkflow().WorkflowExecutionContext)
    if "load_workflow_insights" not in source:
        return False
    place_policy(workflow, policy)
    return True


def _share_routers(template: str, own: str) -> None:
    # Models are cached by path; let the copy use those already loaded.
    cache = fastworkflow("model_pipeline_training").CommandRouter._instances_cache
    for path, router in list(cache.items()):
        if path.startswith(f"{template}/"):
            cache[own + path.removeprefix(template)] = router


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], trained="trained" in sys.argv[3:])
