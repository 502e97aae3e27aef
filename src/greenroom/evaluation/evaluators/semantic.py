"""The evaluator of meaning: word embeddings that come with a package, and no network."""

from __future__ import annotations

import importlib
import logging
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

import anyio.to_thread
from pydantic import Field

from greenroom.errors import InputError
from greenroom.evaluation.evaluators.likeness import LikenessSettings, likeness
from greenroom.evaluation.evaluators.types import Case, EvaluatorContext, EvaluatorKind, Score

_LOADING = Lock()


class SemanticSettings(LikenessSettings):
    """Settings of semantic_similarity."""

    threshold: float = Field(default=0.7, ge=0, le=1, description="Passed from this score on.")


@dataclass(frozen=True)
class _SemanticScorer:
    settings: SemanticSettings

    async def evaluate(self, case: Case) -> Score:
        model = await anyio.to_thread.run_sync(semantic_model)

        def measure(one: str, other: str) -> float:
            if one == other:
                return 1.0
            if not one.strip() or not other.strip():
                return 0.0  # nothing has no meaning that could be like another
            return float(model.similarity(one, other))

        return likeness(self.settings, case, measure)

    async def close(self) -> None:
        """The model stays, for others to use."""


def _create(settings: SemanticSettings, _: EvaluatorContext) -> _SemanticScorer:
    import_wordllama()  # where it is missing, that is told before anything is run
    return _SemanticScorer(settings)


@cache
def import_wordllama() -> Any:
    """The package, or an error that says how to get it."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        return importlib.import_module("wordllama")
    except ImportError as error:
        raise InputError(
            "semantic_similarity needs the package wordllama: pip install 'greenroom[semantic]'."
        ) from error
    finally:
        # It sets up logging for the whole program when it is imported, which is not its business.
        root.handlers[:] = handlers
        root.setLevel(level)


def semantic_model() -> Any:
    """The model, loaded once, however many ask for it at the same time."""
    with _LOADING:
        return _loaded()


@cache
def _loaded() -> Any:
    wordllama = import_wordllama()
    # The weights and the tokenizer are files of the package. It looks for the tokenizer in its
    # cache only, so that is where the cache is; nothing is ever fetched.
    package = Path(wordllama.__file__).parent
    return wordllama.WordLlama.load(cache_dir=package, disable_download=True)


semantic_similarity = EvaluatorKind(
    "semantic_similarity", _create, SemanticSettings, "how close the meaning is", by_rows=True
)
