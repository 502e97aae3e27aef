"""The workflows that a playground knows, and how each of their addresses is opened."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Literal

import anyio
from anyio import to_thread

from greenroom.errors import GreenroomError, InputError, redacted
from greenroom.playground.agent_targets import agent_address, talking_agents
from greenroom.playground.targets import opener_of
from greenroom.playground.thread_models import Workflow, WorkflowSchemas
from greenroom.util.imports import absolute_target, split_target
from greenroom.workflows.call.addresses import is_address, parse_address
from greenroom.workflows.call.local import LocalTarget
from greenroom.workflows.call.opening import load_workflows, open_target
from greenroom.workflows.calls import Profile, Target
from greenroom.workflows.declare.workflow import Workflow as Declared

if TYPE_CHECKING:
    from greenroom.playground.state import Playground

SECONDS_TO_LIST = 2.0
"""A list of workflows waits so long for those that are slow."""

_THREADS = 64
Kind = Literal["declared", "url", "agent"]


class KnownWorkflows:
    """The workflows of a playground."""

    def __init__(self, playground: Playground) -> None:
        self._playground = playground
        self._sources = [one for one in playground.sources if not _is_elsewhere(one)]
        self._named = {_key(one): one for one in playground.sources if _is_elsewhere(one)}
        self._declared: dict[str, Declared] = {}
        self._broken: dict[str, str] = {}
        self._loaded = False
        self._loading = anyio.Lock()
        self._threads: anyio.CapacityLimiter | None = None

    async def all(self) -> list[Workflow]:
        """All of them; those that do not answer in time say so."""
        added = await self._playground.in_store(self._playground.store.addresses.all)
        await self._load()
        agents = await to_thread.run_sync(talking_agents)
        addresses = [*self._declared, *self._named]
        addresses += [one for one in added if _key(one) not in self._named]
        addresses += [one for one in map(agent_address, agents) if one not in self._named]
        found = dict[str, Workflow]()

        async def look(address: str) -> None:
            found[address] = await self.one(address, seconds=SECONDS_TO_LIST, added=added)

        async with anyio.create_task_group() as tasks:
            for address in addresses:
                tasks.start_soon(look, address)
        broken = [self._broken_one(source) for source in self._broken]
        return [*broken, *(found[address] for address in addresses)]

    async def one(
        self,
        address: str,
        *,
        refresh: bool = False,
        seconds: float = 30.0,
        added: Sequence[str] | None = None,
    ) -> Workflow:
        """One of them, with what is known of it or why it cannot be reached."""
        # Files that could not be loaded may be mended now.
        self._loaded = self._loaded and not (refresh and self._broken)
        await self._load()
        if address in self._broken:
            return self._broken_one(address)
        address = await self.check(address)
        targets = self._playground.targets
        if refresh:
            self._loaded = self._loaded and address not in self._declared
            targets.forget(address)
        if added is None:
            added = await self._playground.in_store(self._playground.store.addresses.all)
        kind = self._kind(address)
        is_added = address in added
        try:
            profile = await targets.look(address, seconds)
        except GreenroomError as error:
            return Workflow(
                address=address,
                name=self.name_of(address),
                kind=kind,
                added=is_added,
                error=redacted(str(error)),
            )
        return _told(address, kind, profile, added=is_added)

    async def check(self, address: str) -> str:
        """The address as it is kept; raises an InputError for one that cannot be talked to."""
        await self._load()
        if address in self._declared:
            return address
        if opener_of(address) is not None:
            return address
        if is_url(address):
            return clean_address(address)
        absolute = absolute_target(address)
        if absolute in self._declared:
            return absolute
        for place, workflow in self._declared.items():
            source = split_target(place)[0]
            if absolute in (source, f"{source}:{workflow.name}", f"{source}:{workflow.slug}"):
                return place
        if why := self._why_broken(absolute):
            raise InputError(why)
        raise InputError(
            f"'{redacted(address)}' is not among the workflows of this playground. Files and "
            "modules are named when it starts: greenroom playground app.py."
        )

    def name_of(self, address: str) -> str:
        """A workflow's name, as far as it is known."""
        if address in self._declared:
            return self._declared[address].name
        profile = self._playground.targets.known(address)
        if profile is not None:
            return profile.name
        if is_url(address):
            return address.partition("://")[2]
        return address.partition("?")[0].partition(":")[2] or address

    @asynccontextmanager
    async def open(self, address: str) -> AsyncGenerator[Target]:
        """The target of an address that was checked."""
        await self._load()
        opener = opener_of(address)
        if address in self._declared:
            yield LocalTarget(self._declared[address], address=address, threads=self._limiter())
        elif opener is not None:
            async with opener(self._playground, address) as target:
                yield target
        elif is_url(address):
            target = await open_target(address, guarded=_key(address) not in self._named)
            try:
                yield target
            finally:
                with anyio.CancelScope(shield=True):
                    await target.close()
        else:
            raise InputError(
                self._why_broken(address)
                or f"'{address}' was not named when this playground started: start it with that "
                "file."
            )

    def named_at_start(self, address: str) -> bool:
        """Whether the person who started the playground named exactly this."""
        return _key(address) in self._named

    def _broken_one(self, source: str) -> Workflow:
        return Workflow(address=source, name=source, kind="declared", error=self._broken[source])

    def _why_broken(self, address: str) -> str | None:
        """Why the file of an address cannot be loaded now, if that is so."""
        places = {split_target(absolute_target(one))[0]: why for one, why in self._broken.items()}
        return places.get(address) or places.get(address.rpartition(":")[0])

    def _kind(self, address: str) -> Kind:
        if is_url(address):
            return "url"
        return "declared" if address in self._declared else "agent"

    def _limiter(self) -> anyio.CapacityLimiter:
        # Threads of their own: slow handlers leave those of the API alone.
        self._threads = self._threads or anyio.CapacityLimiter(_THREADS)
        return self._threads

    async def _load(self) -> None:
        async with self._loading:
            if self._loaded:
                return
            declared = dict[str, Declared]()
            broken = dict[str, str]()
            for source in self._sources:
                try:
                    found = await to_thread.run_sync(load_workflows, source)
                except GreenroomError as error:
                    broken[source] = redacted(str(error))
                    continue
                place = split_target(absolute_target(source))[0]
                declared |= {f"{place}:{one.slug}": one for one in found}
            self._declared, self._broken, self._loaded = declared, broken, True


def clean_address(address: str) -> str:
    """The address of a server as it is kept; an InputError for one with a password or a query."""
    found = parse_address(address)
    route = f"/{found.route}" if found.route else ""
    return f"{found.base}{route}" + (f"#{found.model}" if found.model else "")


def is_url(address: str) -> bool:
    """Whether an address is that of a server; other schemes may have one within."""
    return opener_of(address) is None and is_address(address)


def _is_elsewhere(source: str) -> bool:
    return is_address(source) or opener_of(source) is not None


def _key(address: str) -> str:
    return clean_address(address) if is_url(address) else address


def _told(address: str, kind: Kind, profile: Profile, *, added: bool) -> Workflow:
    return Workflow(
        address=address,
        name=profile.name,
        kind=kind,
        added=added,
        interface=profile.interface,
        is_chat=profile.is_chat,
        decided_by=profile.decided_by,
        flags=profile.flags,
        schemas=WorkflowSchemas(
            inputs=profile.schemas.inputs,
            parameters=profile.schemas.parameters,
            outputs=profile.schemas.outputs,
        ),
        parameters=profile.parameters,
        description=profile.description,
        takes_tools=profile.takes_tools,
    )
