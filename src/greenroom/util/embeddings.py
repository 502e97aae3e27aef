"""Word embeddings that come with a package, and no network."""

from __future__ import annotations

import importlib
import logging
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

from greenroom.errors import InputError

_LOADING = Lock()


@cache
def import_wordllama() -> Any:
    """The package, or an error that says how to get it."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        return importlib.import_module("wordllama")
    except ImportError as error:
        raise InputError(
            "Comparing meanings needs the package wordllama: pip install 'greenroom[semantic]'."
        ) from error
    finally:
        # It sets up logging for the whole program when it is imported, which is not its business.
        root.handlers[:] = handlers
        root.setLevel(level)


def semantic_model() -> Any:
    """The model, loaded once, however many ask for it at the same time."""
    with _LOADING:
        return _loaded()


@cache
def _loaded() -> Any:
    wordllama = import_wordllama()
    # The weights and the tokenizer are files of the package. It looks for the tokenizer in its
    # cache only, so that is where the cache is; nothing is ever fetched.
    package = Path(wordllama.__file__).parent
    return wordllama.WordLlama.load(cache_dir=package, disable_download=True)
