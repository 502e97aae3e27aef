"""BM25: documents ranked by the words that they share with a query.

The scores are those of Okapi BM25 with k1 = 1.5, b = 0.75 and epsilon = 0.25, over words that are
split at white space, as the package rank_bm25 computes them. Rare words count more. Words in more
than half of the documents would count less than nothing: they count a quarter of the mean.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Sequence

from greenroom.domains.tau2.banking.knowledge import (
    MOST_HITS,
    Document,
    Hit,
    KnowledgeSearch,
    Search,
)

_K1, _B, _EPSILON = 1.5, 0.75, 0.25


def _words(text: str) -> list[str]:
    return text.lower().split()


class Bm25:
    """An index of texts: what each word adds to the score of each text with it."""

    def __init__(self, texts: Sequence[str]) -> None:
        counts = [Counter(_words(text)) for text in texts]
        lengths = [sum(count.values()) for count in counts]
        mean = sum(lengths) / max(len(lengths), 1)
        self._size = len(texts)
        self._postings: dict[str, list[tuple[int, float]]] = {}
        for place, (count, length) in enumerate(zip(counts, lengths, strict=True)):
            longer = _K1 * (1 - _B + _B * length / mean) if mean else 0
            for word, frequency in count.items():
                share = frequency * (_K1 + 1) / (frequency + longer)
                self._postings.setdefault(word, []).append((place, share))
        self._weights = self._weigh()

    def _weigh(self) -> dict[str, float]:
        weights = {
            word: math.log(self._size - len(found) + 0.5) - math.log(len(found) + 0.5)
            for word, found in self._postings.items()
        }
        lowest = _EPSILON * (sum(weights.values()) / max(len(weights), 1))
        return {word: lowest if weight < 0 else weight for word, weight in weights.items()}

    def scores(self, query: str) -> list[float]:
        """The score of every text; words that the query repeats count each time."""
        scores = [0.0] * self._size
        for word in _words(query):
            weight = self._weights.get(word, 0.0)
            for place, share in self._postings.get(word, ()):
                scores[place] += weight * share
        return scores


def _index(documents: Sequence[Document]) -> Search:
    index = Bm25([document.content for document in documents])

    def search(query: str) -> list[Hit]:
        scores = index.scores(query)
        # Of equal scores, the first document comes first; scores of 0 fill the list.
        best = heapq.nlargest(MOST_HITS, range(len(scores)), key=scores.__getitem__)
        return [Hit(documents[place], scores[place]) for place in best]

    return search


bm25 = KnowledgeSearch("bm25", _index)
