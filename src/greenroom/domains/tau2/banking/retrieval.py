"""How an agent gets at the knowledge base: by its prompt, by search tools, or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

from greenroom.domains.packs import Pack, read_tool_infos
from greenroom.domains.tau2.banking.knowledge import (
    MOST_HITS,
    SEARCHES,
    Document,
    KnowledgeSearch,
    documents_named,
    documents_of,
    grep_text,
    search_text,
)
from greenroom.domains.tau2.rendering import tau2_text
from greenroom.domains.tools import ToolInfo, Toolset
from greenroom.domains.world import Base, World
from greenroom.errors import DataError, UnknownName
from greenroom.util.imports import is_file, is_target, split_target

PROMPTS: Final = "prompts"
"""A table of the pack: the texts that policies are made of."""

DEFAULT: Final = "bm25_grep"
NOTHING: Final = "no_knowledge"

_COMPONENTS: Final = "components/"
_DENSE: Final = (
    "The `KB_search_dense` tool uses **OpenAI API** with embedding model "
    "`text-embedding-3-large` for dense retrieval."
)


@dataclass(frozen=True)
class Retrieval:
    """A way to the knowledge base."""

    name: str
    prompt: str
    """The file that the policy is made from."""
    search: str | None = None
    """The search behind `KB_search`."""
    grep: bool = False
    by_task: bool = False
    """The policy holds the documents of the task."""
    shortens: bool = False
    """The search tool is `KB_search_bm25`, which takes the number of documents."""

    @property
    def reads_documents(self) -> bool:
        """Without documents there is nothing to be found."""
        return self.name != NOTHING

    @property
    def infos_name(self) -> str:
        """The retrieval whose tools a pack describes in the same way."""
        return self.name if self.name in _RETRIEVALS else DEFAULT

    @property
    def own_code(self) -> bytes:
        """The file of a search of one's own; runs with a changed one are not the same."""
        if self.search is None or not is_target(self.search):
            return b""
        source, _ = split_target(self.search)
        return Path(source).read_bytes() if is_file(source) else b""


_RETRIEVALS: Final = {
    one.name: one
    for one in (
        Retrieval(NOTHING, "no_knowledge"),
        Retrieval("full_kb", "full_kb"),
        Retrieval("golden_retrieval", "required_docs", by_task=True),
        Retrieval("bm25", "classic_rag_bm25_no_grep", search="bm25"),
        Retrieval("bm25_grep", "classic_rag_bm25", search="bm25", grep=True),
        Retrieval("grep_only", "grep_only", grep=True),
        Retrieval("alltools", "all_tools", search="bm25", shortens=True),
    )
}


def retrieval_named(name: str) -> Retrieval:
    """A way to the knowledge base; any other search comes with grep."""
    if name in _RETRIEVALS:
        return _RETRIEVALS[name]
    try:
        kind = SEARCHES.load(name)
    except UnknownName as error:
        raise UnknownName("retrieval", name, {*_RETRIEVALS, *SEARCHES.names()}) from error
    if kind.check is not None:
        kind.check()
    return Retrieval(name, "classic_rag", search=name, grep=True)


Query = Annotated[str, "What to look for."]
Most = Annotated[int, "How many documents to show at most; 10 if left out."]
Pattern = Annotated[str, "A regular expression; upper and lower case are the same."]


def search_tools(retrieval: Retrieval) -> list[Toolset]:
    """The tools that a retrieval adds to the agent's."""
    tools: list[Toolset] = []
    if retrieval.search is not None:
        kind = SEARCHES.load(retrieval.search)
        tools.append(_short_search(kind) if retrieval.shortens else _search(kind))
    if retrieval.grep:
        tools.append(_grep_tool())
    return tools


def _search(kind: KnowledgeSearch) -> Toolset:
    tools = Toolset(owner="KBSearchMixin", render=tau2_text)

    @tools.add()
    def KB_search(world: World, query: Query) -> str:  # noqa: N802
        """Search the bank's documents."""
        return search_text(world, kind, query)

    return tools


def _short_search(kind: KnowledgeSearch) -> Toolset:
    tools = Toolset(owner="KBSearchBm25AllToolsMixin", render=tau2_text)

    @tools.add()
    def KB_search_bm25(world: World, query: Query, k: Most = MOST_HITS) -> str:  # noqa: N802
        """Search the bank's documents by words."""
        return search_text(world, kind, query, k)

    return tools


def _grep_tool() -> Toolset:
    tools = Toolset(owner="GrepMixin", render=tau2_text)

    @tools.add()
    def grep(world: World, pattern: Pattern) -> str:
        """Show the bank's documents with most matches of a pattern."""
        return grep_text(world, pattern)

    return tools


def tool_infos(retrieval: Retrieval, pack: Pack) -> list[ToolInfo]:
    """The schemas of the agent's tools: those that search come first."""
    own = {name: tool.info for tools in search_tools(retrieval) for name, tool in tools.items()}
    if pack.root is not None:
        file = pack.root / f"tools_retrieval_{retrieval.infos_name}.json"
        described = {info["function"]["name"]: info for info in read_tool_infos(file)}
        own = {name: described.get(name, info) for name, info in own.items()}
    return [*own.values(), *pack.tool_infos]


def policy_text(base: Base, retrieval: Retrieval, named: Sequence[str] = ()) -> str:
    """The agent's policy; `named` are the documents that a task needs."""
    text = _prompt(base, retrieval.prompt)
    for name in base.ids(PROMPTS):
        if name.startswith(_COMPONENTS):
            component = name.removeprefix(_COMPONENTS)
            place = f"{{{{component:{component}}}}}"
            text = text.replace(place, base.record(PROMPTS, name)["text"])
    made: dict[str, Any] = {
        "full_knowledge_base": lambda: _documents_text(documents_of(base)),
        "required_documents": lambda: _documents_text(documents_named(base, named)),
        "all_tools_dense_instructions": lambda: _DENSE,
    }
    for name, make in made.items():
        place = f"{{{{{name}}}}}"
        if place in text:
            text = text.replace(place, make())
    return text


def _prompt(base: Base, name: str) -> str:
    if PROMPTS not in base.tables or name not in base.ids(PROMPTS):
        raise DataError(
            f"The pack has no prompts/{name}.md for banking_knowledge: import it again from a "
            "checkout of tau2-bench, or choose another retrieval."
        )
    return base.record(PROMPTS, name)["text"]


def _documents_text(documents: Sequence[Document]) -> str:
    if not documents:
        return "(No documents provided)"
    return "\n\n---\n\n".join(f"## {one.title}\n\n{one.content}" for one in documents)
