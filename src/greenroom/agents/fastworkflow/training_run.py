"""The training process: FastWorkflow's own training, on copies.

Run as `python -m greenroom.agents.fastworkflow.training_run JOB`, with JOB a file that the training
module has written. What FastWorkflow prints is its output; what came of it is in the job's outcome.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import orjson

from greenroom.agents.fastworkflow.training_models import make_distilbert
from greenroom.agents.fastworkflow.training_utterances import answer_of_no_model

_SETTINGS = {
    "SPEEDDICT_FOLDERNAME": "___workflow_contexts",
    "NOT_FOUND": "NOT_FOUND",
    "INVALID": "INVALID",
    "MISSING_INFORMATION_ERRMSG": "Missing required parameter values: ",
    "INVALID_INFORMATION_ERRMSG": "Invalid parameter values: ",
    "PARAMETER_EXTRACTION_ERROR_MSG": "Parameters could not be extracted: {error}",
    "SYNTHETIC_UTTERANCE_GEN_PERSONAS_PER_BATCH": "1",
}


@dataclass(frozen=True, kw_only=True)
class Job:
    """The input of the process."""

    workflow: str
    """A writable copy."""
    internal: str
    """A copy of FastWorkflow's internal workflows."""
    tiny: str
    large: str | None
    made_large: str
    """The folder for a large model that is derived from the small one."""
    model: str | None
    """The model that writes utterances, by litellm's name; None for variations."""
    personas: int
    utterances: int
    threads: int
    outcome: str
    """The file for the result."""


@dataclass
class ModelUsage:
    """The usage of the model that wrote utterances."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = 0.0


def main(job: Job) -> None:
    """Train, and write the result."""
    warnings.simplefilter("ignore")
    torch: Any = importlib.import_module("torch")
    torch.set_num_threads(job.threads)
    large = job.large
    if large is None:
        large = job.made_large
        make_distilbert(job.tiny, Path(large))
    fastworkflow: Any = importlib.import_module("fastworkflow")

    def internal_path(name: str) -> str:
        return str(Path(job.internal) / name)

    fastworkflow.get_internal_workflow_path = internal_path
    fastworkflow.init(
        env_vars=_SETTINGS
        | {
            "LLM_SYNDATA_GEN": job.model or "none",
            "LITELLM_API_KEY_SYNDATA_GEN": "",
            "SYNTHETIC_UTTERANCE_GEN_NUMOF_PERSONAS": str(job.personas),
            "SYNTHETIC_UTTERANCE_GEN_UTTERANCES_PER_PERSONA": str(job.utterances),
            "INTENT_DETECTION_TINY_MODEL": job.tiny,
            "INTENT_DETECTION_LARGE_MODEL": large,
        }
    )
    usage = _place_model(job)
    pipeline: Any = importlib.import_module("fastworkflow.model_pipeline_training")
    # The same steps in a tenth of the time; they took most of the training.
    pipeline.AdamW = partial(torch.optim.AdamW, fused=True)
    training: Any = importlib.import_module("fastworkflow.train.__main__")
    # The package `datasets` is for downloaded personas; ours are in the folder.
    training._datasets_available = lambda: True
    training.train_workflow(job.workflow)
    Path(job.outcome).write_bytes(orjson.dumps(asdict(usage)))


def _place_model(job: Job) -> ModelUsage:
    litellm: Any = importlib.import_module("litellm")
    usage = ModelUsage()
    ask = litellm.completion
    parameters = _parameters(job.workflow)

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
    fastworkflow: Any = importlib.import_module("fastworkflow")
    definition = fastworkflow.RoutingRegistry.get_definition(workflow)
    kind = fastworkflow.ModuleType.COMMAND_PARAMETERS_CLASS
    classes = {
        name: definition.get_command_class(name, kind)
        for name in definition.command_directory.get_commands()
    }
    return {name: list(one.model_fields) for name, one in classes.items() if one is not None}


if __name__ == "__main__":
    main(Job(**orjson.loads(Path(sys.argv[1]).read_bytes())))
