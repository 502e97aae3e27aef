"""The rules of tau2-bench's banking_knowledge, and how its packs are read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pydantic import BaseModel, Field

from greenroom.domains.editions import Edition
from greenroom.domains.packs import Pack, read_text
from greenroom.domains.tasks import Task
from greenroom.domains.tau2.banking import base_tools, discovery, user_tools
from greenroom.domains.tau2.banking.answers import agent_tools
from greenroom.domains.tau2.banking.answers import user_tools as new_user_tools
from greenroom.domains.tau2.banking.catalogue import CATALOGUE, read_catalogue
from greenroom.domains.tau2.banking.knowledge import DOCUMENTS, read_documents
from greenroom.domains.tau2.banking.retrieval import (
    DEFAULT,
    PROMPTS,
    policy_text,
    retrieval_named,
    search_tools,
    tool_infos,
)
from greenroom.domains.tau2.banking.tables import hash_world, merge_tables, read_tables
from greenroom.domains.tau2.edition import tau2_edition
from greenroom.domains.tau2.packs import pack_loader
from greenroom.domains.world import Base, Record
from greenroom.domains.worlds import Worlds
from greenroom.errors import DataError
from greenroom.options import Reference, Settings


class BankingSettings(Settings):
    """Settings of banking_knowledge."""

    retrieval: Reference = Field(
        default=DEFAULT,
        description="How the agent gets at the documents: no_knowledge, full_kb (all in the "
        "policy), golden_retrieval (those that the task needs in the policy), grep_only, bm25, "
        "bm25_grep, alltools (of its tools, the BM25 search), or a search such as semantic or "
        "file.py:name, together with grep.",
    )


def banking_edition(settings: BaseModel) -> Edition:
    """The rules, with a way to the knowledge base."""
    assert isinstance(settings, BankingSettings)
    retrieval = retrieval_named(settings.retrieval)
    agent, user = agent_tools(), new_user_tools()
    for tools in (*search_tools(retrieval), base_tools.tools, discovery.agent):
        agent.include(tools)
    for tools in (user_tools.tools, discovery.user):
        user.include(tools)

    def load(directory: Path, domain: str) -> Pack:
        pack = _load(directory, domain)
        reference = _reference(directory / domain)
        loaded = replace(
            pack,
            load_tables=lambda: {**pack.load_tables(), **reference},
            policy=policy_text(Base(reference), retrieval),
            own_code=retrieval.own_code,
        )
        if retrieval.reads_documents and not reference[DOCUMENTS]:
            raise DataError(
                f"{directory / domain / 'documents'} holds no document: import the pack again from "
                "a checkout of tau2-bench, or choose the retrieval no_knowledge."
            )
        return loaded

    def policy(pack: Pack, task: Task) -> str:
        return policy_text(pack.base, retrieval, task.documents)

    return tau2_edition(
        agent,
        load,
        user_tools=user,
        shares_world=True,
        prepare=_prepare,
        merge=_merge,
        hash_world=hash_world,
        policy=policy if retrieval.by_task else None,
        tool_infos=lambda pack: tool_infos(retrieval, pack),
    )


def _prepare(worlds: Worlds, task: Task) -> None:
    discovery.log_reads(worlds.agent, task.actions)


def _merge(worlds: Worlds, task: Task, pack: Pack) -> None:
    if task.initial is not None and task.initial.agent_data is not None:
        merge_tables(worlds.agent, task.initial.agent_data, f"The initial data of {task.id}")


_load = pack_loader(read_tables, policy=lambda root: "")


def _reference(root: Path) -> dict[str, dict[str, Record]]:
    """The tables that no tool changes: documents, prompts and descriptions of tools."""
    # The original takes documents in the order of the directory, which differs by file system.
    documents = sorted((root / "documents").glob("*.json"))
    prompts = sorted((root / "prompts").rglob("*.md"))
    return {
        DOCUMENTS: read_documents(documents),
        PROMPTS: {
            path.relative_to(root / "prompts").with_suffix("").as_posix(): {"text": read_text(path)}
            for path in prompts
        },
        CATALOGUE: read_catalogue(root / "discoverable_tools.json"),
    }
