"""Links for more browsers."""

from __future__ import annotations

from fastapi import APIRouter, Request
from pydantic import BaseModel

from greenroom.playground.access import Access

router = APIRouter()


class Link(BaseModel):
    """A one-time link."""

    link: str
    """It lets one browser in, once."""


@router.post("/links")
def create_link(request: Request) -> Link:
    """Make a link for another browser."""
    access: Access = request.app.state.access
    return Link(link=access.new_link(str(request.base_url).rstrip("/")))
