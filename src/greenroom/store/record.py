"""What all records have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """A record never changes once it is made."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)
