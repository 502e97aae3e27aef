from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import anyio
import pytest

from greenroom.errors import InputError, UnknownName
from greenroom.models import (
    Budget,
    BudgetExhausted,
    Completion,
    ContextWindowExceeded,
    Ledger,
    ModelClient,
    ModelRequest,
    ModelSettings,
    ModelUnavailable,
    open_transport,
)
from greenroom.models import local as local_models
from greenroom.models.local import (
    KNOWN_MODELS,
    LONGEST_TEXT,
    LocalTransport,
    find_model,
    model_cache,
)
from greenroom.models.retries import RetryPolicy

HELLO = [{"role": "user", "content": "Hello."}]
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "description": {"type": "string"},
        "author": {"type": "string", "enum": ["user", "agent"]},
    },
    "required": ["description", "author"],
    "additionalProperties": False,
}
FORMAT = {"type": "json_schema", "json_schema": {"name": "verdict", "schema": SCHEMA}}


def answered(text: str = "Hi.", reason: str = "stop", total: int = 12) -> dict[str, Any]:
    return {
        "choices": [
            {"finish_reason": reason, "message": {"role": "assistant", "content": text}},
        ],
        "usage": {
            "prompt_tokens": 10,
            "completion_tokens": 2,
            "total_tokens": total,
            "prompt_tokens_details": {"cached_tokens": 4},
        },
    }


class FakeEngine:
    """An engine that gives one answer, and notes what it was asked and by how many at once."""

    def __init__(self, answer: dict[str, Any] | Exception, seconds: float = 0.0) -> None:
        self.answer = answer
        self.seconds = seconds
        self.requests: list[dict[str, Any]] = []
        self.loads = 0
        self.threads: set[int] = set()
        self.now = 0
        self.most = 0

    def load(self, path: Path, context: int) -> FakeEngine:
        self.loads += 1
        return self

    def handle_chat_completions(self, request: dict[str, Any]) -> dict[str, Any]:
        self.now += 1
        self.most = max(self.most, self.now)
        self.threads.add(threading.get_ident())
        self.requests.append(request)
        time.sleep(self.seconds)
        self.now -= 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def model_of(engine: FakeEngine, **options: Any) -> LocalTransport:
    return LocalTransport(Path("some.gguf"), load=engine.load, **options)


def client_of(transport: LocalTransport) -> ModelClient:
    settings = ModelSettings(model="local/some.gguf")
    return ModelClient(settings, transport=transport, retries=RetryPolicy(max_retries=0))


def ask(transport: LocalTransport, **request: Any) -> Completion:
    fields: dict[str, Any] = {"messages": HELLO}
    model = client_of(transport).for_episode("agent", Ledger())
    return anyio.run(model.complete, ModelRequest(**(fields | request)))


def test_an_answer_with_its_tokens() -> None:
    engine = FakeEngine(answered())
    completion = ask(model_of(engine), seed=2**40 + 7, stop=["END"])
    assert (completion.text, completion.finish_reason) == ("Hi.", "stop")
    assert (completion.prompt_tokens, completion.completion_tokens) == (10, 2)
    assert (completion.cached_prompt_tokens, completion.cost) == (4, 0.0)
    assert engine.requests == [
        {"messages": HELLO, "max_tokens": 256, "temperature": 0.0, "seed": 7, "stop": ["END"]}
    ]


def test_it_is_counted_and_budgeted_like_any_model() -> None:
    ledger, budget = Ledger(), Budget(max_tokens=20)
    settings = ModelSettings(model="local/some.gguf")
    client = ModelClient(settings, transport=model_of(FakeEngine(answered())), budget=budget)
    model = client.for_episode("agent", ledger)

    async def main() -> None:
        for _ in range(2):
            await model.complete(ModelRequest(messages=HELLO))
        with pytest.raises(BudgetExhausted):
            await model.complete(ModelRequest(messages=HELLO))

    anyio.run(main)
    used = ledger.usage()["agent"]
    assert (used.calls, used.prompt_tokens, used.cost) == (2, 20, 0.0)
    assert (budget.tokens, budget.cost, budget.unpriced_calls) == (24, 0.0, 0)
    assert len(ledger.latencies()["agent"]) == 2


def test_content_may_come_in_parts() -> None:
    engine = FakeEngine(answered())
    ask(
        model_of(engine, temperature=None, max_tokens=9),
        messages=[{"role": "user", "content": [{"type": "text", "text": "Hello."}]}],
    )
    assert engine.requests == [{"messages": HELLO, "max_tokens": 9}]


def test_texts_in_a_schema_come_to_an_end() -> None:
    engine = FakeEngine(answered())
    ask(model_of(engine), response_format=FORMAT)
    schema = engine.requests[0]["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["description"] == {"type": "string", "maxLength": LONGEST_TEXT}
    assert schema["properties"]["author"] == SCHEMA["properties"]["author"]
    assert "maxLength" not in SCHEMA["properties"]["description"]


@pytest.mark.parametrize(
    "request_fields",
    [
        {"tools": [{"type": "function", "function": {"name": "cancel"}}]},
        {"messages": [*HELLO, {"role": "tool", "tool_call_id": "1", "content": "{}"}]},
    ],
)
def test_tools_are_refused(request_fields: dict[str, Any]) -> None:
    engine = FakeEngine(answered())
    with pytest.raises(InputError, match="takes no tools"):
        ask(model_of(engine), **request_fields)
    assert engine.requests == []


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (
            {"error": {"type": "exceed_context_size_error", "n_prompt_tokens": 9031}},
            ContextWindowExceeded,
            "9031 tokens does not fit the local model's 4096",
        ),
        (answered(reason="length", total=4096), ContextWindowExceeded, "and its answer do not"),
        ({"error": {"message": "out of memory"}}, ModelUnavailable, "out of memory"),
        (ValueError("unrecognized type nonsense"), InputError, "unrecognized type"),
    ],
)
def test_no_answer(answer: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ask(model_of(FakeEngine(answer)))


def test_an_answer_that_is_cut_at_its_own_limit_is_an_answer() -> None:
    assert ask(model_of(FakeEngine(answered(reason="length")))).finish_reason == "length"


def test_one_engine_answers_one_at_a_time_and_the_loop_stays_free() -> None:
    engine = FakeEngine(answered(), seconds=0.02)
    load = engine.load
    beats = 0

    async def heart() -> None:
        nonlocal beats
        while True:
            await anyio.sleep(0.005)
            beats += 1

    async def main() -> None:
        models = [LocalTransport(Path("shared.gguf"), load=load) for _ in range(3)]
        async with anyio.create_task_group() as background:
            background.start_soon(heart)
            async with anyio.create_task_group() as asking:
                for model in models * 3:
                    asking.start_soon(model.send, ModelRequest(messages=HELLO))
            background.cancel_scope.cancel()

    anyio.run(main)
    assert (engine.loads, engine.most, len(engine.requests)) == (1, 1, 9)
    assert threading.get_ident() not in engine.threads
    assert beats > 9


def test_two_event_loops_share_the_engine_too() -> None:
    engine = FakeEngine(answered(), seconds=0.02)
    model = model_of(engine)
    threads = [threading.Thread(target=ask, args=(model,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (engine.loads, engine.most, len(engine.requests)) == (1, 1, 4)


def test_whoever_gives_up_need_not_wait() -> None:
    engine = FakeEngine(answered(), seconds=0.5)

    async def main() -> float:
        started = time.perf_counter()
        with anyio.move_on_after(0.05):
            await model_of(engine).send(ModelRequest(messages=HELLO))
        return time.perf_counter() - started

    assert anyio.run(main) < 0.4


def test_a_question_that_nobody_waits_for_is_never_asked() -> None:
    engine = FakeEngine(answered(), seconds=0.2)
    model = model_of(engine)

    async def main() -> None:
        with anyio.move_on_after(0.05):
            async with anyio.create_task_group() as asking:
                for _ in range(5):
                    asking.start_soon(model.send, ModelRequest(messages=HELLO))
        await model.send(ModelRequest(messages=HELLO))

    anyio.run(main)
    assert len(engine.requests) == 2, "the one under way, and the last"


@pytest.mark.parametrize("context", [0, 2047, 8193])
def test_the_context_has_bounds(context: int) -> None:
    with pytest.raises(InputError, match="2048 to 8192"):
        model_of(FakeEngine(answered()), context=context)


class TestFinding:
    def test_a_model_that_was_not_pulled(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(local_models, "engine_version", lambda: "1")
        with pytest.raises(InputError) as caught:
            open_transport(ModelSettings(model="smollm2", provider="local"))
        assert "greenroom models pull smollm2" in str(caught.value)
        assert "pip install" not in str(caught.value)

    def test_neither_model_nor_engine(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(local_models, "engine_version", lambda: None)
        with pytest.raises(InputError) as caught:
            find_model("smollm2")
        assert "pip install 'greenroom[local]'" in str(caught.value)
        assert "greenroom models pull smollm2" in str(caught.value)

    def test_an_engine_that_is_not_there(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(local_models, "_ENGINE", "no-such-engine")
        assert local_models.engine_version() is None

    def test_a_file_of_ones_own(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(local_models, "engine_version", lambda: "1")
        file = tmp_path / "mine.gguf"
        with pytest.raises(InputError, match="there is no file"):
            find_model(str(file))
        file.write_bytes(b"GGUF")
        assert find_model(str(file)) == file

    def test_a_pulled_model(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(local_models, "engine_version", lambda: "1")
        path = KNOWN_MODELS["smollm2"].path
        path.parent.mkdir(parents=True)
        path.write_bytes(b"GGUF")
        assert find_model("smollm2") == path
        assert path.is_relative_to(model_cache())

    def test_an_unknown_name(self) -> None:
        with pytest.raises(UnknownName, match="Did you mean 'smollm2'"):
            find_model("smollm")


def test_a_file_that_is_no_model(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    file = tmp_path / "bad.gguf"
    file.write_bytes(b"GGUF and nothing else")
    with pytest.raises(InputError, match=r"bad\.gguf cannot be loaded as a model"):
        ask(LocalTransport(file))


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.timeout(900)
def test_a_real_model_answers_by_a_schema() -> None:
    pytest.importorskip("xllamacpp")
    from greenroom.models.pull import pull_smollm2

    pull_smollm2()
    model = LocalTransport.from_settings(ModelSettings(model="smollm2", provider="local"))
    question = [{"role": "user", "content": "The agent cancelled the wrong order. Who did it?"}]
    first, second = (
        ask(model, messages=question, response_format=FORMAT, seed=1) for _ in range(2)
    )
    verdict = json.loads(first.text)
    assert verdict.keys() == {"description", "author"}
    assert verdict["author"] in ("user", "agent")
    assert first.finish_reason == "stop"
    assert first.prompt_tokens > 10
    assert first.completion_tokens > 5
    assert second.text == first.text
    assert second.cached_prompt_tokens > 0
    with pytest.raises(ContextWindowExceeded):
        ask(model, messages=[{"role": "user", "content": "word " * 5000}])
    nonsense = {"name": "v", "schema": {"type": "nonsense"}}
    with pytest.raises(InputError, match="cannot be asked this"):
        ask(model, response_format={"type": "json_schema", "json_schema": nonsense})
