"""A language model that runs in this process: llama.cpp, on one thread, without a network.

The engine is the package xllamacpp (`pip install 'greenroom[local]'`), the model a GGUF file:
one that `greenroom models pull` fetched, or any other by its path. The engine is shared by
everything in the process that uses the same file, and answers one question at a time in a thread
of its own. Questions that nobody waits for any more are dropped.

Such a model takes no tools. If a request has a JSON schema, the answer follows it. The same request
with the same seed gets the same answer, up to llama.cpp's arithmetic: it reuses the beginning of
the prompt before, which may change the last bits.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from http.client import HTTPConnection, HTTPException
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from queue import SimpleQueue
from secrets import token_hex
from typing import Any, Protocol, cast
from urllib.parse import urlsplit

from greenroom.errors import InputError, UnknownName
from greenroom.messages import Message
from greenroom.models.answers import completion_of
from greenroom.models.endpoints import Endpoint
from greenroom.models.faults import Fault
from greenroom.models.payloads import most_tokens
from greenroom.models.transports import Provider
from greenroom.models.types import Completion, ContextWindowExceeded, ModelRequest, ModelSettings
from greenroom.util.caches import cache_root

PROVIDER = "local"
"""The provider's name in a model's settings."""
LONGEST_TEXT = 300
"""Characters of a text in an answer by schema, if the schema sets no limit: a small model would
write until its tokens are used up, and leave the JSON open."""

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
"""Loads a model file with a context of so many tokens."""


def model_cache() -> Path:
    """The directory of the pulled models: beside the packs, in the user's cache."""
    return cache_root() / "models"


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
    # The engine also listens on a local port. The random key keeps everybody out.
    settings.n_threads_http = 1
    settings.api_keys = [token_hex(32)]
    try:
        engine = llama.Server(settings)
    except RuntimeError as error:
        raise InputError(f"{path} cannot be loaded as a model: {error}") from error
    _await_listening(engine.listening_address)
    return cast("Engine", engine)


def _await_listening(address: str) -> None:
    # An engine that is released before it serves its port hangs.
    connection = HTTPConnection(urlsplit(address).netloc, timeout=10)
    try:
        connection.request("GET", "/health")
        connection.getresponse().read()
    except (OSError, HTTPException):
        return  # nothing is asked through the port
    finally:
        connection.close()


class _SharedEngine:
    """An engine that is loaded when it is first asked, and asked by its own thread alone."""

    def __init__(self, load: Callable[[], Engine]) -> None:
        self._load = load
        self._questions: SimpleQueue[tuple[dict[str, Any], Future[dict[str, Any]]]] = SimpleQueue()
        # A daemon: llama.cpp cannot be interrupted, and `exit_at_once` does not wait for it.
        self._thread = threading.Thread(target=self._serve, name="greenroom-local", daemon=True)
        self._starting = threading.Lock()
        self.idle = threading.Event()
        self.idle.set()

    def ask(self, request: dict[str, Any]) -> Future[dict[str, Any]]:
        answer: Future[dict[str, Any]] = Future()
        self._questions.put((request, answer))
        with self._starting:
            if not self._thread.is_alive():
                self._thread.start()
        return answer

    def _serve(self) -> None:
        engine: Engine | None = None
        while True:
            request, answer = self._questions.get()
            if not answer.set_running_or_notify_cancel():
                continue
            try:
                self.idle.clear()
                engine = engine or self._load()
                answer.set_result(engine.handle_chat_completions(request))
            except Exception as error:
                answer.set_exception(error)
            finally:
                self.idle.set()


_shared: dict[tuple[Path, int, LoadEngine], _SharedEngine] = {}
_sharing = threading.Lock()


def exit_at_once(status: int) -> None:
    """End the process if an engine is still busy with an answer that nobody waits for."""
    if not all(engine.idle.is_set() for engine in _shared.values()):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


@atexit.register
def _await_idle() -> None:
    # llama.cpp crashes if the process takes its memory down while it works.
    for engine in _shared.values():
        engine.idle.wait()


class LocalTransport:
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
        self.endpoint = Endpoint("The local model", path.name, free=True)
        self._context = context
        self._options: dict[str, Any] = {"max_tokens": max_tokens or _TOKENS}
        if temperature is not None:
            self._options["temperature"] = temperature
        key = (path.resolve(), context, load)
        with _sharing:
            self._engine = _shared.setdefault(key, _SharedEngine(partial(load, *key[:2])))

    @classmethod
    def from_settings(cls, settings: ModelSettings) -> LocalTransport:
        """The model that the settings name, by name or path."""
        return cls(
            find_model(settings.model),
            temperature=settings.temperature,
            max_tokens=settings.max_tokens,
        )

    async def send(self, request: ModelRequest) -> Completion:
        """The model's answer."""
        body = self._options | _body(request)
        body["max_tokens"] = most_tokens(body["max_tokens"], request)
        try:
            # A cancelled call does not wait: the engine finishes the answer and drops it.
            answer = await asyncio.wrap_future(self._engine.ask(body))
        except ValueError as error:
            raise InputError(f"The local model cannot be asked this: {error}") from error
        if "error" in answer:
            raise self._fault(answer["error"])
        completion = completion_of(answer, self.endpoint)
        used = answer.get("usage", {}).get("total_tokens", 0)
        if completion.finish_reason == "length" and used >= self._context:
            raise self._too_long(f"{completion.prompt_tokens} tokens and its answer do")
        return replace(completion, cost=0.0)

    async def close(self) -> None:
        """Does nothing: the engine stays loaded for the next model of the same file."""

    def _fault(self, error: dict[str, Any]) -> Fault:
        if error.get("type") == "exceed_context_size_error":
            return self._too_long(f"{error.get('n_prompt_tokens', 'too many')} tokens does")
        return Fault(str(error.get("message", "it did not say why")))

    def _too_long(self, words: str) -> Fault:
        final = ContextWindowExceeded(
            f"The conversation of {words} not fit the local model's {self._context}."
        )
        return Fault(str(final), final=final)


provider = Provider(PROVIDER, LocalTransport.from_settings, "GGUF models in this process")


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
