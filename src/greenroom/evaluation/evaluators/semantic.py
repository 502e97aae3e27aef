"""The evaluator of meaning: word embeddings that come with a package, and no network."""

from __future__ import annotations

from dataclasses import dataclass

import anyio.to_thread
from pydantic import Field

from greenroom.evaluation.evaluators.likeness import LikenessSettings, likeness
from greenroom.evaluation.evaluators.types import Case, EvaluatorContext, EvaluatorKind, Score
from greenroom.util.embeddings import import_wordllama, semantic_model


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


semantic_similarity = EvaluatorKind(
    "semantic_similarity", _create, SemanticSettings, "how close the meaning is", by_rows=True
)
