"""Wheels as containers of data: fetched by pip, checked, and read without running any of it."""

from __future__ import annotations

import gzip
import io
import re
import subprocess
import sys
import zipfile
import zlib
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import orjson

from greenroom.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

_WHEEL_LIMIT = 256 * 1024 * 1024
_MEMBER_LIMIT = 64 * 1024 * 1024
_PIP_SECONDS = 900
_ADDRESS = re.compile(r"\S*://\S+|\S+@\S+|(?<=url: )\S+")


@dataclass(frozen=True)
class Requirement:
    """The one build of a package that is wanted."""

    package: str
    version: str
    sha256: str

    def __str__(self) -> str:
        return f"{self.package} {self.version}"


@dataclass(frozen=True)
class Wheel:
    """An opened wheel, of which single files are read."""

    name: str
    archive: zipfile.ZipFile

    def read(self, member: str, *, limit: int | None = None) -> bytes:
        """A file's content; one that ends in .gz is unpacked."""
        place, limit = f"{self.name}: {member}", limit or _MEMBER_LIMIT
        try:
            with self.archive.open(member) as file:
                content = _limited(file.read(limit + 1), place, limit)
            if not member.endswith(".gz"):
                return content
            with gzip.GzipFile(fileobj=io.BytesIO(content)) as unpacked:
                return _limited(unpacked.read(limit + 1), place, limit)
        except KeyError as error:
            raise DataError(
                f"{place} is missing: this is not the wheel that was expected."
            ) from error
        except (
            EOFError,
            NotImplementedError,
            OSError,
            RuntimeError,
            zipfile.BadZipFile,
            zlib.error,
        ) as error:
            raise DataError(f"{place} cannot be unpacked: {error}.") from error

    def members(self, prefix: str, suffix: str) -> list[str]:
        """The names of the files below a folder; one that leads out of it is left out."""
        return [
            name
            for name in self.archive.namelist()
            if name.startswith(prefix) and name.endswith(suffix) and ".." not in name.split("/")
        ]

    def text(self, member: str) -> str:
        """A text file's content."""
        try:
            return self.read(member).decode()
        except UnicodeDecodeError as error:
            raise DataError(f"{self.name}: {member} is not UTF-8 text: {error.reason}.") from error

    def json(self, member: str) -> Any:
        """A JSON file's content."""
        try:
            return orjson.loads(self.read(member))
        except orjson.JSONDecodeError as error:
            raise DataError(
                f"{self.name}: {member} is not valid JSON: {error.msg} at line {error.lineno}, "
                f"column {error.colno}."
            ) from error


def open_wheel(path: Path, wanted: Requirement) -> Wheel:
    """A wheel whose content is exactly the wanted one."""
    try:
        if path.stat().st_size > _WHEEL_LIMIT:
            raise DataError(f"{path.name} is too large to be the wheel of {wanted}.")
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error
    digest = sha256(content).hexdigest()
    if digest != wanted.sha256:
        raise DataError(
            f"{path.name} is not the wheel of {wanted}: its sha256 is {digest[:12]}..., not "
            f"{wanted.sha256[:12]}... Nothing was written; get it from an index you trust."
        )
    try:
        # Read from the bytes that were checked: the file may change meanwhile.
        return Wheel(path.name, zipfile.ZipFile(io.BytesIO(content)))
    except zipfile.BadZipFile as error:
        raise DataError(f"{path.name} is no wheel: {error}.") from error


def download_wheel(wanted: Requirement, directory: Path) -> Path:
    """Fetch a wheel into a directory through pip, with whatever index the user has set up."""
    command = [
        *(sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"),
        *("--dest", str(directory), f"{wanted.package}=={wanted.version}"),
    ]
    try:
        # No input: a question about a password would never be seen, nor answered.
        done = subprocess.run(  # noqa: S603
            command,
            capture_output=True,
            check=False,
            encoding="utf-8",
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=_PIP_SECONDS,
        )
    except subprocess.TimeoutExpired as error:
        raise _not_fetched(wanted, f"pip gave no answer within {_PIP_SECONDS} seconds") from error
    except OSError as error:
        raise _not_fetched(wanted, f"pip cannot be started ({error.strerror})") from error
    if done.returncode != 0:
        raise _not_fetched(wanted, _reason(done.stderr))
    found = sorted(directory.glob("*.whl"))
    if not found:
        raise _not_fetched(wanted, "pip reported success, but left no wheel")
    return found[0]


def _not_fetched(wanted: Requirement, reason: str) -> DataError:
    return DataError(
        f"{wanted} could not be fetched: {reason}. Check the network and pip's index settings, or "
        "download the wheel elsewhere and pass it with --wheel FILE."
    )


def _reason(errors: str) -> str:
    if "No module named pip" in errors:
        return "this Python has no pip ('python -m ensurepip' installs it)"
    lines = [line.strip() for line in errors.splitlines()]
    telling = [line for line in lines if line and not line.startswith(("[notice]", "WARNING"))]
    failures = [line for line in telling if line.upper().startswith("ERROR")]
    last = (failures or telling or ["nothing at all"])[-1]
    # An index address may carry a password or a token: none is shown.
    return f"pip says '{_ADDRESS.sub('(address)', last)[:200].rstrip('. ')}'"


def _limited(content: bytes, place: str, limit: int) -> bytes:
    if len(content) > limit:
        raise DataError(f"{place} is larger than {limit // 2**20} MB: it was not unpacked.")
    return content


__all__ = ["Requirement", "Wheel", "download_wheel", "open_wheel"]
