"""A language model that runs in this process: llama.cpp, on one thread, without a network.

The engine is the package xllamacpp (`pip install 'greenroom[local]'`), the model a GGUF file:
one that `greenroom models pull` fetched, or any other by its path. The engine is shared by
everything in the process that uses the same file, and answers one question at a time; whoever
waits holds up neither the event loop nor a thread.

Such a model takes no tools. Where a JSON schema is asked for, its answer follows the schema. The
same question with the same seed has the same answer, as far as llama.cpp goes: what is left of the
question before is not worked out again, which may change the last bits of its arithmetic.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection, HTTPException
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from secrets import token_hex
from typing import Any, Protocol, cast
from urllib.parse import urlsplit

import anyio.to_thread
from anyio import CapacityLimiter
from anyio.lowlevel import RunVar
from platformdirs import user_cache_path

from greenroom.errors import InputError, UnknownName
from greenroom.messages import Message
from greenroom.models.types import (
    Completion,
    ContextWindowExceeded,
    ModelRequest,
    ModelSettings,
    ModelUnavailable,
)

PROVIDER = "local"
"""The provider's name in a model's settings."""
LONGEST_TEXT = 300
"""Characters of a text in an answer by schema, where the schema sets no limit: a small model would
go on until its tokens are used up, and leave the JSON open."""

_ENGINE = "xllamacpp"
_TOKENS = 256
_SMALLEST_CONTEXT, _CONTEXT, _LARGEST_CONTEXT = 2048, 4096, 8192


@dataclass(frozen=True)
class KnownModel:
    """A model that can be pulled."""

    name: str
    file: str
    licence: str
    description: str

    @property
    def path(self) -> Path:
        """Where it is once it was pulled."""
        return model_cache() / self.name / self.file


KNOWN_MODELS: Mapping[str, KnownModel] = {
    "smollm2": KnownModel(
        name="smollm2",
        file="SmolLM2-135M-Instruct.Q4_1.gguf",
        licence="Apache-2.0",
        description="SmolLM2, 135 million parameters: small and quick, for trying things out",
    )
}


class Engine(Protocol):
    """What is used of xllamacpp's server."""

    def handle_chat_completions(self, request: dict[str, Any], /) -> dict[str, Any]:
        """The answer to a chat-completion request, or an object with an `error`."""
        ...


LoadEngine = Callable[[Path, int], Engine]
"""Loads a model file, given the tokens that its context is to hold."""


def model_cache() -> Path:
    """The directory of the pulled models: beside the packs, in the user's cache."""
    chosen = os.environ.get("GREENROOM_CACHE")
    root = Path(chosen) if chosen else user_cache_path("greenroom", appauthor=False)
    return root / "models"


def engine_version() -> str | None:
    """The version of the installed engine, if it is installed."""
    try:
        return version(_ENGINE)
    except PackageNotFoundError:
        return None


def find_model(name: str) -> Path:
    """The file of a model, by the name of one that was pulled or by its path."""
    path = KNOWN_MODELS[name].path if name in KNOWN_MODELS else Path(name)
    if path.suffix != ".gguf":
        raise UnknownName("local model", name, [*KNOWN_MODELS, "FILE.gguf"])
    missing: list[str] = []
    if engine_version() is None:
        missing.append("its engine is not installed: pip install 'greenroom[local]'")
    if not path.is_file():
        pull = f"it was not pulled yet: greenroom models pull {name}"
        missing.append(pull if name in KNOWN_MODELS else f"there is no file {path}")
    if missing:
        raise InputError(f"The local model '{name}' cannot be used: {'; '.join(missing)}.")
    return path


def load_engine(path: Path, context: int) -> Engine:
    """A model file loaded into llama.cpp, for one question at a time on one thread."""
    llama: Any = import_module(_ENGINE)
    settings = llama.CommonParams()
    settings.model.path = str(path)
    settings.n_ctx = context
    settings.n_parallel = 1
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1
    settings.fit_params = settings.ctx_shift = settings.ui = settings.endpoint_slots = False
    settings.cache_ram_mib = 0
    settings.offline = True
    settings.verbosity = -1
    # The engine also listens on a port of this machine: nobody knows the key, so nobody gets in.
    settings.n_threads_http = 1
    settings.api_keys = [token_hex(32)]
    try:
        engine = llama.Server(settings)
    except RuntimeError as error:
        raise InputError(f"{path} cannot be loaded as a model: {error}") from error
    _await_listening(engine.listening_address)
    return cast("Engine", engine)


def _await_listening(address: str) -> None:
    # An engine that is let go before its port is served waits for it for ever.
    connection = HTTPConnection(urlsplit(address).netloc, timeout=10)
    try:
        connection.request("GET", "/health")
        connection.getresponse().read()
    except (OSError, HTTPException):
        return  # it answers all the same: nothing is asked through the port
    finally:
        connection.close()


class _SharedEngine:
    """An engine that is loaded when it is first asked, and asked by one thread at a time."""

    def __init__(self, load: Callable[[], Engine]) -> None:
        self._load = load
        self._lock = threading.Lock()
        self._engine: Engine | None = None

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        with self._lock:
            if self._engine is None:
                self._engine = self._load()
            return self._engine.handle_chat_completions(request)


_shared: dict[tuple[Path, int, LoadEngine], _SharedEngine] = {}
_sharing = threading.Lock()
_turns: RunVar[CapacityLimiter] = RunVar("greenroom_local_model_turns")


class LocalModel:
    """A GGUF model in this process; its tokens are counted and cost nothing."""

    def __init__(
        self,
        path: Path,
        *,
        temperature: float | None = 0.0,
        max_tokens: int | None = None,
        context: int = _CONTEXT,
        load: LoadEngine = load_engine,
    ) -> None:
        if not _SMALLEST_CONTEXT <= context <= _LARGEST_CONTEXT:
            raise InputError(
                f"The context of a local model is {_SMALLEST_CONTEXT} to {_LARGEST_CONTEXT} "
                f"tokens, not {context}."
            )
        self._context = context
        self._options: dict[str, Any] = {"max_tokens": max_tokens or _TOKENS}
        if temperature is not None:
            self._options["temperature"] = temperature
        key = (path.resolve(), context, load)
        with _sharing:
            self._engine = _shared.setdefault(key, _SharedEngine(partial(load, *key[:2])))

    @classmethod
    def from_settings(cls, settings: ModelSettings) -> LocalModel:
        """The model that the settings name, by name or path."""
        return cls(
            find_model(settings.model),
            temperature=settings.temperature,
            max_tokens=settings.max_tokens,
        )

    async def complete(self, request: ModelRequest) -> Completion:
        """The model's answer."""
        body = self._options | _body(request)
        started = time.perf_counter()
        try:
            # Cancelled, it is not waited for: the engine finishes the answer and drops it.
            answer = await anyio.to_thread.run_sync(
                self._engine.ask, body, limiter=_one_at_a_time(), abandon_on_cancel=True
            )
        except ValueError as error:
            raise InputError(f"The local model cannot be asked this: {error}") from error
        return self._completion(answer, time.perf_counter() - started)

    def _completion(self, answer: dict[str, Any], seconds: float) -> Completion:
        if "error" in answer:
            raise self._error(answer["error"])
        choice, usage = answer["choices"][0], answer["usage"]
        if choice["finish_reason"] == "length" and usage["total_tokens"] >= self._context:
            raise ContextWindowExceeded(
                f"The conversation of {usage['prompt_tokens']} tokens and its answer do not fit "
                f"the local model's {self._context}."
            )
        return Completion(
            message={"role": "assistant", "content": choice["message"].get("content")},
            finish_reason=choice["finish_reason"],
            prompt_tokens=usage["prompt_tokens"],
            completion_tokens=usage["completion_tokens"],
            cached_prompt_tokens=usage.get("prompt_tokens_details", {}).get("cached_tokens", 0),
            cost=0.0,
            seconds=seconds,
        )

    def _error(self, error: dict[str, Any]) -> ContextWindowExceeded | ModelUnavailable:
        if error.get("type") == "exceed_context_size_error":
            tokens = error.get("n_prompt_tokens", "too many")
            return ContextWindowExceeded(
                f"The conversation of {tokens} tokens does not fit the local model's "
                f"{self._context}."
            )
        message = error.get("message", "it did not say why")
        return ModelUnavailable(f"The local model gave no answer: {message}")


def _one_at_a_time() -> CapacityLimiter:
    # Who waits for the model waits here, and not in one of the threads that others need.
    try:
        return _turns.get()
    except LookupError:
        limiter = CapacityLimiter(1)
        _turns.set(limiter)
        return limiter


def _body(request: ModelRequest) -> dict[str, Any]:
    messages = [Message.model_validate(message) for message in request.messages]
    if request.tools or any(m.tool_calls or m.role in ("tool", "function") for m in messages):
        raise InputError(
            "A local model takes no tools: use a strategy that writes its actions as text, such "
            "as act or react."
        )
    body: dict[str, Any] = {
        "messages": [{"role": message.role, "content": message.text} for message in messages]
    }
    if request.response_format is not None:
        body["response_format"] = _bounded(request.response_format)
    if request.seed is not None:
        body["seed"] = request.seed % 2**32
    if request.stop:
        body["stop"] = request.stop
    return body


def _bounded(schema: Any) -> Any:
    """A schema in which every free text has a longest length."""
    if isinstance(schema, list):
        return [_bounded(item) for item in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    fields = {key: _bounded(value) for key, value in cast("dict[str, Any]", schema).items()}
    shaped = {"enum", "const", "maxLength", "pattern", "format"} & fields.keys()
    if fields.get("type") == "string" and not shaped:
        fields["maxLength"] = max(LONGEST_TEXT, fields.get("minLength", 0))
    return fields
