"""Intent models for FastWorkflow workflows: trained once, kept in the user's cache, found again.

FastWorkflow trains in a process of its own, on copies of the workflow and of its own internals, so
nothing is written where people keep their things. What it has trained is kept under a key of all
that shaped it: the workflow's commands, FastWorkflow's version, base models and settings.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import uuid4

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError, computed_field

from greenroom.agents.fastworkflow import training_utterances as own_utterances
from greenroom.agents.fastworkflow.folders import (
    COMMAND_INFO,
    installed_version,
    place_copies,
    temporary_folder,
)
from greenroom.agents.fastworkflow.training_models import BaseModels, choose_models
from greenroom.agents.fastworkflow.training_process import (
    SyntheticModel,
    run_training,
    synthetic_model,
)
from greenroom.agents.fastworkflow.training_run import HeldOut, Job, ModelUsage
from greenroom.domains.packs import read_json
from greenroom.errors import DataError
from greenroom.util.caches import cache_root

FORMAT = 2
"""The version of the cached files; other versions are ignored."""

_RECORD = "training.json"
_ARTIFACTS = "command_info"
_SHAPING_FILES = (
    "context_hierarchy_model.json",
    "context_inheritance_model.json",
    "intent_benchmark.json",
    "personas.json",
    "workflow_inheritance_model.json",
)
_KEPT_FILES = ("*_param_labeled.json",)

Report = Callable[[str], None]
"""Gets short progress texts of the training."""


@dataclass(frozen=True, kw_only=True)
class TrainingSettings:
    """The settings of training; all of them affect the result."""

    tiny_model: str | None = None
    """A folder, or a name at Hugging Face; by default MiniLM where it is installed."""
    large_model: str | None = None
    """The same, for a DistilBERT; by default derived from the small model."""
    model: str | None = None
    """The model that writes utterances; without one, the commands' own are varied."""
    api_base: str | None = None
    personas: int = 4
    """How many personas utter each command; FastWorkflow's own default."""
    utterances: int = 8
    """How often each of them does. Without a model, patterns take the place of personas."""
    threads: int = 2
    """How many threads train; the number does not change the models."""


class PatternFigure(BaseModel):
    """How many utterances of a pattern got the one right command."""

    pattern: str
    held_out: int
    right: int
    failed: tuple[HeldOut, ...]


class TrainingResult(BaseModel):
    """The intent models of a workflow, how they were trained and their quality."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    key: str
    workflow: str
    workflow_path: str
    workflow_digest: str
    fastworkflow: str
    tiny_model: str
    large_model: str | None
    utterances_by: str
    """The model that wrote the utterances, or `variations`."""
    commands: int
    utterances: int
    patterns: tuple[PatternFigure, ...] = ()
    """The figures of patterns that are not in the training data; older records have none."""
    degraded: tuple[str, ...]
    """Commands for which the model failed to write all utterances."""
    usage: ModelUsage
    seconds: float
    trained_at: datetime
    artifacts: Path
    """The folder to use as the workflow's `___command_info`."""
    cached: bool = False
    """Whether it was in the cache already."""

    @computed_field
    @property
    def held_out(self) -> int:
        """The utterances of all patterns that are not in the training data."""
        return sum(figure.held_out for figure in self.patterns)

    @computed_field
    @property
    def held_out_right(self) -> int:
        """How many of those got the one right command."""
        return sum(figure.right for figure in self.patterns)

    @property
    def size(self) -> int:
        """The size on disk, in bytes."""
        return sum(path.stat().st_size for path in self.artifacts.rglob("*") if path.is_file())


def training_cache() -> Path:
    """The folder of trained models."""
    return cache_root() / "fastworkflow"


def find_artifacts(workflow_path: Path) -> Path | None:
    """The newest intent models that fit a workflow and the installed FastWorkflow, if any.

    Copy the folder into a working copy of the workflow, as its `___command_info`.
    """
    digest, version = workflow_digest(workflow_path), installed_version()
    fitting = [
        result
        for result in trained_models()
        if (result.workflow_digest, result.fastworkflow) == (digest, version)
    ]
    return max(fitting, key=lambda result: result.trained_at).artifacts if fitting else None


def fits(result: TrainingResult) -> bool:
    """Whether models still fit: FastWorkflow and the workflow are unchanged."""
    workflow = Path(result.workflow_path)
    return (
        result.fastworkflow == installed_version()
        and workflow.is_dir()
        and result.workflow_digest == workflow_digest(workflow)
    )


def trained_models() -> list[TrainingResult]:
    """All trained models, by workflow name and then by age."""
    results = [
        result
        for path in training_cache().glob(f"[!.]*/{_RECORD}")
        if (result := _read(path)) is not None
    ]
    return sorted(results, key=lambda result: (result.workflow, result.trained_at, result.key))


def train(
    workflow_path: Path,
    settings: TrainingSettings | None = None,
    *,
    force: bool = False,
    report: Report = lambda words: None,
) -> TrainingResult:
    """Train a workflow's intent models, unless the cache has them."""
    settings, workflow = settings or TrainingSettings(), workflow_path.resolve()
    training = _Training(
        workflow=workflow,
        digest=workflow_digest(workflow),
        version=installed_version(),
        models=choose_models(settings.tiny_model, settings.large_model),
        writer=synthetic_model(settings.model, settings.api_base),
        settings=settings,
    )
    from filelock import FileLock  # installed with FastWorkflow

    record = training_cache() / training.key / _RECORD
    training_cache().mkdir(parents=True, exist_ok=True)
    # Another process that wants the same models waits and then finds them.
    with FileLock(training_cache() / f".{training.key}.lock"):
        known = None if force else _read(record)
        if known is not None:
            return known.model_copy(update={"cached": True})
        with closing(temporary_folder()) as scratch:
            return _train(training, scratch.path, report)


def workflow_digest(workflow_path: Path) -> str:
    """A digest of all files of a workflow that affect training.

    Tools, data and insights do not, so a copy with a policy in it is the same workflow.
    """
    files = [path for path in (workflow_path / "_commands").rglob("*") if _shapes(path)]
    files += [workflow_path / name for name in _SHAPING_FILES if (workflow_path / name).is_file()]
    digest = sha256()
    for path in sorted(files):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(workflow_path).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def _shapes(path: Path) -> bool:
    return path.suffix in (".py", ".json") and path.is_file() and "__pycache__" not in path.parts


@dataclass(frozen=True)
class _Training:
    """What is trained, and with what."""

    workflow: Path
    digest: str
    version: str
    models: BaseModels
    writer: SyntheticModel | None
    settings: TrainingSettings

    @property
    def utterances_by(self) -> str:
        return "variations" if self.writer is None else self.writer.name

    @property
    def key(self) -> str:
        parts = {
            "format": FORMAT,
            "workflow": self.digest,
            "fastworkflow": self.version,
            "models": self.models.identities(),
            "utterances": own_utterances.VERSION if self.writer is None else self.writer.identity,
            "personas": self.settings.personas,
            "per persona": self.settings.utterances,
        }
        digest = sha256(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)).hexdigest()
        return f"{self.workflow.name}-{digest[:16]}"


def _train(training: _Training, scratch: Path, report: Report) -> TrainingResult:
    workflow = place_copies(training.workflow, scratch)
    _place_personas(workflow, theirs=training.writer is not None)
    files = (workflow / "_commands").rglob("*.py")
    count = sum(not path.name.startswith("_") for path in files)
    report(f"{training.workflow.name}: {count} commands")
    begun = time.monotonic()
    outcome = run_training(
        Job(
            folder=str(scratch),
            workflow=str(workflow),
            tiny=training.models.tiny,
            large=training.models.large,
            model=None if training.writer is None else training.writer.litellm_name,
            personas=training.settings.personas,
            utterances=training.settings.utterances,
            threads=training.settings.threads,
        ),
        writer=training.writer,
        offline=training.models.offline,
        failed_log=training_cache() / "failed.log",
        report=report,
    )
    result = TrainingResult(
        key=training.key,
        workflow=training.workflow.name,
        workflow_path=str(training.workflow),
        workflow_digest=training.digest,
        fastworkflow=training.version,
        tiny_model=training.models.tiny,
        large_model=training.models.large,
        utterances_by=training.utterances_by,
        patterns=figures_of(outcome.held_out),
        **_measured(workflow / COMMAND_INFO),
        usage=outcome.usage,
        seconds=round(time.monotonic() - begun, 1),
        trained_at=datetime.now(UTC),
        artifacts=training_cache() / training.key / _ARTIFACTS,
    )
    _keep(workflow / COMMAND_INFO, result)
    return result


def _place_personas(workflow: Path, *, theirs: bool) -> None:
    # A model may use the workflow's own personas; patterns need the name of one. Either way
    # FastWorkflow need not download any.
    path = workflow / "personas.json"
    if not (theirs and path.exists()):
        personas = [
            {"id": str(place), "text": persona}
            for place, persona in enumerate(own_utterances.PERSONAS)
        ]
        path.write_bytes(orjson.dumps({"schema_version": 1, "personas": personas}))


def figures_of(held_out: Sequence[HeldOut]) -> tuple[PatternFigure, ...]:
    """The figure of each pattern, in the order of the patterns."""
    by_pattern: dict[str, list[HeldOut]] = {}
    for one in held_out:
        by_pattern.setdefault(one.pattern, []).append(one)
    return tuple(
        PatternFigure(
            pattern=pattern, held_out=len(said), right=len(said) - len(failed), failed=failed
        )
        for pattern, said in by_pattern.items()
        for failed in [tuple(one for one in said if one.understood != [one.command])]
    )


def _measured(info: Path) -> dict[str, Any]:
    rows: list[dict[str, Any]] = read_json(info / "training_report.json", dict)["rows"]
    return {
        "commands": sum(row["kind"] == "application" for row in rows),
        "utterances": sum(row["row_count"] for row in rows),
        "degraded": tuple(row["command_name"] for row in rows if row["fell_back"]),
    }


def _keep(info: Path, result: TrainingResult) -> None:
    """Put it into the cache, completely or not at all."""
    draft, replaced = (training_cache() / f".{uuid4().hex}" for _ in range(2))
    artifacts = draft / _ARTIFACTS
    place = training_cache() / result.key
    try:
        artifacts.mkdir(parents=True)
        for pattern in _KEPT_FILES:
            for path in info.glob(pattern):
                shutil.copy2(path, artifacts)
        for path in info.glob("*/threshold.json"):
            shutil.copytree(path.parent, artifacts / path.parent.name)
        record = result.model_dump_json(indent=2, exclude={"artifacts", "cached"})
        (draft / _RECORD).write_text(record, encoding="utf-8")
        if place.exists():
            place.rename(replaced)
        draft.rename(place)
    finally:
        for path in (draft, replaced):
            shutil.rmtree(path, ignore_errors=True)


def _read(record: Path) -> TrainingResult | None:
    try:
        known: dict[str, Any] = read_json(record, dict)
        return TrainingResult.model_validate(known | {"artifacts": record.parent / _ARTIFACTS})
    except (DataError, ValidationError):
        return None
