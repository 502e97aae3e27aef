"""Workflows: those that were named at the start, those that people add, agents of the benchmark."""

from __future__ import annotations

from fastapi import APIRouter

from greenroom.errors import InputError
from greenroom.playground.known_workflows import clean_address, is_url
from greenroom.playground.state import InPlayground
from greenroom.playground.thread_models import Workflow, WorkflowAddress, WorkflowList

router = APIRouter()


@router.get("/workflows")
async def list_workflows(playground: InPlayground) -> WorkflowList:
    """All workflows with what is known of them; one that is down says why."""
    return WorkflowList(items=await playground.workflows.all())


@router.post("/workflows")
async def add_workflow(playground: InPlayground, wanted: WorkflowAddress) -> Workflow:
    """Add the workflow at a URL; it is kept even if it is down now."""
    if not is_url(wanted.address):
        raise InputError(
            "Only addresses of servers can be added here, such as http://localhost:8000. Files are "
            "named when the playground starts: greenroom playground app.py."
        )
    address = clean_address(wanted.address)
    await playground.in_store(playground.store.addresses.add, address)
    return await playground.workflows.one(address, refresh=True)


@router.delete("/workflows", status_code=204)
async def remove_workflow(playground: InPlayground, address: str) -> None:
    """Take a workflow that a person added out of the list."""
    await playground.in_store(playground.store.addresses.remove, clean_address(address))


@router.post("/workflows/restore")
async def restore_workflow(playground: InPlayground, wanted: WorkflowAddress) -> Workflow:
    """Put a workflow back into the list."""
    address = clean_address(wanted.address)
    await playground.in_store(playground.store.addresses.restore, address)
    return await playground.workflows.one(address)


@router.get("/workflows/one")
async def get_workflow(playground: InPlayground, address: str, refresh: bool = False) -> Workflow:
    """One workflow; `refresh` looks again at what it is."""
    return await playground.workflows.one(address, refresh=refresh)
