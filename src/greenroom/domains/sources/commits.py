"""The commit of a checkout, read from its files without git."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from greenroom.errors import DataError
from greenroom.util.files import read_regular

if TYPE_CHECKING:
    from pathlib import Path

_LIMIT = 2**24
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def checked_out_commit(root: Path) -> str | None:
    """The commit of a checkout's HEAD, or None if it cannot be found."""
    directory = _git_directory(root)
    head = _line(directory / "HEAD")
    if not head.startswith("ref:"):
        return _commit(head)
    ref = head.removeprefix("ref:").strip()
    # A linked worktree has a HEAD of its own, but shares its branches.
    shared = directory / (_line(directory / "commondir") or ".")
    for place in (directory, shared):
        found = _commit(_line(place / ref)) or _packed(place / "packed-refs", ref)
        if found:
            return found
    return None


def origin(root: Path) -> str | None:
    """The repository that a checkout was cloned from, as owner/name, or None."""
    directory = _git_directory(root)
    config = _text(directory / (_line(directory / "commondir") or ".") / "config")
    found = re.search(r'\[remote "origin"\][^\[]*?\burl\s*=\s*(\S+)', config)
    # Only the end of the address: there may be a password in it.
    parts = re.split(r"[/:]", found[1].rstrip("/").removesuffix(".git")) if found else []
    return "/".join(parts[-2:]) if len(parts) > 1 else None


def _git_directory(root: Path) -> Path:
    pointer = _line(root / ".git")
    if pointer.startswith("gitdir:"):
        return root / pointer.removeprefix("gitdir:").strip()
    return root / ".git"


def _packed(path: Path, ref: str) -> str | None:
    for line in _text(path).splitlines():
        commit, _, name = line.partition(" ")
        if name.strip() == ref:
            return _commit(commit)
    return None


def _commit(text: str) -> str | None:
    return text if _COMMIT.fullmatch(text) else None


def _line(path: Path) -> str:
    lines = _text(path).splitlines()
    return lines[0].strip() if lines else ""


def _text(path: Path) -> str:
    try:
        return read_regular(path, _LIMIT).decode()
    except (DataError, ValueError):
        # Without a commit, the caller uses the digest of the content.
        return ""
