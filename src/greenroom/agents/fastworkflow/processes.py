"""FastWorkflow in processes of its own: their environment, and how they load it.

One process forks workers, another one trains. Both work on copies, and neither needs our secrets.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from greenroom.agents.fastworkflow.commands import fastworkflow
from greenroom.agents.fastworkflow.folders import INTERNAL, WORKFLOWS
from greenroom.models.litellm_transport import keep_litellm_local

_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL|DATABASE_URL|_HEADERS$", re.IGNORECASE)

_SETTINGS = {
    "SPEEDDICT_FOLDERNAME": "___workflow_contexts",
    "NOT_FOUND": "NOT_FOUND",
    "INVALID": "INVALID",
    "MISSING_INFORMATION_ERRMSG": "Missing required parameter values: ",
    "INVALID_INFORMATION_ERRMSG": "Invalid parameter values: ",
    "PARAMETER_EXTRACTION_ERROR_MSG": "Parameters could not be extracted: {error}",
}
"""The settings that FastWorkflow always needs; the sentinels are the usual ones."""


def process_environment(
    folder: Path, *, threads: int = 1, offline: bool = True, secrets: bool = False
) -> dict[str, str]:
    """The environment of a process that works in a folder; without secrets unless it needs them."""
    kept = {
        name: value for name, value in os.environ.items() if secrets or not _SECRET.search(name)
    }
    kept |= {
        "DSPY_CACHEDIR": str(folder / "dspy"),
        "FASTWORKFLOW_STATE_ROOT": str(folder / "state"),
        "MKL_NUM_THREADS": str(threads),
        "OMP_NUM_THREADS": str(threads),
        # On a busy machine, spinning threads slow down those that they wait for.
        "OMP_WAIT_POLICY": "PASSIVE",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "TQDM_DISABLE": "1",
    }
    if offline:
        kept |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
    return kept


def load_package(folder: Path, settings: Mapping[str, str]) -> Any:
    """Import FastWorkflow with these settings, and let it use the copies in a folder."""
    warnings.simplefilter("ignore")
    keep_litellm_local()
    package = fastworkflow()

    def internal_path(name: str) -> str:
        return str(folder / WORKFLOWS / INTERNAL / name)

    package.get_internal_workflow_path = internal_path
    package.init(env_vars={**_SETTINGS, **settings})
    return package
