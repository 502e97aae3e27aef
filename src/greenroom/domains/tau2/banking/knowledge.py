"""The knowledge base: the pack's documents, and searches in them.

A search is a plug-in: an object of `KnowledgeSearch` under the entry points
`greenroom.knowledge_searches`, or in a file that is named `file.py:name`. It makes an index of the
documents, once for a pack, and ranks them for a query.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic import TypeAdapter

from greenroom.domains.packs import read_json
from greenroom.domains.tasks import validated
from greenroom.domains.tau2.banking.grep import match_counts
from greenroom.domains.world import Base, Record, World
from greenroom.registry import Registry

DOCUMENTS: Final = "documents"
"""A table of the pack, beside those of the database."""

ENTRY_POINTS: Final = "greenroom.knowledge_searches"
MOST_HITS: Final = 10
_TIMING: Final = "[Timing: retrieval=0ms, total=0ms]"
"""The original tells how long a search took; always the same here, so that episodes repeat."""


class Document(NamedTuple):
    """A text of the knowledge base."""

    id: str
    title: str
    content: str


class Hit(NamedTuple):
    """A document that was found, and how well it fits."""

    document: Document
    score: float


Search = Callable[[str], Sequence[Hit]]
"""Finds documents: the best first, as many as a tool may show."""


@dataclass(frozen=True)
class KnowledgeSearch:
    """A kind of search."""

    name: str
    index: Callable[[Sequence[Document]], Search]
    """Makes a search of documents; it is called once for each pack."""
    check: Callable[[], object] | None = None
    """Raises InputError if something that it needs is missing; called before anything is played."""


SEARCHES: Final = Registry(ENTRY_POINTS, KnowledgeSearch, "knowledge search")
"""The searches that are installed."""


def documents_of(base: Base) -> tuple[Document, ...]:
    """All documents, in the order of the pack."""
    return base.derived(_read_documents)


def _read_documents(base: Base) -> tuple[Document, ...]:
    if DOCUMENTS not in base.tables:
        return ()
    records = ((key, base.record(DOCUMENTS, key)) for key in base.ids(DOCUMENTS))
    return tuple(Document(key, record["title"], record["content"]) for key, record in records)


def documents_named(base: Base, names: Sequence[str]) -> list[Document]:
    """The documents with these titles or ids; names that there are not are left out."""
    known = documents_of(base)
    by_name = {one.id: one for one in reversed(known)} | {one.title: one for one in reversed(known)}
    return [by_name[name] for name in names if name in by_name]


_documents = TypeAdapter(Document)


def read_documents(files: Sequence[Path]) -> dict[str, Record]:
    """The table of documents, from the pack's files in their order."""
    documents = [validated(_documents, read_json(file, dict), file) for file in files]
    return {one.id: {"title": one.title, "content": one.content} for one in documents}


@dataclass(frozen=True)
class _Indexed:
    """Makes the index of a kind of search over a base's documents."""

    kind: KnowledgeSearch

    def __call__(self, base: Base) -> Search:
        return self.kind.index(documents_of(base))


def search_text(world: World, kind: KnowledgeSearch, query: Any, most: Any = MOST_HITS) -> str:
    """What a search finds, as tools show it; `most` only shortens the list."""
    hits: Sequence[Hit] = ()
    if query.strip():
        hits = world.base.derived(_Indexed(kind))(query)[:MOST_HITS][:most]
    found = hits_text(hits) if hits else "No relevant documents found."
    return f"{found}\n\n{_TIMING}"


def grep_text(world: World, pattern: Any) -> str:
    """The documents with most matches of a pattern, as tools show them."""
    hits: list[Hit] = []
    if pattern.strip():
        documents = documents_of(world.base)
        counts = match_counts(pattern, [document.content for document in documents])
        hits = [Hit(one, count) for one, count in zip(documents, counts, strict=True) if count]
    hits.sort(key=lambda hit: hit.score, reverse=True)
    return hits_text(hits[:MOST_HITS]) if hits else f"No matches found for pattern: {pattern}"


def hits_text(hits: Sequence[Hit]) -> str:
    """Documents that were found, with their content."""
    return "\n".join(
        f"{number}. {document.title}\n"
        f"   ID: {document.id}\n"
        f"   Score: {score:.4f}\n"
        f"   Content: {document.content}\n"
        for number, (document, score) in enumerate(hits, 1)
    )
