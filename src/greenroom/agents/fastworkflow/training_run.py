"""The training process: FastWorkflow's own training, on copies.

Run as `python -m greenroom.agents.fastworkflow.training_run JOB`, with JOB a file that the training
module has written. What FastWorkflow prints is its output; the result is in the file OUTCOME.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import orjson

from greenroom.agents.fastworkflow.commands import fastworkflow
from greenroom.agents.fastworkflow.folders import models_folder
from greenroom.agents.fastworkflow.processes import load_package
from greenroom.agents.fastworkflow.training_models import make_distilbert
from greenroom.agents.fastworkflow.training_utterances import (
    Command,
    answer_of_no_model,
    held_out,
)

OUTCOME = "outcome.json"
"""The file for the result, in the job's folder."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """The input of the process."""

    folder: str
    """The folder of the job, with copies of the workflow and FastWorkflow's internal ones."""
    workflow: str
    """The copy of the workflow."""
    tiny: str
    large: str | None
    """None: it is derived from the small one."""
    model: str | None
    """The model that writes utterances, by litellm's name; None for variations."""
    personas: int
    utterances: int
    threads: int


@dataclass
class ModelUsage:
    """The usage of the model that wrote utterances."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = 0.0


@dataclass(frozen=True)
class HeldOut:
    """An utterance of a pattern that nothing was trained with, and what became of it."""

    pattern: str
    command: str
    utterance: str
    understood: list[str]
    """The command that was understood; several if the models were not sure."""


@dataclass(frozen=True)
class Outcome:
    """The result of the process, beside the models."""

    usage: ModelUsage
    held_out: list[HeldOut] = field(default_factory=list[HeldOut])


def main(job: Job) -> None:
    """Train, measure with unseen patterns, and write the result."""
    folder = Path(job.folder)
    torch: Any = importlib.import_module("torch")
    torch.set_num_threads(job.threads)
    large = job.large or str(folder / "large-model")
    if job.large is None:
        make_distilbert(job.tiny, Path(large))
    # FastWorkflow leaves a quarter of the personas out of the training. Without a model one persona
    # utters everything, and patterns are left out instead.
    personas, utterances = job.personas, job.utterances
    if job.model is None:
        personas, utterances = 1, personas * utterances
    load_package(
        folder,
        {
            "LLM_SYNDATA_GEN": job.model or "none",
            "LITELLM_API_KEY_SYNDATA_GEN": "",
            "SYNTHETIC_UTTERANCE_GEN_PERSONAS_PER_BATCH": "1",
            "SYNTHETIC_UTTERANCE_GEN_NUMOF_PERSONAS": str(personas),
            "SYNTHETIC_UTTERANCE_GEN_UTTERANCES_PER_PERSONA": str(utterances),
            "INTENT_DETECTION_TINY_MODEL": job.tiny,
            "INTENT_DETECTION_LARGE_MODEL": large,
        },
    )
    parameters = _parameters(job.workflow)
    usage = _place_model(job, parameters)
    # The same steps in a tenth of the time; they took most of the training.
    fastworkflow("model_pipeline_training").AdamW = partial(torch.optim.AdamW, fused=True)
    training = fastworkflow("train.__main__")
    # The package `datasets` is for downloaded personas; ours are in the folder.
    training._datasets_available = lambda: True
    training.train_workflow(job.workflow)
    outcome = Outcome(usage, list(measure_held_out(job.workflow, parameters)))
    (folder / OUTCOME).write_bytes(orjson.dumps(asdict(outcome)))


def measure_held_out(workflow: str, parameters: Mapping[str, Sequence[str]]) -> Iterator[HeldOut]:
    """Ask the trained models what utterances of the held-out patterns mean."""
    definition = fastworkflow().RoutingRegistry.get_definition(workflow)
    core = {"wildcard", *definition.command_directory.core_command_names}
    for context, names in definition.contexts.items():
        folder = models_folder(workflow, context)
        if not folder.is_dir():
            continue
        router = fastworkflow("model_pipeline_training").CommandRouter(str(folder))
        for name in sorted(set(names) - core):
            own = definition.get_command_utterances(name).plain_utterances
            command = Command(name, tuple(own), tuple(parameters.get(name, ())))
            for pattern, said in held_out(command):
                yield HeldOut(pattern, name, said, [str(one) for one in router.predict(said)])


def _place_model(job: Job, parameters: Mapping[str, Sequence[str]]) -> ModelUsage:
    litellm: Any = importlib.import_module("litellm")
    usage = ModelUsage()
    ask = litellm.completion

    def no_model(**request: Any) -> Any:
        text = answer_of_no_model(str(request["messages"][0]["content"]), parameters)
        return SimpleNamespace(choices=[SimpleNamespace(message=SimpleNamespace(content=text))])

    def counted(**request: Any) -> Any:
        completion = ask(**request)
        usage.calls += 1
        usage.prompt_tokens += completion.usage.prompt_tokens
        usage.completion_tokens += completion.usage.completion_tokens
        try:
            cost = litellm.completion_cost(completion_response=completion)
        except Exception:
            cost = None
        usage.cost = None if cost is None or usage.cost is None else usage.cost + cost
        return completion

    litellm.completion = no_model if job.model is None else counted
    return usage


def _parameters(workflow: str) -> dict[str, list[str]]:
    definition = fastworkflow().RoutingRegistry.get_definition(workflow)
    kind = fastworkflow().ModuleType.COMMAND_PARAMETERS_CLASS
    classes = {
        name: definition.get_command_class(name, kind)
        for name in definition.command_directory.get_commands()
    }
    return {name: list(one.model_fields) for name, one in classes.items() if one is not None}


if __name__ == "__main__":
    main(Job(**orjson.loads(Path(sys.argv[1]).read_bytes())))
