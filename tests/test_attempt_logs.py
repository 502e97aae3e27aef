"""The logs of attempts: what belongs to one, how much is kept, and that no secret is."""

from __future__ import annotations

import logging
import sys
from io import StringIO

import anyio
import anyio.to_thread
import pytest

from greenroom.util.attempt_logs import (
    MOST_CHARACTERS,
    attempt_log,
    log_error,
    log_text,
    overheard_prints,
)

LOGGER = logging.getLogger("tests.attempts")


def test_each_attempt_has_a_log_of_its_own() -> None:
    texts: dict[int, str] = {}

    async def attempt(number: int) -> None:
        with attempt_log() as log:
            LOGGER.warning("number %d begins", number)
            await anyio.sleep(0.01)
            await anyio.to_thread.run_sync(LOGGER.warning, f"number {number} in a thread")
            texts[number] = log.text

    async def main() -> None:
        async with anyio.create_task_group() as group:
            for number in range(3):
                group.start_soon(attempt, number)

    anyio.run(main)
    for number, text in texts.items():
        lines = [line.partition(" ")[2] for line in text.splitlines()]
        said = f"WARNING tests.attempts: number {number}"
        assert lines == [f"{said} begins", f"{said} in a thread"]


def find_order() -> str:
    try:
        return dict[str, str]()["order"]
    except KeyError as error:
        raise ValueError("no such order") from error


def test_tracebacks_are_kept_with_their_causes() -> None:
    with attempt_log() as log:
        try:
            find_order()
        except ValueError as error:
            log_error(error)
            LOGGER.exception("that was %s", "it")
    assert log.text.count("KeyError: 'order'") == 2
    assert log.text.count("ValueError: no such order") == 2
    assert "ERROR tests.attempts: that was it" in log.text
    assert "in find_order" in log.text


def test_the_end_of_a_long_log_is_kept() -> None:
    with attempt_log() as log:
        for number in range(10_000):
            log_text(f"line {number}")
        log_text("x" * 3 * MOST_CHARACTERS + "the end")
    assert len(log.text) < MOST_CHARACTERS + 100
    assert log.text.endswith("the end")
    assert "characters left out" in log.text.splitlines()[0]


def test_a_long_text_does_not_go_as_a_whole() -> None:
    with attempt_log() as log:
        log_text("x" * (MOST_CHARACTERS - 10) + "end of it")
        log_text("a short line")
    assert "xxx" in log.text
    assert "end of it\na short line" in log.text
    assert 0.8 * MOST_CHARACTERS < len(log.text) < 1.1 * MOST_CHARACTERS


def test_no_secret_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_API_KEY", "opensesame-1234")
    with attempt_log() as log:
        LOGGER.warning("asked with opensesame-1234 and Bearer abcdefghij0123")
    assert "opensesame" not in log.text
    assert "abcdefghij0123" not in log.text
    assert "[SHOP_API_KEY]" in log.text


def test_no_half_of_a_secret_is_kept_where_a_text_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_API_KEY", "opensesame-1234")
    for place in range(MOST_CHARACTERS - 14, MOST_CHARACTERS):
        with attempt_log() as log:
            log_text("opensesame-1234" + "x" * place)
        assert "1234" not in log.text


def test_odd_records_do_no_harm() -> None:
    with attempt_log() as log:
        logging.makeLogRecord({"msg": "made elsewhere"})
        LOGGER.makeRecord("a", logging.WARNING, "", 0, "two of %s %s", ("one",), None)
    (line,) = log.text.splitlines()
    assert line.endswith("WARNING a: two of %s %s")


def test_nothing_is_kept_outside_of_attempts() -> None:
    log_text("nobody is there")
    log_error(ValueError("nobody"))
    with attempt_log() as log:
        pass
    LOGGER.warning("over")
    assert log.text == ""


def test_prints_of_attempts_are_overheard(monkeypatch: pytest.MonkeyPatch) -> None:
    out = StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    with overheard_prints():
        print("before")
        with attempt_log() as log:
            print("looking", "around")
            print("oh", file=sys.stderr)
    assert sys.stdout is out
    assert log.text == "looking around\noh"
    assert out.getvalue() == "before\nlooking around\n"
