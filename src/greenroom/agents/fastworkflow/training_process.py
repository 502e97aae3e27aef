"""Run FastWorkflow's training in its own process, and follow its progress."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson

from greenroom.agents.fastworkflow.processes import process_environment
from greenroom.agents.fastworkflow.training_run import OUTCOME, HeldOut, Job, ModelUsage, Outcome
from greenroom.errors import GreenroomError, InputError, redacted
from greenroom.models.endpoints import endpoint_of
from greenroom.models.types import ModelSettings
from greenroom.util.files import write_whole

_PROGRAM = "greenroom.agents.fastworkflow.training_run"
_LAST_LINES = 2000
_LONGEST_REASON = 500


@dataclass(frozen=True)
class SyntheticModel:
    """The model that writes utterances."""

    name: str
    identity: str
    """Its identity: its name and its provider."""
    litellm_name: str
    environment: dict[str, str]
    """Variables with its address and key for litellm; empty if the provider's own suffice."""


def synthetic_model(model: str | None, api_base: str | None) -> SyntheticModel | None:
    """The model to ask for utterances; None if none is named."""
    if model is None:
        if api_base is not None:
            raise InputError("--api-base says where a model is: name it by --model.")
        return None
    endpoint = endpoint_of(ModelSettings(model=model, api_base=api_base))
    identity, key = f"{model} at {endpoint.name}", endpoint.usable_key()
    if api_base is None or endpoint.url is None:
        return SyntheticModel(model, identity, model, {})
    # litellm's proxy speaks OpenAI's protocol, and so does any server given by its address.
    variables = {"LITELLM_PROXY_API_BASE": endpoint.url, "LITELLM_PROXY_API_KEY": key or "none"}
    return SyntheticModel(model, identity, f"litellm_proxy/{model}", variables)


def run_training(
    job: Job,
    *,
    writer: SyntheticModel | None,
    offline: bool,
    failed_log: Path,
    report: Callable[[str], None],
) -> Outcome:
    """Train and report progress; an error has FastWorkflow's own text."""
    folder = Path(job.folder)
    order = folder / "job.json"
    order.write_bytes(orjson.dumps(asdict(job)))
    lines: deque[str] = deque(maxlen=_LAST_LINES)
    follow = _Follower(report)
    with subprocess.Popen(  # noqa: S603
        [sys.executable, "-m", _PROGRAM, str(order)],
        cwd=folder,
        env=_environment(job, writer, offline=offline),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        try:
            for line in process.stdout or ():
                lines.append(line)
                follow(line)
            status = process.wait()
        finally:
            process.kill()
    outcome = folder / OUTCOME
    if status != 0 or not outcome.is_file():
        write_whole(failed_log, redacted("".join(lines)))
        raise GreenroomError(
            f"FastWorkflow could not train {Path(job.workflow).name}: {_reason(lines, status)} "
            f"All that it said is in {failed_log}."
        )
    written = orjson.loads(outcome.read_bytes())
    held_out = [HeldOut(**one) for one in written["held_out"]]
    return Outcome(ModelUsage(**written["usage"]), held_out)


def _environment(job: Job, writer: SyntheticModel | None, *, offline: bool) -> dict[str, str]:
    folder = Path(job.folder)
    # A provider with unknown variables has to find its key itself.
    secrets = writer is not None and not writer.environment
    found = process_environment(folder, threads=job.threads, offline=offline, secrets=secrets)
    if offline:
        found["HF_HOME"] = str(folder / "huggingface")
    return found | (writer.environment if writer is not None else {})


_UTTERANCES = re.compile(r"Generating utterances for context: .+, command: (\S+)")
_EPOCH = re.compile(r"Epoch (\d+)/(\d+)$")
_MODELS = {"Starting training": "small model", "Started training": "large model"}


class _Follower:
    """Turns FastWorkflow's output into progress texts; skips unknown lines."""

    def __init__(self, report: Callable[[str], None]) -> None:
        self._report = report
        self._model = "model"

    def __call__(self, line: str) -> None:
        line = line.strip()
        for words, model in _MODELS.items():
            if line.startswith(words):
                self._model = model
        if found := _UTTERANCES.match(line):
            self._report(f"utterances: {found[1]}")
        elif found := _EPOCH.match(line):
            self._report(f"{self._model}: epoch {found[1]} of {found[2]}")
        elif line.startswith("Finding optimal threshold"):
            self._report("thresholds")


def _reason(lines: deque[str], status: int) -> str:
    said = [line.strip() for line in lines if line.strip()]
    if status < 0:
        return f"it was ended by signal {-status}."
    # The error's text is the last line; the traceback is before it.
    return redacted(said[-1] if said else f"it ended with status {status}.")[:_LONGEST_REASON]
