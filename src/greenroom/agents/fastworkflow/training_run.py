"""The training process: FastWorkflow's own training, on copies.

Run as `python -m greenroom.agents.fastworkflow.training_run JOB`, with JOB a file that the training
module has written. What FastWorkflow prints is its output; the result is in the file OUTCOME.
"""

from __future__ import annotations

import importlib
import sys
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import orjson

from greenroom.agents.fastworkflow.commands import fastworkflow
from greenroom.agents.fastworkflow.processes import load_package
from greenroom.agents.fastworkflow.training_models import make_distilbert
from greenroom.agents.fastworkflow.training_utterances import answer_of_no_model

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


def main(job: Job) -> None:
    """Train, and write the result."""
    folder = Path(job.folder)
    torch: Any = importlib.import_module("torch")
    torch.set_num_threads(job.threads)
    large = job.large or str(folder / "large-model")
    if job.large is None:
        make_distilbert(job.tiny, Path(large))
    load_package(
        folder,
        {
            "LLM_SYNDATA_GEN": job.model or "none",
            "LITELLM_API_KEY_SYNDATA_GEN": "",
            "SYNTHETIC_UTTERANCE_GEN_PERSONAS_PER_BATCH": "1",
            "SYNTHETIC_UTTERANCE_GEN_NUMOF_PERSONAS": str(job.personas),
            "SYNTHETIC_UTTERANCE_GEN_UTTERANCES_PER_PERSONA": str(job.utterances),
            "INTENT_DETECTION_TINY_MODEL": job.tiny,
            "INTENT_DETECTION_LARGE_MODEL": large,
        },
    )
    usage = _place_model(job)
    # The same steps in a tenth of the time; they took most of the training.
    fastworkflow("model_pipeline_training").AdamW = partial(torch.optim.AdamW, fused=True)
    training = fastworkflow("train.__main__")
    # The package `datasets` is for downloaded personas; ours are in the folder.
    training._datasets_available = lambda: True
    training.train_workflow(job.workflow)
    (folder / OUTCOME).write_bytes(orjson.dumps(asdict(usage)))


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
    definition = fastworkflow().RoutingRegistry.get_definition(workflow)
    kind = fastworkflow().ModuleType.COMMAND_PARAMETERS_CLASS
    classes = {
        name: definition.get_command_class(name, kind)
        for name in definition.command_directory.get_commands()
    }
    return {name: list(one.model_fields) for name, one in classes.items() if one is not None}


if __name__ == "__main__":
    main(Job(**orjson.loads(Path(sys.argv[1]).read_bytes())))
