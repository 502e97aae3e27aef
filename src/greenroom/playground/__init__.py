"""The playground: the JSON API of the pages, and the server that gives both."""

from __future__ import annotations

__all__: list[str] = []
