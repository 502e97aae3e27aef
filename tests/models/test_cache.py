"""An answer is found again for the same question, and for no other."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.errors import DataError
from greenroom.models import (
    AnswerCache,
    Completion,
    ModelRequest,
    ModelSettings,
    answer_key,
)

SETTINGS = ModelSettings(model="m")
REQUEST = ModelRequest(messages=[{"role": "user", "content": "hi"}])
ANSWER = Completion(
    message={"role": "assistant", "content": "hé", "tool_calls": [{"id": "1"}]},
    finish_reason="tool_calls",
    prompt_tokens=10,
    completion_tokens=2,
    cached_prompt_tokens=4,
    cost=0.25,
    retries=2,
    seconds=1.5,
)


@pytest.fixture
def cache(tmp_path: Path) -> Generator[AnswerCache]:
    opened = AnswerCache(tmp_path / "deep" / "answers.db")
    yield opened
    opened.close()


@pytest.mark.anyio
async def test_an_answer_comes_back_as_it_was(cache: AnswerCache) -> None:
    key = answer_key(SETTINGS, REQUEST, "")
    assert await cache.get(key) is None
    await cache.put(key, "m", ANSWER)
    await cache.put(key, "m", replace(ANSWER, cost=9.0))
    expected = replace(ANSWER, from_cache=True, retries=0, seconds=0.0)
    assert [await cache.get(key) for _ in range(3)] == [expected] * 3
    assert await cache.clear() == 1
    assert await cache.get(key) is None
    assert await cache.clear() == 0


@pytest.mark.anyio
async def test_answers_outlive_the_process_and_are_shared(tmp_path: Path) -> None:
    path = tmp_path / "answers.db"
    one, two = AnswerCache(path), AnswerCache(path)
    keys = [answer_key(SETTINGS, REQUEST, str(number)) for number in range(50)]
    async with anyio.create_task_group() as tasks:
        for number, key in enumerate(keys):
            tasks.start_soon((one, two)[number % 2].put, key, "m", ANSWER)
    assert all([await one.get(key) for key in keys])
    one.close()
    two.close()
    two.close()
    again = AnswerCache(path)
    assert await again.clear() == 50
    again.close()


@pytest.mark.anyio
async def test_a_file_that_is_no_cache_is_told(tmp_path: Path) -> None:
    path = tmp_path / "answers.db"
    path.write_text("this is not a database at all, however long it may be")
    cache = AnswerCache(path)
    with pytest.raises(DataError, match="cannot be used as a cache of answers"):
        await cache.get(b"key")
    cache.close()
    (tmp_path / "file").touch()
    blocked = AnswerCache(tmp_path / "file" / "answers.db")
    with pytest.raises(DataError, match="cannot be used"):
        await blocked.get(b"key")
    blocked.close()


text = st.text(max_size=8)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(text, values, max_size=3)
questions = st.fixed_dictionaries(
    {
        "model": text,
        "provider": st.none() | text,
        "api_base": st.none() | text,
        "temperature": st.none() | st.floats(0, 2),
        "max_tokens": st.none() | st.integers(1, 9),
        "reasoning_effort": st.none() | text,
        "messages": st.lists(objects, max_size=3),
        "tools": st.none() | st.lists(objects, max_size=2),
        "response_format": st.none() | objects,
        "seed": st.none() | st.integers(0, 9),
        "stop": st.none() | st.lists(text, max_size=2),
        "scope": text,
    }
)
FIELDS = sorted(["model", "provider", "api_base", "temperature", "max_tokens", "reasoning_effort"])


def key_of(question: dict[str, Any]) -> bytes:
    settings = {name: question[name] for name in FIELDS}
    request = {n: v for n, v in question.items() if n not in settings and n != "scope"}
    return answer_key(ModelSettings(**settings), ModelRequest(**request), question["scope"])


def exact(value: Any) -> str:
    """Distinguishes what JSON does: 1 from 1.0 and True, and the order of keys."""
    return repr(value)


@given(questions, questions, st.data())
def test_any_change_changes_the_key(
    question: dict[str, Any], other: dict[str, Any], data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(sorted(question)))
    changed = question | {name: other[name]}
    same = exact(question[name]) == exact(other[name])
    assert (key_of(changed) == key_of(question)) is same


@given(questions, questions)
def test_two_questions_share_a_key_only_if_they_are_the_same(
    one: dict[str, Any], two: dict[str, Any]
) -> None:
    assert (key_of(one) == key_of(two)) is (exact(one) == exact(two))


def test_how_long_an_answer_may_take_does_not_shape_it() -> None:
    changed = replace(SETTINGS, timeout=1.0)
    assert answer_key(changed, REQUEST, "") == answer_key(SETTINGS, REQUEST, "")


def test_text_that_no_encoding_takes_has_a_key() -> None:
    odd = ModelRequest(messages=[{"role": "user", "content": "\ud800"}])
    assert answer_key(SETTINGS, odd, "") != answer_key(SETTINGS, REQUEST, "")


def test_settings_of_a_question_shape_its_key_only_where_they_are_given() -> None:
    kept = answer_key(SETTINGS, REQUEST, "scope").hex()
    # Answers that were kept by earlier versions are found again.
    assert kept == "a50360aa130c38a2d4c56c8571b856867a5e6dbb4f5d0e242ed49cca87ee7672"
    shaped = [
        answer_key(SETTINGS, replace(REQUEST, **change), "scope").hex()
        for change in (
            {"tool_choice": "required"},
            {"tool_choice": "none"},
            {"parallel_tool_calls": False},
            {"max_tokens": 5},
        )
    ]
    assert len({kept, *shaped}) == 5
