"""Really trained intent models, and really small ones, for tests with FastWorkflow.

`trained_retail` is FastWorkflow's retail workflow with five of its commands, trained from MiniLM
with FastWorkflow's own training: about two minutes of processor time. It is trained once
and kept in pytest's cache, until what it is made of changes. Tests that use it are slow, and have
the time to wait for it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from greenroom.agents.fastworkflow import training as fastworkflow_training
from greenroom.agents.fastworkflow.folders import find_workflow
from greenroom.agents.fastworkflow.training import TrainingResult, TrainingSettings, train
from greenroom.domains.domain import Domain
from greenroom.domains.tasks import Action
from greenroom.util.caches import CACHE_VARIABLE
from tests.conftest import ROOT

COMMANDS = (
    "cancel_pending_order",
    "find_user_id_by_email",
    "find_user_id_by_name_zip",
    "get_order_details",
    "get_user_details",
)
"""What is left of the retail workflow. Of the built-in retail tasks, 21 need nothing else."""

SETTINGS = TrainingSettings(personas=4, utterances=5)

PARAPHRASES = {
    "cancel_pending_order": (
        "void my order, I do not need it any more",
        "kindly stop this purchase before it ships",
        "call off the order <order_id>#W5442520</order_id> <reason>no longer needed</reason>",
    ),
    "find_user_id_by_email": (
        "identify the customer by the e-mail address",
        "which account belongs to this mail address?",
        "search the user by their email <email>ann@example.com</email>",
    ),
    "find_user_id_by_name_zip": (
        "identify the customer by first name, last name and zip code",
        "search the account with my full name and postal code",
        "by name and zip: <first_name>Mei</first_name> <last_name>Li</last_name> <zip>28236</zip>",
    ),
    "get_order_details": (
        "tell me what is inside this order",
        "I would like to see what my order contains and where it is",
        "show everything about the order <order_id>#W5442520</order_id>",
    ),
    "get_user_details": (
        "bring up the profile of this user",
        "display the account information of the customer",
        "fetch the user's profile <user_id>mei_li_3865</user_id>",
    ),
}
"""Commands in words that nobody trained with."""

WORDINGS = {
    "cancel_pending_order": "kindly stop this purchase before it ships",
    "find_user_id_by_email": "search the user by their email",
    "find_user_id_by_name_zip": "identify the customer by first name, last name and zip code",
    "get_order_details": "show everything about the order",
    "get_user_details": "pull up the profile and details of the customer",
}
"""For each command other words that the trained models are sure of."""

_TIME = 900
_TRAINED = "trained_retail"


@dataclass(frozen=True)
class TrainedWorkflow:
    """A workflow's folder, with intent models in a cache of their own."""

    path: Path
    cache: Path
    result: TrainingResult

    def use(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Have this test's code find the models."""
        monkeypatch.setenv(CACHE_VARIABLE, str(self.cache))


def in_other_words(action: Action) -> str:
    """An action as a command that does not begin with a command's name, with its values in tags."""
    return WORDINGS[action.name] + "".join(
        f" <{name}>{value}</{name}>" for name, value in action.kwargs.items()
    )


def covered_tasks(domain: Domain) -> list[int]:
    """The tasks that need no other commands than the trained ones."""
    return [
        index
        for index, task in enumerate(domain.tasks())
        if {action.name for action in task.actions} <= set(COMMANDS)
    ]


@pytest.fixture(scope="session")
def trained_retail(request: pytest.FixtureRequest) -> TrainedWorkflow:
    """Five commands of retail with trained intent models; all workers of a test run share them."""
    cache: Any = request.config.cache
    # Made by other code, it is another thing; what that code made can go.
    place = Path(cache.mkdir(f"fastworkflow-{_code_digest()}"))
    for other in place.parent.glob("fastworkflow-*"):
        if other != place:
            shutil.rmtree(other, ignore_errors=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CACHE_VARIABLE, str(place))
        workflow = reduced_retail(place / f"worker-{os.environ.get('PYTEST_XDIST_WORKER', '0')}")
        return TrainedWorkflow(workflow, place, train(workflow, SETTINGS))


def reduced_retail(parent: Path, commands: tuple[str, ...] = COMMANDS) -> Path:
    """A copy of FastWorkflow's retail workflow that has only some of its commands."""
    workflow = parent / "retail_workflow"
    shutil.rmtree(workflow, ignore_errors=True)
    shutil.copytree(
        find_workflow("retail"), workflow, ignore=shutil.ignore_patterns("__pycache__", "___*")
    )
    for path in (workflow / "_commands").glob("*.py"):
        if path.stem not in commands:
            path.unlink()
    return workflow


@pytest.fixture(scope="session")
def small_models(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A BERT and a DistilBERT that know nothing and are trained in seconds."""
    return make_small_models(tmp_path_factory.mktemp("small-models"))


def make_small_models(folder: Path) -> tuple[Path, Path]:
    """Write a BERT and a DistilBERT that know nothing."""
    # In a process of its own: transformers warns at its import, and a warning is an error here.
    subprocess.run(
        [sys.executable, "-m", "tests.agents.fastworkflow_small_models", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    return folder / "tiny", folder / "large"


def allow_time_for_training(items: list[pytest.Item]) -> None:
    """Mark the tests that may have to wait for the training."""
    for item in items:
        if _TRAINED in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)
            item.add_marker(pytest.mark.timeout(_TIME))


def _code_digest() -> str:
    folder = Path(fastworkflow_training.__file__).parent
    digest = sha256()
    for path in sorted(folder.glob("training*.*")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


__all__ = [
    "COMMANDS",
    "PARAPHRASES",
    "WORDINGS",
    "TrainedWorkflow",
    "allow_time_for_training",
    "covered_tasks",
    "in_other_words",
    "make_small_models",
    "reduced_retail",
    "small_models",
    "trained_retail",
]
