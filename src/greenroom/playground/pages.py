"""The pages: the files of the built bundle, from memory as long as they stay the same."""

from __future__ import annotations

import gzip
from dataclasses import dataclass, field
from functools import lru_cache
from mimetypes import guess_type
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from greenroom.errors import InputError

BUNDLE = Path(__file__).parent / "static"
"""Where the bundle is built."""

NO_BUNDLE = (
    "The playground's pages are not in this installation: run 'make playground' in a clone, or "
    "install greenroom from a wheel."
)

_FOREVER = "public, max-age=31536000, immutable"
_COMPRESSED = frozenset({".css", ".html", ".js", ".json", ".svg"})


@dataclass(frozen=True)
class Pages:
    """Answers with the bundle's files; every other path is a page, which the browser makes."""

    bundle: Path = field(default_factory=lambda: BUNDLE)

    def check(self) -> None:
        """Raise an InputError if there is no bundle."""
        if not (self.bundle / "index.html").is_file():
            raise InputError(NO_BUNDLE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request for a file or a page."""
        await self._response(scope)(scope, receive, send)

    def _response(self, scope: Scope) -> Response:
        path = scope["path"]
        if scope["method"] not in ("GET", "HEAD"):
            return JSONResponse({"detail": f"{path} can only be read."}, 405)
        if path.startswith("/api/"):
            return JSONResponse({"detail": f"There is no {path} in this API."}, 404)
        name = path.removeprefix("/") if path.startswith("/assets/") else "index.html"
        packed = "gzip" in Headers(scope=scope).get("accept-encoding", "")
        found = self._file(name, packed=packed)
        if found is None:
            return JSONResponse({"detail": f"There is no file {path}."}, 404)
        content, encoding = found
        headers = {"vary": "accept-encoding"}
        headers |= {"content-encoding": encoding} if encoding else {}
        # The names of assets change with their content.
        headers |= {"cache-control": _FOREVER if name != "index.html" else "no-cache"}
        return Response(content, 200, headers, guess_type(name)[0])

    def _file(self, name: str, *, packed: bool) -> tuple[bytes, str] | None:
        """A file and how it is packed; a new build takes the place of the old one at once."""
        if name not in _names(self.bundle):
            _names.cache_clear()
        if name not in _names(self.bundle):
            return None
        file = self.bundle / name
        try:
            return _content(file, file.stat().st_mtime_ns, packed=packed)
        except OSError:  # it was there when the names were read
            return None


@lru_cache
def _names(bundle: Path) -> frozenset[str]:
    """The files there are; nothing else is read, whatever a path says."""
    return frozenset(
        path.relative_to(bundle).as_posix() for path in bundle.rglob("*") if path.is_file()
    )


@lru_cache
def _content(path: Path, _changed: int, *, packed: bool) -> tuple[bytes, str]:
    content = path.read_bytes()
    if packed and path.suffix in _COMPRESSED:
        return gzip.compress(content, mtime=0), "gzip"
    return content, ""
