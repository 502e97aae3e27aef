"""A search by meaning: word embeddings that come with a package, and no network."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from greenroom.domains.tau2.banking.knowledge import (
    MOST_HITS,
    Document,
    Hit,
    KnowledgeSearch,
    Search,
)
from greenroom.util.embeddings import import_wordllama, semantic_model


def _index(documents: Sequence[Document]) -> Search:
    model = semantic_model()
    vectors = model.embed(
        [f"{document.title}\n{document.content}" for document in documents], norm=True
    )

    def search(query: str) -> list[Hit]:
        scores = [float(score) for score in vectors @ model.embed(query, norm=True)[0]]
        best = heapq.nlargest(MOST_HITS, range(len(scores)), key=scores.__getitem__)
        return [Hit(documents[place], scores[place]) for place in best]

    return search


semantic = KnowledgeSearch("semantic", _index, check=import_wordllama)
